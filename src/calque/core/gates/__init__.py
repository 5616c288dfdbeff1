"""What results are held to: limits for their measures, and what they may lose against a baseline."""
