"""Boxes, polygons and points as checks compare them: how they are written, what they cover, how far apart they are."""
