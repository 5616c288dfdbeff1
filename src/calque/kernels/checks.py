"""Checks of arguments before a kernel runs, native or reference: columns of equal length, rising offsets, rows that exist.

A function here has the name and the parameters of the kernel whose arguments it checks. The record kernels check their own.
"""

# ruff: noqa: ARG001, D103
from __future__ import annotations

import numpy as np

from calque.base.columns import Array, Bytes, Codes, Floats, Ints
from calque.geometry.forms import BoxForm
from calque.kernels.structs import (
    CocoSettings,
    CocoTruths,
    Grids,
    KindLimits,
    Masks,
    PageBoxes,
    PairOverlaps,
    RowMasks,
    RowTables,
    ScoreOrder,
    TextPoints,
    Trees,
    Verdicts,
)

MOST_ROWS = 2**31 - 1
MOST_THRESHOLDS = 16
MOST_SYSTEMS = 16
"""Bits of a mask."""
MOST_PLACES = 2**31
"""Pages have fewer pixels, so that each place fits 32 bits."""
MOST_COUNTED = 2**53
"""Larger counts do not fit a float64."""
MOST_FRACTION = float(1 << 30)
"""Far beyond the fractions that are summed; below it the sums stay whole numbers."""


def require(holds: bool | np.bool_, message: str) -> None:
    """Raise `ValueError` with this message unless the condition holds."""
    if not holds:
        raise ValueError(message)


def check_offsets(name: str, offsets: Ints, rows: int, what: str = "rows") -> None:
    """Check that offsets rise from 0 to the number of rows."""
    rises = len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == rows and not (offsets[1:] < offsets[:-1]).any()
    require(rises, f"{name} must rise from 0 to the number of {what}")


def _check_index(index: Array, size: int, message: str, least: int = 0) -> None:
    """Check that all numbers are from the least one up to the size."""
    require(not len(index) or (index.min() >= least and index.max() < size), message)


# Boxes.


def _check_side(name: str, side: PageBoxes, *columns: Array) -> None:
    require(side.boxes.ndim == 2 and side.boxes.shape[1] == 4, f"{name} boxes must have four columns")
    rows = len(side.boxes)
    lengths = {len(side.labels), len(side.roles), *map(len, columns)}
    require(lengths == {rows}, f"every {name} column must have as many rows as there are {name} boxes")
    require(rows <= MOST_ROWS, "too many rows")
    require(side.form in tuple(BoxForm), f"the form of {name} boxes must be {' or '.join(BoxForm)}")
    check_offsets(f"{name} offsets", side.offsets, rows)
    require(side.areas is None or len(side.areas) == rows, f"every {name} row must have an area")
    if side.rings is not None:
        check_offsets(f"{name} rings", side.rings.offsets, len(side.rings.points), "points")
        lengths_of_rings = np.diff(side.rings.offsets)
        fits = len(lengths_of_rings) == rows and not ((lengths_of_rings > 0) & (lengths_of_rings < 3)).any()
        require(fits, f"{name} rings must have three or more points for each row, or none")
    if side.masks is not None:
        _check_row_masks(name, side.masks, rows)
    if side.shared is not None:
        check_offsets(f"{name} pairs", side.shared.offsets, len(side.shared.truths), "pairs")
        fits = len(side.shared.offsets) == rows + 1 and len(side.shared.areas) == len(side.shared.truths)
        require(fits, f"{name} pairs must be given for each row")


def _check_row_masks(name: str, masks: RowMasks, rows: int) -> None:
    starts, ends, length = masks.starts, masks.ends, len(masks.text)
    message = f"{name} masks must stand in their text, which ends with a NUL"
    require(len(starts) == len(ends) == rows and masks.sizes.shape == (rows, 2), message)
    require(((starts >= 0) & (starts <= ends)).all(), message)
    if not masks.path:
        require(((starts == ends) | (ends < length)).all() and (not length or masks.text[-1] == 0), message)


def _check_sides(
    truth: PageBoxes, found: PageBoxes, *, truth_columns: tuple[Array, ...] = (), found_columns: tuple[Array, ...] = ()
) -> None:
    _check_side("truth", truth, *truth_columns)
    _check_side("found", found, *found_columns)
    same = len(truth.offsets) == len(found.offsets)
    require(same, "truth offsets and found offsets must have the same number of pages")
    if found.shared is not None:
        _check_index(found.shared.truths, len(truth.boxes), "a pair names a truth that does not exist")


def _check_systems(systems: Bytes) -> None:
    _check_index(systems, MOST_SYSTEMS, "at most 16 systems fit a mask")


