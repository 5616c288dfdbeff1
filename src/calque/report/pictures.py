"""Which pages of a result have pictures in a folder, in which order they are needed, and where they go."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calque.core.boxes.overlay import NORMALIZED
from calque.core.columns import Array, Strings, Table
from calque.core.ledger import UNIT, Ledger
from calque.core.presentation.pictured import FN, FP, TP, WRONG
from calque.report.images import Album, Beside, Darkroom, Folder, Found, Wanted, made


class Pictures:
    """The pictures of the pages of a result's ledger, as far as a folder has them."""

    def __init__(self, ledger: Ledger, folder: str, jobs: int) -> None:
        self._darkroom = Darkroom()
        self._jobs = jobs
        place = Folder(folder)
        wanted = _wanted(ledger)
        self.found: list[Found | None] = [place.find(page) for page in wanted]
        self._known = dict(zip(wanted, self.found, strict=True))

    def sized(self, ledger: Ledger) -> Ledger:
        """The ledger with the sizes of pages that only their pictures know: boxes in pixels are laid over those."""
        pages = ledger.table("pages")
        width, height = (np.array(pages.array(name)) for name in ("width", "height"))
        wanted = _wanted(ledger)
        shares = (pages.array("spelling") & NORMALIZED) != 0
        for row in np.flatnonzero(~((width > 0) & (height > 0)) & ~shares).tolist():
            place = self._known.get(wanted[row])
            size = None if place is None else self._darkroom.size(place)
            if size is not None and place is not None and place.page is None:
                width[row], height[row] = size
        tables = {**ledger.tables, "pages": Table({**pages.columns, "width": width, "height": height})}
        return Ledger(units=ledger.units, tables=tables, names=ledger.names, details=ledger.details)

    def album(self, columns: Mapping[str, Array], room: int | None) -> Album:
        """All pictures; where room is limited those of pages with errors, worst first, as many as there is room for."""
        order = worst_first(columns)
        chosen = order if room is None else order[has_errors(columns)[order]]
        return made(self.found, chosen.tolist(), room, self._jobs, self._darkroom)


def _wanted(ledger: Ledger) -> list[Wanted]:
    """What is known of each page's picture."""
    pages = ledger.table("pages")
    names = pages.get("image_name")
    given = list(names) if isinstance(names, Strings) else [""] * pages.height
    rows = zip(given, pages.array(UNIT).tolist(), pages.array("page_index").tolist(), strict=True)
    return [Wanted(name, str(ledger.units[unit]), int(index)) for name, unit, index in rows]


def worst_first(columns: Mapping[str, Array]) -> Array:
    """Rows of pages: most errors first, then the worst fit, then in the order of the corpus; several runs count together."""
    pages = len(next(column for name, column in columns.items() if name.endswith("page.index")))
    errors, loss = np.zeros(pages), np.zeros(pages)
    for name in columns:
        if name.endswith("row.outcome"):
            errors += _wrong_values(columns, name.removesuffix("outcome"), pages)
        prefix, found, _ = name.partition("t.outcome.0")
        if not found:
            continue
        truth, start = columns[name], _of(columns, prefix, "t.start")
        page = np.repeat(np.arange(pages), np.diff(start))
        errors += np.bincount(page[np.isin(truth, (FN, WRONG))], minlength=pages)
        made_up = columns[f"{prefix}p.outcome.0"] == FP
        errors += np.bincount(np.repeat(np.arange(pages), np.diff(columns[f"{prefix}p.start"]))[made_up], minlength=pages)
        if f"{prefix}t.iou" in columns:
            paired = truth == TP
            lost = 1 - columns[f"{prefix}t.iou"][paired].astype(np.float64)
            sums = np.bincount(page[paired], weights=lost, minlength=pages)
            loss = np.maximum(loss, sums / np.maximum(1, np.bincount(page[paired], minlength=pages)))
    return np.lexsort((np.arange(pages), -loss, -errors))


def has_errors(columns: Mapping[str, Array]) -> Array:
    """Which pages have an error at any threshold: the reader chooses which is shown."""
    pages = len(next(column for name, column in columns.items() if name.endswith("page.index")))
    errors = np.zeros(pages)
    for name, outcomes in columns.items():
        if name.endswith("row.outcome"):
            errors += _wrong_values(columns, name.removesuffix("outcome"), pages)
        for side, wrong in (("t", (FN, WRONG)), ("p", (FP,))):
            prefix, found, _ = name.partition(f"{side}.outcome.")
            if found:
                page = np.repeat(np.arange(pages), np.diff(_of(columns, prefix, f"{side}.start")))
                errors += np.bincount(page[np.isin(outcomes, wrong)], minlength=pages)
    return errors > 0


def _wrong_values(columns: Mapping[str, Array], prefix: str, pages: int) -> Array:
    """How many values on each page are not right."""
    place = columns[f"{prefix}tpage"].astype(np.int64)
    place = np.where(place < pages, place, columns[f"{prefix}ppage"])
    wrong = place[(columns[f"{prefix}outcome"] != TP) & (place < pages)]
    return np.bincount(wrong, minlength=pages)


def _of(columns: Mapping[str, Array], prefix: str, name: str) -> Array:
    """A column of a run, or the first run's where all share it."""
    return columns[f"{prefix}{name}"] if f"{prefix}{name}" in columns else columns[f"0:{name}"]


def beside(path: str, pictures: Sequence[Any]) -> Beside:
    """The folder beside a report that holds its images: ``report.html`` has ``report_files``."""
    return Beside(f"{os.path.splitext(path)[0]}_files", tuple(pictures))
