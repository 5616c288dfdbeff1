"""Gates: limits, tolerances and baselines."""
