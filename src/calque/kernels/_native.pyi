"""The compiled kernels, `calque.kernels.protocol.Kernels` and what only they can do; made from ``native/`` by the build."""

from typing import Any

from calque.core.columns import Bytes, Codes, Flags, Floats, Ints
from calque.kernels.structs import (
    CocoSettings,
    CocoTruths,
    Grids,
    KindLimits,
    MaskFacts,
    Masks,
    PageBoxes,
    PairOverlaps,
    RowTables,
    ScoreOrder,
    TextPoints,
    Trees,
    Verdicts,
)

def match_greedy(
    truth: PageBoxes, found: PageBoxes, scores: Floats, threshold: float, jobs: int = 1
) -> tuple[Codes, Codes, Floats]: ...
def match_best(truth: PageBoxes, found: PageBoxes, jobs: int = 1) -> tuple[Codes, Floats]: ...
def pair_measures(
    truth: PageBoxes, found: PageBoxes, truth_match: Codes, jobs: int = 1
) -> tuple[Floats, Floats, Floats, Floats, Floats]: ...
def overlapping_pairs(truth: PageBoxes, found: PageBoxes, jobs: int = 1) -> tuple[Codes, Codes, Floats]: ...
def error_kinds(
    truth: PageBoxes, found: PageBoxes, scores: Floats, truth_match: Codes, limits: KindLimits, jobs: int = 1
) -> tuple[Bytes, Codes, Bytes, Codes, Bytes]: ...
def page_areas(truth: PageBoxes, found: PageBoxes, jobs: int = 1) -> tuple[Codes, Codes, Floats]: ...
def shape_overlaps(truth: PageBoxes, found: PageBoxes, jobs: int = 1) -> tuple[Floats, Floats, Ints, Codes, Floats]: ...
def mask_facts(side: PageBoxes, jobs: int = 1) -> MaskFacts: ...
def mask_pairs(truth: PageBoxes, found: PageBoxes, jobs: int = 1) -> tuple[MaskFacts, MaskFacts, Ints, Codes, Floats]: ...
def coco_match(
    truth: PageBoxes, facts: CocoTruths, found: PageBoxes, scores: Floats, settings: CocoSettings, jobs: int = 1
) -> tuple[Codes, Masks, Masks, Bytes]: ...
def coco_match_given(
    truth: PageBoxes,
    facts: CocoTruths,
    found: PageBoxes,
    scores: Floats,
    overlaps: PairOverlaps,
    settings: CocoSettings,
    partners: bool = False,
    jobs: int = 1,
) -> tuple[Codes, Masks, Masks, Bytes, Codes]: ...
def score_order(labels: Codes, scores: Floats, classes: int, jobs: int = 1) -> tuple[Codes, Ints]: ...
def coco_accumulate(
    ranking: ScoreOrder,
    scores: Floats,
    verdicts: Verdicts,
    truths: Ints,
    recall_points: Floats,
    max_detections: int,
    jobs: int = 1,
    before: Ints | None = None,
) -> tuple[Floats, Floats, Floats]: ...
def coco_recall(ranking: ScoreOrder, verdicts: Verdicts, truths: Ints, max_detections: int, jobs: int = 1) -> Floats: ...
def polygon_areas(points: Floats, offsets: Ints) -> Floats: ...
def polygon_simple(points: Floats, offsets: Ints) -> Flags: ...
def polygon_overlaps(
    first_points: Floats,
    first_offsets: Ints,
    second_points: Floats,
    second_offsets: Ints,
    first_index: Ints,
    second_index: Ints,
    jobs: int = 1,
) -> Floats: ...
def mask_runs(counts: Bytes, offsets: Ints, jobs: int = 1) -> tuple[Ints, Ints, Bytes]: ...
def mask_counts(runs: Ints, offsets: Ints) -> tuple[Bytes, Ints]: ...
def masks_of_counts(counts: Bytes, offsets: Ints, places: Ints, jobs: int = 1) -> tuple[Codes, Ints, Bytes]: ...
def mask_canonical(counts: Bytes, offsets: Ints, places: Ints) -> Bytes: ...
def masks_of_runs(runs: Ints, offsets: Ints, places: Ints) -> tuple[Codes, Ints, Bytes]: ...
def runs_of_masks(intervals: Codes, offsets: Ints, places: Ints) -> tuple[Ints, Ints]: ...
def masks_of_rings(
    points: Floats, ring_offsets: Ints, mask_offsets: Ints, heights: Ints, widths: Ints, jobs: int = 1
) -> tuple[Codes, Ints, Bytes]: ...
def runs_of_pixels(pixels: Bytes) -> tuple[Ints, Ints]: ...
def mask_areas(intervals: Codes, offsets: Ints) -> Ints: ...
def mask_bounds(intervals: Codes, offsets: Ints, heights: Ints) -> Codes: ...
def mask_overlaps(
    first_intervals: Codes,
    first_offsets: Ints,
    second_intervals: Codes,
    second_offsets: Ints,
    first_index: Ints,
    second_index: Ints,
    jobs: int = 1,
) -> Ints: ...
def lcs_lengths(
    reference: Codes, reference_offsets: Ints, predicted: Codes, predicted_offsets: Ints, vocabulary: int, jobs: int
) -> Ints: ...
def lcs_partners(
    reference: Codes,
    reference_offsets: Ints,
    predicted: Codes,
    predicted_offsets: Ints,
    vocabulary: int,
    log_limit: int,
    jobs: int,
) -> Codes: ...
def bag_matches(
    reference: Codes, reference_offsets: Ints, predicted: Codes, predicted_offsets: Ints, vocabulary: int, jobs: int
) -> Ints: ...
def lattice_path(
    reference: Codes,
    edge_from: Codes,
    edge_to: Codes,
    word_offsets: Ints,
    words: Codes,
    final_nodes: Bytes,
    vocabulary: int,
    row_limit: int,
) -> tuple[int, Codes]: ...
def split_words(texts: list[bytes]) -> tuple[Codes, Ints, Bytes, Ints]: ...
def row_tree_distances(
    truth: RowTables,
    found: RowTables,
    texts: TextPoints,
    truth_index: Codes,
    found_index: Codes,
    structure: bool,
    jobs: int = 1,
) -> Floats: ...
def row_tree_mappings(
    truth: RowTables,
    found: RowTables,
    texts: TextPoints,
    truth_index: Codes,
    found_index: Codes,
    distances: Floats,
    jobs: int = 1,
) -> tuple[Codes, Codes, Codes]: ...
def tree_distances(
    truth: Trees, found: Trees, texts: TextPoints, truth_index: Codes, found_index: Codes, jobs: int = 1
) -> Floats: ...
def grid_boxes(
    truth: Grids, found: Grids, truth_boxes: Floats, found_boxes: Floats, jobs: int = 1
) -> tuple[Floats, Floats, Floats]: ...
def grid_texts(truth: Grids, found: Grids, texts: TextPoints, jobs: int = 1) -> tuple[Floats, Floats, Floats]: ...
def grid_given(truth: Grids, found: Grids, shares: Floats, jobs: int = 1) -> tuple[Floats, Floats, Floats]: ...
def poisson_weights(keys: Ints, thresholds: Ints, seed: int, first: int, replicates: int, jobs: int = 1) -> Codes: ...
def weighted_sums(units: Codes, columns: Codes, values: Ints, size: int, weights: Codes, jobs: int = 1) -> Ints: ...
def weighted_precision(
    units: Codes,
    tied: Bytes,
    class_offsets: Ints,
    matched: Masks,
    ignored: Masks,
    thresholds: int,
    truths: Ints,
    recall_points: Floats,
    weights: Codes,
    jobs: int = 1,
) -> tuple[Floats, Floats]: ...
def weighted_auroc(units: Codes, right: Bytes, rises: Bytes, group_offsets: Ints, weights: Codes, jobs: int = 1) -> Floats: ...
def fraction_parts(values: Floats, groups: Codes, size: int, scale: float = 1.0) -> Ints: ...
def repeats_a_key(text: bytes) -> bool: ...
def keep_freed_memory() -> None: ...
def scan_pages(lines: bytes) -> dict[str, Any] | None: ...

class ScanError(ValueError):
    message: str
    offset: int
    def __init__(self, message: str, offset: int) -> None: ...

class Scan:
    def __init__(self, source: str | bytes, kind: str = "auto") -> None: ...
    def columns(self) -> dict[str, Any]: ...
    def kind(self) -> str: ...
