"""The page view: areas that are missing, doubled, out of place or made up, without any IoU threshold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from calque.base.columns import Array, Bytes, Column, Floats, Table
from calque.evaluation.boxes.overlay import Overlay
from calque.evaluation.ledger import UNIT, Ledger, Piece
from calque.evaluation.measures import ExactSum, Undefined
from calque.evaluation.presentation.result_schema import COUNT, MEASURE, NUMBER, UNIT_ID, Schema, list_of, map_of, object_of
from calque.evaluation.presentation.sections import Section
from calque.geometry.boxes import share
from calque.kernels import kernels

if TYPE_CHECKING:
    from calque.detection.task import Detection


AREAS = ("truth_area", "found_area", "missing", "overlap", "trespass", "excess", "excused")
"""The areas in the kernel's order."""


def page_areas(overlay: Overlay, truth_roles: Bytes, found_roles: Bytes, *, jobs: int = 1) -> Table:
    """One row for each page and class that has a truth or a prediction, by page and class.

    Every area is that of a union of boxes, so that nothing is counted twice. With T the truths of the class, O those of
    other classes, P the predictions of the class and X the ignored truths of the class: ``missing`` is T without P,
    ``overlap`` what two or more of P cover, ``excused`` P on X outside T, ``trespass`` the rest of P on O outside T,
    ``excess`` P on none of them. So ``found_area`` = (``truth_area`` − ``missing``) + ``trespass`` + ``excess`` + ``excused``.
    """
    truth, found = overlay.truth.page_boxes(truth_roles), overlay.found.page_boxes(found_roles)
    page, label, areas = kernels().page_areas(truth, found, jobs)
    unit = overlay.page_document[page]
    first_page = np.searchsorted(overlay.page_document, np.arange(len(overlay.documents)))
    columns: dict[str, Column] = {
        UNIT: unit,
        "page": (page - first_page[unit]).astype(np.int32),
        "label": label,
        **{name: np.ascontiguousarray(areas[:, place]) for place, name in enumerate(AREAS)},
    }
    return Table(columns)


ERRORS = ("missing", "overlap", "trespass", "excess")
WORST = 10
"""How many pages are listed."""


def measure(task: Detection, ledger: Ledger) -> dict[str, Any] | Undefined:
    """Areas and shares over everything and for each class, and the pages with the largest share of wrong area."""
    if "areas" not in ledger.tables:
        return Undefined("some documents were scored without the page view; evaluate them again with --page-view")
    labels = ledger.names["label"]
    everything, by_label = _Areas(), [_Areas() for _ in labels]
    worst: list[tuple[float, int, dict[str, Any]]] = []
    for piece in ledger.pieces():
        table = piece.ledger.table("areas")
        columns = {name: table.array(name) for name in AREAS}
        everything.add(columns)
        order = np.argsort(table.array("label"), kind="stable")
        bounds = np.searchsorted(table.array("label")[order], np.arange(len(labels) + 1))
        for code, areas in enumerate(by_label):
            areas.add({key: column[order[bounds[code] : bounds[code + 1]]] for key, column in columns.items()})
        worst = sorted([*worst, *_worst(piece, columns)], key=lambda entry: entry[:2])[:WORST]
    return {
        "overall": everything.block(),
        "per_class": {
            name: areas.block() for name, areas in zip(labels, by_label, strict=True) if not task.labels or name in task.labels
        },
        "worst": [entry for *_, entry in worst],
    }


class _Areas:
    """Sums that no order changes, and shares: missing of the truth, the others of what was predicted."""

    def __init__(self) -> None:
        self._sums = {name: ExactSum() for name in AREAS}

    def add(self, columns: Mapping[str, Array]) -> None:
        """Add some rows."""
        for name, column in columns.items():
            self._sums[name].add(column.tolist())

    def block(self) -> dict[str, Any]:
        """What stands in the JSON."""
        sums = {name: total.value() for name, total in self._sums.items()}

        def part(name: str, whole: str, reason: str) -> float | Undefined:
            return sums[name] / sums[whole] if sums[whole] > 0 else Undefined(reason)

        return {
            **sums,
            "missing_share": part("missing", "truth_area", "no truths"),
            **{f"{name}_share": part(name, "found_area", "no predictions") for name in ERRORS[1:]},
        }


def _worst(piece: Piece, columns: Mapping[str, Floats]) -> Iterator[tuple[float, int, dict[str, Any]]]:
    """Pages by wrong area (all four kinds, all classes) relative to the area of truths and predictions."""
    ledger = piece.ledger
    table, pages = ledger.table("areas"), ledger.table("pages")
    page = ledger.absolute("pages", table.array(UNIT), table.array("page"))
    sums = {name: np.bincount(page, weights=column, minlength=pages.height) * 1.0 for name, column in columns.items()}
    wrong = np.sum([sums[name] for name in ERRORS], axis=0)
    wrong_share = share(wrong, sums["truth_area"] + sums["found_area"])
    worst = np.argsort(-wrong_share, kind="stable")[:WORST]
    for row in worst[wrong_share[worst] > 0].tolist():
        unit = pages.array(UNIT)[row]
        entry = {
            "document": ledger.units[unit],
            "page": int(pages.array("page_index")[row]),
            "wrong_share": float(wrong_share[row]),
            **{name: float(sums[name][row]) for name in AREAS},
        }
        yield -float(wrong_share[row]), int(piece.places[unit]), entry


def sections(numbers: Mapping[str, Any]) -> list[Section]:
    """Shares for each class, and the worst pages."""
    names = ("truth_area", "found_area", *(f"{name}_share" for name in ERRORS))
    blocks = [*numbers["per_class"].items(), ("all", numbers["overall"])]
    rows = [(name, *(block[key] for key in names)) for name, block in blocks]
    head = ("class", "truth area", "found area", *ERRORS)
    notes = ["areas in input units²; missing is a share of the truth's area, the others of the predicted area"]
    parts = [Section(title="Page view (no threshold)", head=head, rows=rows, notes=notes, rule_before=len(rows) - 1)]
    if numbers["worst"]:
        worst = [
            (str(entry["document"]), *(entry[key] for key in ("page", "wrong_share", *ERRORS))) for entry in numbers["worst"]
        ]
        parts.append(Section(title="Worst pages", head=("document", "page", "wrong", *ERRORS), rows=worst))
    return parts


def schema() -> Schema:
    """The JSON Schema of the view."""
    areas = dict.fromkeys(AREAS, NUMBER)
    block = object_of({**areas, **{f"{name}_share": MEASURE for name in ERRORS}})
    page = object_of({"document": UNIT_ID, "page": COUNT, "wrong_share": NUMBER, **areas})
    return object_of({"overall": block, "per_class": map_of(block), "worst": list_of(page)})
