"""Masks of two sides, measured against each other when they are read: each is made once."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import replace

from calque.corpus.boxes import BoxCorpus, Corpus, Extent, Side
from calque.corpus.masks import MaskPairs
from calque.evaluation.boxes.crowding import check_crowding
from calque.evaluation.boxes.overlay import Overlay
from calque.kernels import kernels
from calque.readers.boxes.conventions import in_pixels, sizes_of
from calque.readers.sides.masks import Look, boxed, needed_sizes, with_note


def settled(
    truth: Corpus, found: Corpus, on: str, *, page_size: Sequence[float] | None = None, jobs: int = 1
) -> tuple[Corpus, Corpus]:
    """Both sides, ready to be compared as masks where that is asked for; else with boxes for what has only a mask."""
    if not isinstance(truth, BoxCorpus) or not isinstance(found, BoxCorpus):
        return truth, found
    if on == "masks":
        return _measured(truth, found, page_size, jobs)
    both = [boxed(side, other, page_size, jobs) for side, other in ((truth, found), (found, truth))]
    return (both[0], with_note(both[0], both[1])) if on == "shapes" else (both[0], both[1])


def _measured(truth: BoxCorpus, found: BoxCorpus, page_size: Sequence[float] | None, jobs: int) -> tuple[BoxCorpus, BoxCorpus]:
    """Both sides with what their masks share: they are made once, for everything that is to be known of them."""
    sizes = [sizes_of(side, page_size, other) for side, other in ((truth, found), (found, truth))]
    if truth.extent is Extent.NORMALIZED:
        truth, found = (in_pixels(side, needed_sizes(side, known)) for side, known in zip((truth, found), sizes, strict=True))
    truth, found = (dataclasses.replace(side, page_sizes=known) for side, known in zip((truth, found), sizes, strict=True))
    overlay = Overlay.of_boxes(truth, found).with_masks(found)
    check_crowding(overlay, found.source)
    truth_facts, found_facts, offsets, truths, shared = kernels().mask_pairs(*overlay.whole(), jobs)
    mine = Look.of(truth, overlay.truth.rows, truth_facts).corpus(Side.TRUTH)
    theirs = Look.of(found, overlay.found.rows, found_facts).corpus(Side.FOUND)
    assert mine.masks is not None and theirs.masks is not None  # noqa: PT018, S101  # all that is looked at has them
    pairs = MaskPairs(mine.masks, truth_facts[1], found_facts[1], (offsets, truths, shared))
    return mine, dataclasses.replace(theirs, masks=replace(theirs.masks, pairs=pairs))
