"""Texts, words and lattices of documents: one file for each format."""
