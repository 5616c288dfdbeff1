"""What the compiled scanner read of some lines of NDJSON, as page rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calque.core.columns import Column, Strings
from calque.core.corpus import UnitId
from calque.readers.page_corpus import PageReader
from calque.readers.page_rows import Rows


def scanned(columns: Mapping[str, Any], first: int, reader: PageReader) -> Rows | None:
    """The pages of lines that begin with number ``first``; ``None`` where there is something to say or to keep of them."""
    if (columns["lacks_scores"] and reader.needs_scores) or (columns["has_others"] and reader.rules.metadata):
        return None
    number, boxes, ids = columns["line"] + first, columns["boxes"], _ids(columns)
    if len(boxes):
        if reader.disagrees_on_ids(given=ids is not None):
            return None
        reader.check_ids(first, given=ids is not None)
    return Rows(
        number=number,
        document=_documents(columns["document"]),
        index=columns["page_index"],
        sizes=columns["sizes"],
        counts=columns["counts"],
        boxes=boxes,
        label=reader.labels.codes(columns["labels"]["values"])[columns["labels"]["codes"]],
        scores=columns["scores"],
        ids=ids,
        crowd=columns["crowd"],
        areas=columns["area"],
    )


def _documents(column: Mapping[str, Any]) -> list[UnitId]:
    if "ints" in column:
        integers: list[UnitId] = column["ints"].tolist()
        return integers
    return list(map(column["values"].__getitem__, column["codes"].tolist()))


def _ids(columns: Mapping[str, Any]) -> Column | None:
    text = columns["text_ids"]
    integers: Column | None = columns["integer_ids"]
    return integers if text is None else Strings(text["data"], text["offsets"])
