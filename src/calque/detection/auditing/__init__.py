"""Audits of ground truth, and agreement of annotators."""
