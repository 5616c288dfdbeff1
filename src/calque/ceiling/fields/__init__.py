"""Ceilings of records: leaves, who has them right, and votes on them."""
