"""The comparison of two records: cells, fields, lists, and one whole document."""
