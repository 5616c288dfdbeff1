"""How much area of each page and class is missing, doubled, out of place or made up, as a table of the ledger."""

from __future__ import annotations

import numpy as np

from calque.core.columns import Bytes, Column, Table
from calque.core.ledger import UNIT
from calque.core.overlay import Overlay
from calque.kernels import kernels

AREAS = ("truth_area", "found_area", "missing", "overlap", "trespass", "excess", "excused")
"""The areas in the kernel's order."""


def page_areas(overlay: Overlay, truth_roles: Bytes, found_roles: Bytes, *, jobs: int = 1) -> Table:
    """One row for each page and class that has a truth or a prediction, by page and class.

    Every area is that of a union of boxes, so that nothing is counted twice. With T the truths of the class, O those of
    other classes, P the predictions of the class and X the ignored truths of the class: ``missing`` is T without P,
    ``overlap`` what two or more of P cover, ``excused`` P on X outside T, ``trespass`` the rest of P on O outside T,
    ``excess`` P on none of them. So ``found_area`` = (``truth_area`` − ``missing``) + ``trespass`` + ``excess`` + ``excused``.
    """
    truth, found = overlay.truth, overlay.found
    page, label, areas = kernels().page_areas(
        truth.boxes, truth.label, truth.offsets, truth_roles,
        found.boxes, found.label, found.offsets, found_roles, truth.form == "xywh", jobs,
    )  # fmt: skip
    unit = overlay.page_document[page]
    first_page = np.searchsorted(overlay.page_document, np.arange(len(overlay.documents)))
    columns: dict[str, Column] = {
        UNIT: unit,
        "page": (page - first_page[unit]).astype(np.int32),
        "label": label,
        **{name: np.ascontiguousarray(areas[:, place]) for place, name in enumerate(AREAS)},
    }
    return Table(columns)
