"""The kernels in clear NumPy: the specification that the compiled ones are tested against."""

from calque.kernels.reference.boxes import match_best, match_greedy
from calque.kernels.reference.coco import coco_accumulate, coco_match, coco_recall, score_order
from calque.kernels.reference.polygons import polygon_areas, polygon_overlaps, polygon_simple

__all__ = [
    "coco_accumulate",
    "coco_match",
    "coco_recall",
    "match_best",
    "match_greedy",
    "polygon_areas",
    "polygon_overlaps",
    "polygon_simple",
    "score_order",
]
