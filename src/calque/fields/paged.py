"""Where values stand: the pages that a ledger of fields speaks of, and its boxes as shares of them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from calque.base.columns import Array, Floats, Ints, Strings, Table, distinct, numbered
from calque.evaluation.boxes.overlay import NORMALIZED
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.presentation import report_data as columns

SIDES = (("truth", "t"), ("found", "p"))


def with_pages(ledger: Ledger) -> Ledger:
    """The ledger with a table ``pages``, if any value has a box: pages as documents name them, or one where they name none.

    Nobody gives their sizes; a picture may.
    """
    rows = ledger.table("rows")
    if "reason" not in rows or "pages" in ledger.tables or not any(boxed(rows, side).any() for side, _ in SIDES):
        return ledger
    names, places = _places(rows)
    used, _ = distinct(np.concatenate(list(places.values())))
    named = sorted([(place // len(names), names[place % len(names)]) for place in used[used >= 0].tolist()], key=_in_order)
    units = [unit for unit, _ in named]
    pages = Table({
        UNIT: np.array(units, dtype=np.int32),
        "page_index": np.array([_number(name) for _, name in named], dtype=np.int64),
        "name": Strings.pack(name for _, name in named),
        "image_name": Strings.pack(_image(ledger, unit, name) for unit, name in named),
        "width": np.full(len(named), np.nan),
        "height": np.full(len(named), np.nan),
        "spelling": np.where(_in_shares(ledger)[units], NORMALIZED, 0).astype(np.uint8),
    })  # fmt: skip
    return Ledger(units=ledger.units, tables={**ledger.tables, "pages": pages}, names=ledger.names, details=ledger.details)


def boxed(rows: Table, side: str) -> Array:
    """Which values have a box that can be drawn."""
    return np.asarray(np.isfinite(rows.array(f"{side}_box")).all(axis=1))


def _places(rows: Table) -> tuple[list[str], dict[str, Ints]]:
    """The names of pages, and for each value of a side its page and document in one number: -1 where it has no box."""
    columns = [rows.get(f"{side}_page") for side, _ in SIDES]
    names, codes = numbered(*(each if isinstance(each, Strings) else [""] * rows.height for each in columns))
    unit = rows.array(UNIT).astype(np.int64) * len(names)
    return names, {side: np.where(boxed(rows, side), unit + code, -1) for (side, _), code in zip(SIDES, codes, strict=True)}


def _number(name: str) -> int:
    """The number of a page; a document that names no page has one, 0, and a page that is named otherwise has none."""
    try:
        value = float(name or 0)
    except ValueError:
        return -1
    return int(value) if value == int(value) and 0 <= value < 2**31 else -1


def _in_order(place: tuple[int, str]) -> tuple[int, int, str]:
    return place[0], _number(place[1]), place[1]


def _image(ledger: Ledger, unit: int, name: str) -> str:
    """The name of a page's picture, as far as the data gives one: a page's name, or the document's where it has no pages."""
    return str(ledger.units[unit]) if not name else name if _number(name) < 0 else ""


def _in_shares(ledger: Ledger) -> Array:
    """Which documents have boxes that can only be shares of a page: none reaches beyond 1."""
    rows = ledger.table("rows")
    reach = np.zeros(len(ledger.units))
    for side, _ in SIDES:
        np.maximum.at(reach, rows.array(UNIT), np.nan_to_num(rows.array(f"{side}_box"), posinf=0).max(axis=1, initial=0))
    return reach <= 1


def box_columns(ledger: Ledger, drawn: Ints) -> dict[str, Array]:
    """The pages, and for each of these rows the page and the box of both sides; nothing where no value has a box."""
    if "pages" not in ledger.tables:
        return {}
    rows, pages = ledger.table("rows"), ledger.table("pages")
    on_page = _page_rows(rows, pages)
    scale = _scale(ledger, on_page)
    drawn_columns = {
        **columns.page_columns(ledger),
        **columns.text_columns("page.name", pages["name"]),
    }
    for side, letter in SIDES:
        at = on_page[side][drawn]
        with np.errstate(invalid="ignore"):
            shares = rows.array(f"{side}_box")[drawn] / scale[np.maximum(at, 0)][:, [0, 1, 0, 1]]
        shares[at < 0] = np.nan
        drawn_columns |= {f"row.{letter}box": columns.packed(shares), f"row.{letter}page": columns.narrow(at)}
    return drawn_columns


def _page_rows(rows: Table, pages: Table) -> dict[str, Ints]:
    """For each value of a side the row of its page; -1 where it has no box."""
    row_of = {place: row for row, place in enumerate(zip(pages.array(UNIT).tolist(), pages["name"], strict=True))}
    names, places = _places(rows)
    made = {}
    for side, place in places.items():
        used, at = distinct(place)
        known = [-1 if each < 0 else row_of[each // len(names), names[each % len(names)]] for each in used.tolist()]
        made[side] = np.array(known, dtype=np.int64)[at]
    return made


def _scale(ledger: Ledger, on_page: Mapping[str, Ints]) -> Floats:
    """What stands for the width and height of each page: 1 in shares, its size, or a page around all its boxes."""
    pages, rows = ledger.table("pages"), ledger.table("rows")
    scale = np.column_stack([pages.array("width"), pages.array("height")])
    scale[(pages.array("spelling") & NORMALIZED) != 0] = 1.0
    reach = np.zeros((pages.height, 2))
    for side, at in on_page.items():
        np.maximum.at(reach, at[at >= 0], rows.array(f"{side}_box")[at >= 0][:, 2:])
    width = np.maximum(reach[:, 0], reach[:, 1] / columns.TALL)
    width[~(width > 0)] = 1.0
    unknown = ~(scale > 0).all(axis=1)
    scale[unknown] = np.column_stack([width, width * columns.TALL])[unknown]
    return scale
