"""Lattices of candidates, and the best path through them."""
