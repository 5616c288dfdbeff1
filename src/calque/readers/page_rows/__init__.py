"""Parquet and NDJSON with one page a row, read in batches of whole documents."""
