"""Which pages of a result have pictures in a folder, in which order they are needed, and where they go."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.core.columns import Array, Strings, Table
from calque.core.ledger import UNIT, Ledger
from calque.core.overlay import NORMALIZED
from calque.core.presentation.pictured import FN, FP, TP, WRONG
from calque.report.images import Album, Beside, Darkroom, Folder, Found, Wanted, made

if TYPE_CHECKING:
    from calque.core.result import Result


class Pictures:
    """The pictures of the pages of a result's ledger, as far as a folder has them."""

    def __init__(self, ledger: Ledger, folder: str, jobs: int) -> None:
        self._darkroom = Darkroom()
        self._jobs = jobs
        place = Folder(folder)
        pages = ledger.table("pages")
        names = pages.get("image_name")
        given = list(names) if isinstance(names, Strings) else [""] * pages.height
        rows = zip(given, pages.array(UNIT).tolist(), pages.array("page_index").tolist(), strict=True)
        self.found: list[Found | None] = [
            place.find(Wanted(name, str(ledger.units[unit]), int(index))) for name, unit, index in rows
        ]

    def sized(self, result: Result) -> Result:
        """The result with the sizes of pages that only their pictures know: boxes in pixels are laid over those."""
        ledger = result.ledger
        pages = ledger.table("pages")
        width, height = (np.array(pages.array(name)) for name in ("width", "height"))
        shares = (pages.array("spelling") & NORMALIZED) != 0
        for row in np.flatnonzero(~((width > 0) & (height > 0)) & ~shares).tolist():
            place = self.found[row]
            size = None if place is None else self._darkroom.size(place)
            if size is not None and place is not None and place.page is None:
                width[row], height[row] = size
        tables = {**ledger.tables, "pages": Table({**pages.columns, "width": width, "height": height})}
        changed = Ledger(units=ledger.units, tables=tables, names=ledger.names, details=ledger.details)
        return replace(result, ledger=changed)

    def album(self, columns: Mapping[str, Array], room: int | None) -> Album:
        """The pictures, worst pages first, as many as there is room for."""
        return made(self.found, worst_first(columns).tolist(), room, self._jobs, self._darkroom)


def worst_first(columns: Mapping[str, Array]) -> Array:
    """Rows of pages: most errors first, then the worst fit, then in the order of the corpus; several runs count together."""
    pages = len(next(column for name, column in columns.items() if name.endswith("page.index")))
    errors, loss = np.zeros(pages), np.zeros(pages)
    for name in columns:
        prefix, found, _ = name.partition("t.outcome.0")
        if not found:
            continue
        truth, start = columns[name], _of(columns, prefix, "t.start")
        page = np.repeat(np.arange(pages), np.diff(start))
        errors += np.bincount(page[np.isin(truth, (FN, WRONG))], minlength=pages)
        paired = truth == TP
        sums = np.bincount(page[paired], weights=1 - columns[f"{prefix}t.iou"][paired].astype(np.float64), minlength=pages)
        loss = np.maximum(loss, sums / np.maximum(1, np.bincount(page[paired], minlength=pages)))
        made_up = columns[f"{prefix}p.outcome.0"] == FP
        errors += np.bincount(np.repeat(np.arange(pages), np.diff(columns[f"{prefix}p.start"]))[made_up], minlength=pages)
    return np.lexsort((np.arange(pages), -loss, -errors))


def _of(columns: Mapping[str, Array], prefix: str, name: str) -> Array:
    """A column of a run, or the first run's where all share it."""
    return columns[f"{prefix}{name}"] if f"{prefix}{name}" in columns else columns[f"0:{name}"]


def beside(path: str, pictures: Sequence[Any]) -> Beside:
    """The folder beside a report that holds its images: ``report.html`` has ``report_files``."""
    return Beside(f"{os.path.splitext(path)[0]}_files", tuple(pictures))
