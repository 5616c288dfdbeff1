"""A corpus object by object, for writers; evaluation never walks one like this."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from calque.core.columns import Strings
from calque.core.corpus import BoxCorpus, Flaw, UnitId

UNUSABLE = (Flaw.UNKNOWN_LABEL, Flaw.BAD_BOX)
"""Objects with these flaws cannot be written: they have no label or no box."""


@dataclass(frozen=True, slots=True)
class Traced:
    """One object with everything that a corpus knows of it."""

    document: UnitId
    index: int
    page: int
    """The row of its page."""
    label: str
    box: list[float]
    score: float | None = None
    id: str | None = None
    crowd: bool = False
    ignored: bool = False
    area: float | None = None
    size: tuple[float, float] | None = None


def traced(corpus: BoxCorpus) -> Iterator[Traced]:
    """Every object that has a label and a box, in file order."""
    flaws = np.zeros(len(corpus), dtype=np.uint8) if corpus.flaws is None else corpus.flaws
    ids = corpus.ids.tolist() if corpus.ids is not None else None
    for row in np.flatnonzero(~np.isin(flaws, UNUSABLE) & (corpus.label >= 0)).tolist():
        page = int(corpus.page[row])
        yield Traced(
            document=corpus.documents[corpus.page_document[page]],
            index=int(corpus.page_index[page]),
            page=page,
            label=corpus.labels[corpus.label[row]],
            box=corpus.boxes[row].tolist(),
            score=_finite(corpus.scores, row),
            id=None if ids is None or ids[row] == "" else str(ids[row]),
            crowd=corpus.crowd is not None and bool(corpus.crowd[row]),
            ignored=corpus.ignore is not None and bool(corpus.ignore[row]),
            area=_finite(corpus.given_areas, row),
            size=size_of(corpus, page),
        )


def _finite(column: np.ndarray | None, row: int) -> float | None:
    value = math.nan if column is None else float(column[row])
    return value if math.isfinite(value) else None


def size_of(corpus: BoxCorpus, page: int) -> tuple[float, float] | None:
    """Width and height of a page, if both are known."""
    if corpus.page_sizes is None:
        return None
    width, height = corpus.page_sizes[page].tolist()
    return (width, height) if width > 0 and height > 0 else None


def name_of(corpus: BoxCorpus, page: int) -> str:
    """The name that the file gave to a page, or an empty string."""
    return corpus.page_names[page] if isinstance(corpus.page_names, Strings) else ""


def by_page(corpus: BoxCorpus) -> Iterator[tuple[int, list[Traced]]]:
    """Every page, in file order, with its objects; pages without any too."""
    objects = {page: list(items) for page, items in groupby(sorted(traced(corpus), key=_page), key=_page)}
    return ((page, objects.get(page, [])) for page in range(len(corpus.page_index)))


def _page(item: Traced) -> int:
    return item.page


def short(value: float) -> float | int:
    """A number as a person would write it: whole numbers without a point.

    >>> short(12.0), short(12.5)
    (12, 12.5)
    """
    return int(value) if value.is_integer() else value