def match_greedy(truth: PageBoxes, found: PageBoxes, scores: Floats, threshold: float, jobs: int = 1) -> None:
    _check_sides(truth, found, found_columns=(scores,))


def match_best(truth: PageBoxes, found: PageBoxes, jobs: int = 1) -> None:
    _check_sides(truth, found)


overlapping_pairs = page_areas = shape_overlaps = match_best


def error_kinds(
    truth: PageBoxes, found: PageBoxes, scores: Floats, truth_match: Codes, limits: KindLimits, jobs: int = 1
) -> None:
    _check_sides(truth, found, truth_columns=(truth_match,), found_columns=(scores,))
    sizes = np.diff(truth.offsets)
    first, end = np.repeat(found.offsets[:-1], sizes), np.repeat(found.offsets[1:], sizes)
    wrong = (truth_match >= 0) & ((truth_match < first) | (truth_match >= end))
    require(not wrong.any(), "truth_match must name rows of the same page")


def match_most(truth: Codes, found: Codes, problems: Masks, truths: int, founds: int) -> None:
    same = len(truth) == len(found) == len(problems)
    require(same, "every edge must have a truth, a found row and its problems")
    message = "an edge names a row that does not exist"
    require(truths >= 0 and founds >= 0, message)
    _check_index(truth, truths, message)
    _check_index(found, founds, message)


def contacts(truth: PageBoxes, found: PageBoxes, systems: Bytes, threshold: float, jobs: int = 1) -> None:
    _check_sides(truth, found, found_columns=(systems,))
    _check_systems(systems)


def agreed_boxes(found: PageBoxes, systems: Bytes, taken: Floats, thresholds: Floats, jobs: int = 1) -> None:
    _check_side("found", found, systems, taken)
    _check_systems(systems)
    fits = 0 < len(thresholds) < 256 and not (thresholds[1:] < thresholds[:-1]).any()
    require(fits, "there must be 1 to 255 thresholds, the lowest first")


def fuse_boxes(found: PageBoxes, scores: Floats, systems: Bytes, threshold: float, jobs: int = 1) -> None:
    _check_side("found", found, scores, systems)
    _check_systems(systems)


def mask_facts(side: PageBoxes, jobs: int = 1) -> None:
    _check_side("given", side)
    require(side.masks is not None, "given rows must have masks")


def mask_pairs(truth: PageBoxes, found: PageBoxes, jobs: int = 1) -> None:
    _check_sides(truth, found)
    for name, side in (("truth", truth), ("found", found)):
        require(side.masks is not None, f"{name} rows must have masks")


# COCO's matching and curves.


def coco_match(
    truth: PageBoxes, facts: CocoTruths, found: PageBoxes, scores: Floats, settings: CocoSettings, jobs: int = 1
) -> None:
    _check_sides(truth, found, truth_columns=(facts.areas, facts.crowd), found_columns=(scores,))
    fits = facts.found_areas is None or len(facts.found_areas) == len(found.boxes)
    require(fits, "found_areas must have a number for each found row")
    require(len(settings.thresholds) <= MOST_THRESHOLDS, "at most 16 thresholds fit a mask")
    require(settings.area_ranges.ndim == 2 and settings.area_ranges.shape[1] == 2, "area ranges must have two ends")


def coco_match_given(
    truth: PageBoxes,
    facts: CocoTruths,
    found: PageBoxes,
    scores: Floats,
    overlaps: PairOverlaps,
    settings: CocoSettings,
    partners: bool = False,
    jobs: int = 1,
) -> None:
    coco_match(truth, facts._replace(found_areas=None), found, scores, settings, jobs)
    offsets, rows, overlap, areas = overlaps
    check_offsets("overlap offsets", offsets, len(rows))
    fits = len(offsets) - 1 == len(areas) == len(found.labels)
    require(fits, "overlaps must have offsets and areas of every found row")
    require(len(overlap) == len(rows), "every pair must have a truth row and an overlap")
    message = "overlaps must name truth rows of the same page and label"
    _check_index(rows, len(truth.labels), message)
    founds = np.repeat(np.arange(len(found.labels)), np.diff(offsets))
    pages = [np.repeat(np.arange(len(side.offsets) - 1), np.diff(side.offsets)) for side in (truth, found)]
    require(((pages[0][rows] == pages[1][founds]) & (truth.labels[rows] == found.labels[founds])).all(), message)


