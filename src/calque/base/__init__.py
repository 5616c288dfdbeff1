"""Foundations without any knowledge of tasks: errors, columns, text normalization, YAML, files."""
