"""Ceilings of boxes and layout blocks: what systems share, and what could be made of it."""
