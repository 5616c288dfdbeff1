"""Page rows written down: a corpus as NDJSON or Parquet, one row a page."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from calque.base.columns import Column, Strings, take
from calque.base.errors import MissingExtra
from calque.corpus.boxes import BoxCorpus, UnitId
from calque.readers.boxes.conventions import FORM_KEY, UNITS_KEY, statement
from calque.readers.boxes.objects import UNUSABLE
from calque.readers.page_rows.files import COLUMNS, HEADER, PAGES
from calque.readers.page_rows.rows import Rows
from calque.readers.sources.json_tree import dumped

CARRIES = frozenset({"scores", "ids", "crowds", "areas", "page sizes", "empty pages", "metadata"})
GROUP = 10_000
"""How many pages are a row group of a Parquet file."""


def rows_of(corpus: BoxCorpus) -> Rows:
    """The pages of a corpus, those of a document together; a document without pages has an empty one."""
    bare = np.setdiff1d(np.arange(len(corpus.documents), dtype=np.int32), corpus.page_document)
    document = np.concatenate([corpus.page_document, bare])
    order = np.argsort(document, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    flaws = np.zeros(len(corpus), dtype=np.uint8) if corpus.flaws is None else corpus.flaws
    objects = np.flatnonzero(~np.isin(flaws, UNUSABLE) & (corpus.label >= 0))
    objects = objects[np.argsort(place[corpus.page[objects]], kind="stable")]
    names = [corpus.documents[code] for code in document[order].tolist()]
    sizes = np.full((len(document), 2), np.nan)
    if corpus.page_sizes is not None:
        sizes[: len(corpus.page_index)] = corpus.page_sizes
    columns = {"scores": corpus.scores, "ids": corpus.ids, "crowd": corpus.crowd, "areas": corpus.given_areas}
    given: dict[str, Any] = {name: take(column, objects) for name, column in columns.items() if column is not None}
    return Rows(
        number=np.arange(1, len(document) + 1),
        document=names,
        index=np.concatenate([corpus.page_index, np.zeros(len(bare), dtype=np.int64)])[order],
        sizes=sizes[order],
        counts=np.bincount(place[corpus.page[objects]], minlength=len(document)),
        boxes=corpus.boxes[objects],
        label=corpus.label[objects],
        metadata={
            column: [values.get(unit) for unit in names] for column, values in corpus.metadata.items() if column not in COLUMNS
        },
        **given,
    )


def ndjson(corpus: BoxCorpus) -> dict[str, bytes]:
    """The corpus with one page a line, below one that states what boxes are where they are not corners in pixels."""
    rows = rows_of(corpus)
    bounds = np.concatenate([[0], np.cumsum(rows.counts)]).tolist()
    columns = {"boxes": rows.boxes.tolist(), "labels": [corpus.labels[code] for code in rows.label.tolist()], **_lists(rows)}
    lines = []
    for page, (begin, end) in enumerate(pairwise(bounds)):
        width, height = (_number(side) for side in rows.sizes[page].tolist())
        node = {"doc_id": rows.document[page], "page_index": int(rows.index[page]), "width": width, "height": height}
        node |= {name: _finite(values[page]) for name, values in rows.metadata.items()}
        kept = {key: value for key, value in node.items() if value is not None}
        lines.append(dumped(kept | {name: values[begin:end] for name, values in columns.items()}, None) + b"\n")
    said = statement(corpus)
    head = [dumped({HEADER: PAGES, **said}, None) + b"\n"] if said else []
    return {"": b"".join([*head, *lines])}


def _finite(value: Any) -> Any:
    """What is known of a document, as JSON can say it: a number that is none is nothing."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _lists(rows: Rows) -> dict[str, list[Any]]:
    """The optional columns of objects as JSON has them: null where there is no number."""
    columns: dict[str, list[Any]] = {}
    if rows.scores is not None:
        columns["scores"] = [_number(score) for score in rows.scores.tolist()]
    if rows.ids is not None:
        columns["ids"] = rows.ids.tolist()
    if rows.crowd is not None:
        columns["crowd"] = (rows.crowd != 0).tolist()
    if rows.areas is not None:
        columns["area"] = [_number(area) for area in rows.areas.tolist()]
    return columns


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def parquet(corpus: BoxCorpus) -> dict[str, bytes]:
    """The corpus as a Parquet file, with the types that are read fastest."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("pyarrow", "parquet", "writing Parquet files") from None
    rows = rows_of(corpus)
    offsets = pa.array(np.concatenate([[0], np.cumsum(rows.counts)]).astype(np.int32))
    names = pa.array([_text(name) for name in corpus.labels], pa.string())
    lists = {
        "boxes": pa.FixedSizeListArray.from_arrays(pa.array(rows.boxes.ravel()), 4),
        "labels": pa.DictionaryArray.from_arrays(pa.array(rows.label.astype(np.int32)), names),
        **{name: _floats(column) for name, column in (("scores", rows.scores), ("area", rows.areas)) if column is not None},
        **({} if rows.ids is None else {"ids": _ids(rows.ids)}),
        **({} if rows.crowd is None else {"crowd": pa.array(rows.crowd != 0)}),
    }
    table = pa.table(
        {
            "doc_id": _documents(rows.document),
            "page_index": rows.index,
            "width": _floats(rows.sizes[:, 0]),
            "height": _floats(rows.sizes[:, 1]),
            **{name: pa.ListArray.from_arrays(offsets, column) for name, column in lists.items()},
            **{name: _scalars(values) for name, values in rows.metadata.items()},
        }
    )
    said = {FORM_KEY: str(corpus.form), UNITS_KEY: str(corpus.extent)}
    table = table.replace_schema_metadata({f"{HEADER}.{key}": value for key, value in said.items()})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, row_group_size=GROUP)
    return {"": sink.getvalue().to_pybytes()}


def ids_as_text(documents: Iterable[UnitId]) -> bool:
    """Whether a column of these ids has to be text: when one is, or is beyond 64 bits."""
    return not all(isinstance(unit, int) and abs(unit) < 2**63 for unit in documents)


def _documents(documents: list[UnitId]) -> Any:
    import pyarrow as pa

    if ids_as_text(documents):
        return pa.array([_text(str(unit)) for unit in documents], pa.string())
    return pa.array(documents, pa.int64())


def _ids(ids: Column) -> Any:
    import pyarrow as pa

    return pa.array([_text(text) for text in ids.tolist()], pa.string()) if isinstance(ids, Strings) else pa.array(ids)


def _floats(column: Any) -> Any:
    """Numbers, null where there is none."""
    import pyarrow as pa

    return pa.array(np.ascontiguousarray(column), pa.float64(), mask=~np.isfinite(column))


def _scalars(values: list[Any]) -> Any:
    """A column of metadata: of one type where all values are, else text."""
    import pyarrow as pa

    try:
        return pa.array([_text(value) if isinstance(value, str) else value for value in values])
    except (pa.ArrowException, TypeError, OverflowError):
        texts = (value if value is None or isinstance(value, str) else json.dumps(value) for value in values)
        return pa.array([None if text is None else _text(text) for text in texts], pa.string())


def _text(text: str) -> str:
    """A text as UTF-8 can spell it: half of a surrogate pair as an escape."""
    return text.encode("utf-8", "backslashreplace").decode()
