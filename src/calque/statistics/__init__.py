"""Bootstrap, intervals, paired comparison, changes."""
