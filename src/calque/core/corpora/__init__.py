"""What readers return besides boxes: words, records, tables, reading orders, and where masks stand."""
