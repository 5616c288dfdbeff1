"""What readers return: boxes, masks, records, words, tables and reading orders."""
