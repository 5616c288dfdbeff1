"""The reference kernels in NumPy: the specification that the native kernels are tested against."""

# ruff: noqa: F401
# mypy: implicit-reexport

from calque.kernels.reference.areas import page_areas
from calque.kernels.reference.average_precision import coco_accumulate, coco_match, coco_match_given, score_order
from calque.kernels.reference.boxes import match_best, match_greedy
from calque.kernels.reference.ceilings import agreed_boxes, contacts, fuse_boxes, match_most
from calque.kernels.reference.kinds import error_kinds
from calque.kernels.reference.mask_rows import mask_facts, mask_pairs
from calque.kernels.reference.masks import (
    mask_counts,
    mask_overlaps,
    mask_runs,
    masks_of_rings,
    masks_of_runs,
    runs_of_masks,
)
from calque.kernels.reference.overlaps import overlapping_pairs
from calque.kernels.reference.polygons import polygon_overlaps, polygon_simple
from calque.kernels.reference.records import (
    best_partners,
    edit_distances,
    item_partners,
    nests_beyond,
    record_lines,
    repeats_a_key,
)
from calque.kernels.reference.resampling import weighted_auroc, weighted_precision
from calque.kernels.reference.shapes import shape_overlaps
from calque.kernels.reference.sums import fraction_parts
from calque.kernels.reference.tables import (
    grid_boxes,
    grid_given,
    grid_texts,
    row_tree_distances,
    row_tree_mappings,
    tree_distances,
)
from calque.kernels.reference.words import (
    lattice_path,
    lcs_partners,
    split_words,
)