def score_order(labels: Codes, scores: Floats, classes: int, jobs: int = 1) -> None:
    require(len(labels) == len(scores), "labels and scores must have the same length")
    require(len(labels) <= MOST_ROWS, "too many rows")
    require(classes >= 0, "the number of classes must not be negative")
    require(not len(labels) or labels.max() < classes, "a label must be less than the number of classes")


def coco_accumulate(
    ranking: ScoreOrder,
    scores: Floats,
    verdicts: Verdicts,
    truths: Ints,
    recall_points: Floats,
    max_detections: int,
    jobs: int = 1,
    before: Ints | None = None,
) -> None:
    rows = len(verdicts.rank)
    same = rows == len(scores) == len(verdicts.matched) == len(verdicts.ignored)
    require(same, "scores, rank, matched and ignored must have the same length")
    require(len(truths) <= MOST_THRESHOLDS, "at most 16 thresholds fit a mask")
    one_more = truths.ndim == 2 and len(ranking.class_offsets) == truths.shape[1] + 1
    require(one_more, "class_offsets must have one entry more than there are classes")
    check_offsets("class_offsets", ranking.class_offsets, len(ranking.order))
    _check_index(ranking.order, rows, "order names a row that does not exist")
    if before is not None:
        require(before.shape == (2, *truths.shape), "before must have two tables by threshold and class")
        require(((before >= 0) & (before <= MOST_COUNTED)).all(), "before must count rows, from 0 to 2**53")


# Polygons and masks.


def _check_rings(name: str, points: Floats, offsets: Ints) -> None:
    check_offsets(name, offsets, len(points), "points, three or more a ring")
    require(not (np.diff(offsets) < 3).any(), f"{name} must rise from 0 to the number of points, three or more a ring")


def polygon_simple(points: Floats, offsets: Ints) -> None:
    _check_rings("offsets", points, offsets)


def polygon_overlaps(
    first_points: Floats,
    first_offsets: Ints,
    second_points: Floats,
    second_offsets: Ints,
    first_index: Ints,
    second_index: Ints,
    jobs: int = 1,
) -> None:
    _check_rings("first_offsets", first_points, first_offsets)
    _check_rings("second_offsets", second_points, second_offsets)
    require(len(first_index) == len(second_index), "both indices must have the same length")
    _check_index(first_index, len(first_offsets) - 1, "first_index names a ring that does not exist")
    _check_index(second_index, len(second_offsets) - 1, "second_index names a ring that does not exist")


def _check_places(places: Ints, masks: int) -> None:
    fits = len(places) == masks and ((places >= 0) & (places < MOST_PLACES)).all()
    require(fits, "places must have a number from 0 to 2147483647 for each mask")


def _check_intervals(name: str, intervals: Codes, offsets: Ints) -> None:
    check_offsets(name, offsets, len(intervals), "intervals")
    fits = ((intervals[:, 0] >= 0) & (intervals[:, 0] <= intervals[:, 1])).all()
    require(fits, "an interval must begin at 0 or after it, and not end before it begins")


def mask_runs(counts: Bytes, offsets: Ints, jobs: int = 1) -> None:
    check_offsets("offsets", offsets, len(counts), "characters")


def mask_counts(runs: Ints, offsets: Ints) -> None:
    check_offsets("offsets", offsets, len(runs), "runs")


def masks_of_runs(runs: Ints, offsets: Ints, places: Ints) -> None:
    check_offsets("offsets", offsets, len(runs), "runs")
    _check_places(places, len(offsets) - 1)


def runs_of_masks(intervals: Codes, offsets: Ints, places: Ints) -> None:
    _check_intervals("offsets", intervals, offsets)
    _check_places(places, len(offsets) - 1)


def masks_of_rings(points: Floats, ring_offsets: Ints, mask_offsets: Ints, heights: Ints, widths: Ints, jobs: int = 1) -> None:
    check_offsets("ring_offsets", ring_offsets, len(points), "points")
    check_offsets("mask_offsets", mask_offsets, len(ring_offsets) - 1, "rings")
    sides = np.array([heights, widths]) if len(heights) == len(widths) == len(mask_offsets) - 1 else np.full((2, 1), -1)
    fits = ((sides >= 0) & (sides < MOST_PLACES)).all() and (sides[0] * sides[1] < MOST_PLACES).all()
    require(fits, "heights and widths must have a page of fewer than 2147483648 pixels for each mask")


