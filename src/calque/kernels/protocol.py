"""The kernels: their names, parameters and results.

mypy compares the reference package with this protocol, and a test compares the signatures of the native module.
`calque.kernels.reference` describes what each kernel does.
"""

from __future__ import annotations

from typing import Protocol

from calque.base.columns import Bytes, Codes, Flags, Floats, Ints
from calque.kernels.structs import (
    CocoSettings,
    CocoTruths,
    Grids,
    ItemLeaf,
    ItemRows,
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


class Kernels(Protocol):
    """A module of kernels, native or reference."""

    # Boxes.

    def match_greedy(
        self, truth: PageBoxes, found: PageBoxes, scores: Floats, threshold: float, jobs: int = 1
    ) -> tuple[Codes, Codes, Floats, Floats, Floats, Floats, Floats, Floats]:
        """Pairs 1:1 by IoU, the best first.

        Returns truth → found, found → truth, the fraction of each found row on one absorbing truth, IoU, coverage, purity and
        edge errors of each truth's pair, and the IoU of each found row's pair.
        """

    def match_best(self, truth: PageBoxes, found: PageBoxes, jobs: int = 1) -> tuple[Codes, Floats]:
        """For each truth the found box that it overlaps most, whatever the labels, and their IoU."""

    def overlapping_pairs(self, truth: PageBoxes, found: PageBoxes, jobs: int = 1) -> tuple[Codes, Codes, Floats]:
        """Every truth and found box of one page that count and share some area, and that area."""

    def error_kinds(
        self, truth: PageBoxes, found: PageBoxes, scores: Floats, truth_match: Codes, limits: KindLimits, jobs: int = 1
    ) -> tuple[Bytes, Codes, Bytes, Codes, Bytes]:
        """Kinds and explaining rows of the truths, both of the found boxes, and their subtypes."""

    def page_areas(self, truth: PageBoxes, found: PageBoxes, jobs: int = 1) -> tuple[Codes, Codes, Floats]:
        """Pages, labels and seven exact areas of each."""

    # Boxes of several systems.

    def match_most(self, truth: Codes, found: Codes, problems: Masks, truths: int, founds: int) -> Masks:
        """For each truth the problems in which a largest 1:1 pairing has it, over edges that say which problems they are of."""

    def contacts(
        self, truth: PageBoxes, found: PageBoxes, systems: Bytes, threshold: float, jobs: int = 1
    ) -> tuple[Codes, Codes, Floats, Floats, Floats, Codes, Floats]:
        """Pairs with some IoU, the highest of each row, and of each truth the nearest found row and what edges could reach."""

    def agreed_boxes(
        self, found: PageBoxes, systems: Bytes, taken: Floats, thresholds: Floats, jobs: int = 1
    ) -> tuple[Bytes, Codes, Masks, Floats]:
        """Threshold, first row, systems and mean box of each group of boxes on which systems agree."""

    def fuse_boxes(
        self, found: PageBoxes, scores: Floats, systems: Bytes, threshold: float, jobs: int = 1
    ) -> tuple[Codes, Codes, Floats, Floats, Masks]:
        """Page, label, corners, score and systems of each fused box."""

    # Rows that are more than boxes.

    def shape_overlaps(self, truth: PageBoxes, found: PageBoxes, jobs: int = 1) -> tuple[Floats, Floats, Ints, Codes, Floats]:
        """The area of each truth and of each found row, and the fields of `SharedAreas`, for rings and boxes."""

    def mask_facts(self, side: PageBoxes, jobs: int = 1) -> MaskFacts:
        """The fields of `MaskFacts` for each row."""

    def mask_pairs(self, truth: PageBoxes, found: PageBoxes, jobs: int = 1) -> tuple[MaskFacts, MaskFacts, Ints, Codes, Floats]:
        """The facts of both sides, and the fields of `SharedAreas`: pixels."""

    # COCO's matching and curves.

    def coco_match(
        self, truth: PageBoxes, facts: CocoTruths, found: PageBoxes, scores: Floats, settings: CocoSettings, jobs: int = 1
    ) -> tuple[Codes, Masks, Masks, Bytes]:
        """Rank, matched and ignored of each found row (by area range), and which truths are ignored."""

    def coco_match_given(
        self,
        truth: PageBoxes,
        facts: CocoTruths,
        found: PageBoxes,
        scores: Floats,
        overlaps: PairOverlaps,
        settings: CocoSettings,
        partners: bool = False,
        jobs: int = 1,
    ) -> tuple[Codes, Masks, Masks, Bytes, Codes]:
        """The same with overlaps of any kind, and which truth row each found row took, by area range and threshold."""

    def score_order(self, labels: Codes, scores: Floats, classes: int, jobs: int = 1) -> tuple[Codes, Ints]:
        """The fields of a `ScoreOrder`."""

    def coco_accumulate(
        self,
        ranking: ScoreOrder,
        scores: Floats,
        verdicts: Verdicts,
        truths: Ints,
        recall_points: Floats,
        max_detections: int,
        jobs: int = 1,
        before: Ints | None = None,
    ) -> tuple[Floats, Floats, Floats]:
        """Precision at each recall point, the recall reached, and the score at each recall point."""

    # Polygons.

    def polygon_simple(self, points: Floats, offsets: Ints) -> Flags:
        """Whether each ring neither crosses nor touches itself."""

    def polygon_overlaps(
        self,
        first_points: Floats,
        first_offsets: Ints,
        second_points: Floats,
        second_offsets: Ints,
        first_index: Ints,
        second_index: Ints,
        jobs: int = 1,
    ) -> Floats:
        """The area that two simple rings share, for each pair of indices."""

    # Masks: sets of pixels, as intervals of places.

    def mask_runs(self, counts: Bytes, offsets: Ints, jobs: int = 1) -> tuple[Ints, Ints, Bytes]:
        """The runs of compressed strings, their offsets, and each string's fault."""

    def mask_counts(self, runs: Ints, offsets: Ints) -> tuple[Bytes, Ints]:
        """The compressed strings of runs, and their offsets."""

    def masks_of_runs(self, runs: Ints, offsets: Ints, places: Ints) -> tuple[Codes, Ints, Bytes]:
        """The intervals of runs, their offsets, and each mask's fault."""

    def runs_of_masks(self, intervals: Codes, offsets: Ints, places: Ints) -> tuple[Ints, Ints]:
        """The canonical runs of masks, and their offsets."""

    def masks_of_rings(
        self, points: Floats, ring_offsets: Ints, mask_offsets: Ints, heights: Ints, widths: Ints, jobs: int = 1
    ) -> tuple[Codes, Ints, Bytes]:
        """The intervals of what any ring of a mask covers, their offsets, and each mask's fault."""

    def mask_overlaps(
        self,
        first_intervals: Codes,
        first_offsets: Ints,
        second_intervals: Codes,
        second_offsets: Ints,
        first_index: Ints,
        second_index: Ints,
        jobs: int = 1,
    ) -> Ints:
        """How many pixels two masks share, for each pair of indices."""

    # Words.

    def lcs_partners(
        self,
        reference: Codes,
        reference_offsets: Ints,
        predicted: Codes,
        predicted_offsets: Ints,
        vocabulary: int,
        log_limit: int,
        jobs: int,
    ) -> Codes:
        """For each reference word the position of its partner, or -1."""

    def lattice_path(
        self,
        reference: Codes,
        edge_from: Codes,
        edge_to: Codes,
        word_offsets: Ints,
        words: Codes,
        final_nodes: Bytes,
        vocabulary: int,
        row_limit: int,
    ) -> tuple[int, Codes]:
        """The most words that a path shares with the reference, in order, and the edges of the best path."""

    def split_words(self, texts: list[bytes]) -> tuple[Codes, Ints, Bytes, Ints]:
        """Words of UTF-8 texts, split at white space and numbered, and the vocabulary."""

    # Tables.

    def row_tree_distances(
        self,
        truth: RowTables,
        found: RowTables,
        texts: TextPoints,
        truth_index: Codes,
        found_index: Codes,
        structure: bool,
        jobs: int = 1,
    ) -> Floats:
        """For each pair of tables what it costs to turn the truth into the found one; texts are left out for the structure."""

    def row_tree_mappings(
        self,
        truth: RowTables,
        found: RowTables,
        texts: TextPoints,
        truth_index: Codes,
        found_index: Codes,
        distances: Floats,
        jobs: int = 1,
    ) -> tuple[Codes, Codes, Codes]:
        """For each pair the partners of truth rows, truth cells and found cells: -1 for none, -2 for an empty row."""

    def tree_distances(
        self, truth: Trees, found: Trees, texts: TextPoints, truth_index: Codes, found_index: Codes, jobs: int = 1
    ) -> Floats:
        """For each pair of trees what it costs to turn the truth into the found one."""

    def grid_boxes(
        self, truth: Grids, found: Grids, truth_boxes: Floats, found_boxes: Floats, jobs: int = 1
    ) -> tuple[Floats, Floats, Floats]:
        """What the grids of each pair share by IoU: aligned rows and columns together, rows alone, columns alone."""

    def grid_texts(self, truth: Grids, found: Grids, texts: TextPoints, jobs: int = 1) -> tuple[Floats, Floats, Floats]:
        """What they share by the longest common subsequences of texts."""

    def grid_given(self, truth: Grids, found: Grids, shares: Floats, jobs: int = 1) -> tuple[Floats, Floats, Floats]:
        """What they share by a table of truth items by found items."""

    # Documents drawn again. Weights are a table by document and replicate.

    def weighted_precision(
        self,
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
    ) -> tuple[Floats, Floats]:
        """AP at each threshold, averaged over recall points, and the recall reached, by threshold, class and replicate."""

    def weighted_auroc(
        self, units: Codes, right: Bytes, rises: Bytes, group_offsets: Ints, weights: Codes, jobs: int = 1
    ) -> Floats:
        """How often a right item is rated higher than a wrong one, by group and replicate."""

    # Sums and JSON.

    def fraction_parts(self, values: Floats, groups: Codes, size: int, scale: float = 1.0) -> Ints:
        """For each group the sum of values in [0, 1], in two whole numbers that no order changes."""

    def nests_beyond(self, text: bytes, levels: int) -> bool:
        """Whether a JSON text nests its values more than so many levels deep."""

    # Records.

    def record_lines(
        self, text: bytes, keys: list[str], levels: int
    ) -> tuple[list[tuple[int, int, int, dict[str, str | int] | None]], int]:
        """Lines that are not blank: number, start, length, and ids of a plain JSON object or ``None``; and how many all are."""

    def edit_distances(self, texts: TextPoints, first: Codes, second: Codes, jobs: int = 1) -> Codes:
        """The edit distance of the texts of each pair."""

    def best_partners(self, worth: Ints, heights: Ints, widths: Ints) -> Codes:
        """For each row of many matrices its column in the assignment of the greatest total; the earliest of several."""

    def item_partners(self, leaves: list[ItemLeaf], lists: ItemRows, slack: float) -> tuple[Codes, Bytes]:
        """For each item of many lists its partner where that is plain, else -1; and which lists are settled by that."""

    def repeats_a_key(self, text: bytes) -> bool:
        """Whether any object in a JSON text has a key twice."""
