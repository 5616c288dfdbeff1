"""The two accountings: which boxes and fields are counted, row by row."""
