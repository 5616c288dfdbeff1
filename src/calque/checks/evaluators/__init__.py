"""Evaluators: from one case to a score, a verdict and the reasons."""
