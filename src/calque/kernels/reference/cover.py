"""The areas that rows cover together, where rows are more than boxes."""

from __future__ import annotations

from collections.abc import Sequence

from calque.kernels.reference.mask_rows import mask_states
from calque.kernels.reference.shapes import ring_states
from calque.kernels.structs import PageBoxes


def states_of(truth: PageBoxes, found: PageBoxes, truths: Sequence[tuple[int, int]], founds: Sequence[int]) -> list[float]:
    """The areas of states that rows of one page make: truths, each with its part, and predictions."""
    if truth.masks is not None and found.masks is not None:
        return mask_states(truth, found, truths, founds)
    return ring_states(truth, found, truths, founds)
