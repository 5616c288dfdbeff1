"""Readers of reading orders: blocks of pages, and which of them comes before which."""
