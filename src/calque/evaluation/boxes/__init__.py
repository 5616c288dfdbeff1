"""Reading, aligning and matching boxes of two sides."""