def mask_overlaps(
    first_intervals: Codes,
    first_offsets: Ints,
    second_intervals: Codes,
    second_offsets: Ints,
    first_index: Ints,
    second_index: Ints,
    jobs: int = 1,
) -> None:
    _check_intervals("first_offsets", first_intervals, first_offsets)
    _check_intervals("second_offsets", second_intervals, second_offsets)
    require(len(first_index) == len(second_index), "both indices must have the same length")
    _check_index(first_index, len(first_offsets) - 1, "first_index names a mask that does not exist")
    _check_index(second_index, len(second_offsets) - 1, "second_index names a mask that does not exist")


# Words.


def _check_words(name: str, words: Codes, vocabulary: int) -> None:
    _check_index(words, vocabulary, f"{name} holds a word outside the vocabulary")
    require(len(words) <= MOST_ROWS, f"{name} has too many words")


def lcs_partners(
    reference: Codes,
    reference_offsets: Ints,
    predicted: Codes,
    predicted_offsets: Ints,
    vocabulary: int,
    log_limit: int,
    jobs: int,
) -> None:
    check_offsets("reference_offsets", reference_offsets, len(reference), "words")
    check_offsets("predicted_offsets", predicted_offsets, len(predicted), "words")
    require(len(reference_offsets) == len(predicted_offsets), "both sides must have the same documents")
    _check_words("reference", reference, vocabulary)
    _check_words("predicted", predicted, vocabulary)


def lattice_path(
    reference: Codes,
    edge_from: Codes,
    edge_to: Codes,
    word_offsets: Ints,
    words: Codes,
    final_nodes: Bytes,
    vocabulary: int,
    row_limit: int,
) -> None:
    _check_words("reference", reference, vocabulary)
    nodes = len(final_nodes)
    fits = nodes > 0 and len(edge_from) == len(edge_to) == len(word_offsets) - 1
    require(fits, "every edge needs a from, a to and words, and there must be a node")
    check_offsets("word_offsets", word_offsets, len(words), "words")
    _check_words("words", words, vocabulary)
    upwards = ((edge_from >= 0) & (edge_from < edge_to) & (edge_to < nodes)).all()
    require(upwards, "edges must lead from a lower to a higher node")
    # Edges lead upwards: if each node is final or has an edge, a path from it ends in a final one.
    leads_on = final_nodes != 0
    leads_on[edge_from] = True
    require(leads_on.all(), "every node must lead to a final one")


# Tables.


def _check_texts(texts: TextPoints) -> int:
    """Check texts, and return how many there are."""
    check_offsets("texts.offsets", texts.offsets, len(texts.points), "points")
    require(not (texts.points < 0).any(), "points must not be negative")
    return len(texts.offsets) - 1


def _check_row_tables(name: str, side: RowTables, texts: int) -> None:
    require(len(side.rows) > 0, f"{name}.rows must not be empty")
    check_offsets(f"{name}.tables", side.tables, len(side.rows) - 1, "rows")
    check_offsets(f"{name}.rows", side.rows, len(side.texts), "cells")
    require(len(side.spans) == len(side.texts), f"{name} must have spans and a text for each cell")
    require(not (side.spans < 0).any(), f"{name}.spans must not be negative")
    _check_index(side.texts, texts, f"{name}.texts must be numbers of texts")


def _check_pairs(truth: Codes, found: Codes, truths: int, founds: int) -> None:
    require(len(truth) == len(found), "each pair needs a truth and a found table")
    _check_index(truth, truths, "pairs must be numbers of tables")
    _check_index(found, founds, "pairs must be numbers of tables")


def row_tree_distances(
    truth: RowTables,
    found: RowTables,
    texts: TextPoints,
    truth_index: Codes,
    found_index: Codes,
    structure: bool,
    jobs: int = 1,
) -> None:
    known = _check_texts(texts)
    _check_row_tables("truth", truth, known)
    _check_row_tables("found", found, known)
    _check_pairs(truth_index, found_index, len(truth.tables) - 1, len(found.tables) - 1)


def row_tree_mappings(
    truth: RowTables,
    found: RowTables,
    texts: TextPoints,
    truth_index: Codes,
    found_index: Codes,
    distances: Floats,
    jobs: int = 1,
) -> None:
    row_tree_distances(truth, found, texts, truth_index, found_index, False, jobs)
    require(len(distances) == len(truth_index), "each pair needs its distance")


