"""Schemas: how they are written, where they come from, and the plan that they become."""
