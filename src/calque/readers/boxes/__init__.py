"""Boxes on pages: one file for each format, and what the formats share."""
