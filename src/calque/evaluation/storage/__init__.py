"""Ledgers and states in files."""
