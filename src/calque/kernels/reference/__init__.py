"""The kernels in clear NumPy: the specification that the compiled ones are tested against."""

from calque.kernels.reference.areas import page_areas
from calque.kernels.reference.average_precision import coco_accumulate, coco_match, coco_match_given, coco_recall, score_order
from calque.kernels.reference.boxes import match_best, match_greedy
from calque.kernels.reference.ceilings import agreed_boxes, contacts, fuse_boxes, hashed_halves, match_most
from calque.kernels.reference.kinds import error_kinds
from calque.kernels.reference.mask_rows import mask_facts, mask_pairs
from calque.kernels.reference.masks import (
    mask_areas,
    mask_bounds,
    mask_canonical,
    mask_counts,
    mask_overlaps,
    mask_runs,
    masks_of_counts,
    masks_of_rings,
    masks_of_runs,
    runs_of_masks,
    runs_of_pixels,
)
from calque.kernels.reference.orders import judge_orders
from calque.kernels.reference.overlaps import overlapping_pairs, pair_measures
from calque.kernels.reference.polygons import polygon_areas, polygon_overlaps, polygon_simple
from calque.kernels.reference.records import (
    best_partners,
    edit_distances,
    item_partners,
    nests_beyond,
    record_lines,
    repeats_a_key,
)
from calque.kernels.reference.resampling import poisson_weights, weighted_auroc, weighted_precision, weighted_sums
from calque.kernels.reference.shapes import shape_overlaps
from calque.kernels.reference.sums import exact_parts, fraction_parts
from calque.kernels.reference.tables import (
    grid_boxes,
    grid_given,
    grid_texts,
    row_tree_distances,
    row_tree_mappings,
    tree_distances,
)
from calque.kernels.reference.words import (
    bag_matches,
    lattice_path,
    lcs_lengths,
    lcs_partners,
    split_words,
)

__all__ = [
    "agreed_boxes",
    "bag_matches",
    "best_partners",
    "coco_accumulate",
    "coco_match",
    "coco_match_given",
    "coco_recall",
    "contacts",
    "edit_distances",
    "error_kinds",
    "exact_parts",
    "fraction_parts",
    "fuse_boxes",
    "grid_boxes",
    "grid_given",
    "grid_texts",
    "hashed_halves",
    "item_partners",
    "judge_orders",
    "lattice_path",
    "lcs_lengths",
    "lcs_partners",
    "mask_areas",
    "mask_bounds",
    "mask_canonical",
    "mask_counts",
    "mask_facts",
    "mask_overlaps",
    "mask_pairs",
    "mask_runs",
    "masks_of_counts",
    "masks_of_rings",
    "masks_of_runs",
    "match_best",
    "match_greedy",
    "match_most",
    "nests_beyond",
    "overlapping_pairs",
    "page_areas",
    "pair_measures",
    "poisson_weights",
    "polygon_areas",
    "polygon_overlaps",
    "polygon_simple",
    "record_lines",
    "repeats_a_key",
    "row_tree_distances",
    "row_tree_mappings",
    "runs_of_masks",
    "runs_of_pixels",
    "score_order",
    "shape_overlaps",
    "split_words",
    "tree_distances",
    "weighted_auroc",
    "weighted_precision",
    "weighted_sums",
]