def _check_trees(name: str, side: Trees, texts: int) -> None:
    check_offsets(f"{name}.offsets", side.offsets, len(side.labels), "nodes")
    same = len(side.texts) == len(side.firsts) == len(side.labels)
    require(same, f"{name} must have a label, a text and a first node for each node")
    _check_index(side.texts, texts, f"{name}.texts must be numbers of texts, or -1", least=-1)
    for start, end in zip(side.offsets[:-1].tolist(), side.offsets[1:].tolist(), strict=True):
        open_trees: list[int] = []  # the first nodes of trees that have no parent yet
        for node, first in enumerate(side.firsts[start:end].tolist()):
            if first == node:
                open_trees.append(first)
            while open_trees and open_trees[-1] > first:
                open_trees.pop()
            fits = bool(open_trees) and open_trees[-1] == first
            require(fits, f"{name}.firsts must be those of trees, children before their parents")


def tree_distances(
    truth: Trees, found: Trees, texts: TextPoints, truth_index: Codes, found_index: Codes, jobs: int = 1
) -> None:
    known = _check_texts(texts)
    _check_trees("truth", truth, known)
    _check_trees("found", found, known)
    _check_pairs(truth_index, found_index, len(truth.offsets) - 1, len(found.offsets) - 1)


def _check_grids(name: str, side: Grids, items: int) -> None:
    check_offsets(f"{name}.offsets", side.offsets, len(side.slots), "slots")
    fits = len(side.rows) == len(side.columns) == len(side.offsets) - 1
    require(fits, f"{name} must have rows and columns for each grid")
    slots = np.diff(side.offsets).tolist()
    whole = all(
        rows >= 0 and columns >= 0 and rows * columns == count
        for rows, columns, count in zip(side.rows.tolist(), side.columns.tolist(), slots, strict=True)
    )
    require(whole, f"{name} must have rows times columns slots")
    _check_index(side.slots, items, f"{name}.slots must be numbers of items")


def _check_two_grids(truth: Grids, found: Grids, truth_items: int, found_items: int) -> None:
    _check_grids("truth", truth, truth_items)
    _check_grids("found", found, found_items)
    require(len(truth.rows) == len(found.rows), "there must be as many truth grids as found ones")


def grid_boxes(truth: Grids, found: Grids, truth_boxes: Floats, found_boxes: Floats, jobs: int = 1) -> None:
    for name, boxes in (("truth", truth_boxes), ("found", found_boxes)):
        require(boxes.ndim == 2 and boxes.shape[1] == 4, f"{name} boxes must have four columns")
    _check_two_grids(truth, found, len(truth_boxes), len(found_boxes))


def grid_texts(truth: Grids, found: Grids, texts: TextPoints, jobs: int = 1) -> None:
    known = _check_texts(texts)
    _check_two_grids(truth, found, known, known)


def grid_given(truth: Grids, found: Grids, shares: Floats, jobs: int = 1) -> None:
    require(shares.ndim == 2, "shares must be a table of truth items by found items")
    _check_two_grids(truth, found, *shares.shape)


# Weighted documents and sums.


def _check_weights(weights: Codes, units: Codes) -> None:
    require(weights.ndim == 2, "weights must be a table by document and replicate")
    require(not (weights < 0).any(), "weights must not be negative")
    _check_index(units, len(weights), "units names one that does not exist")


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
) -> None:
    same = len(units) == len(tied) == len(matched) == len(ignored)
    require(same, "units, tied, matched and ignored must have the same length")
    require(0 <= thresholds <= MOST_THRESHOLDS, "at most 16 thresholds fit a mask")
    check_offsets("class_offsets", class_offsets, len(units))
    _check_weights(weights, units)
    fits = truths.shape == (len(class_offsets) - 1, weights.shape[1])
    require(fits, "truths must have a row for each class and a column for each replicate")
    require(not (truths > MOST_COUNTED).any(), "truths must be numbers that a double holds")
    rising = np.isfinite(recall_points).all() and not (recall_points[1:] < recall_points[:-1]).any()
    require(rising, "recall_points must rise")


def weighted_auroc(units: Codes, right: Bytes, rises: Bytes, group_offsets: Ints, weights: Codes, jobs: int = 1) -> None:
    require(len(units) == len(right) == len(rises), "units, right and rises must have the same length")
    check_offsets("group_offsets", group_offsets, len(units))
    _check_weights(weights, units)


def fraction_parts(values: Floats, groups: Codes, size: int, scale: float = 1.0) -> None:
    require(len(values) == len(groups), "values and groups must have the same length")
    require(size >= 0, "the number of groups must not be negative")
    require(not (groups >= size).any(), "a group must be less than the number of groups")
    with np.errstate(all="ignore"):
        small = (groups < 0) | (np.abs(values * scale) <= MOST_FRACTION)
    require(small.all(), "a value must lie from 0 to 1")
