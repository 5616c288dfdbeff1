"""Mutated pages: the readers return a corpus or raise a CalqueError, never anything else, and both formats agree."""

from __future__ import annotations

import gzip
import json
import math
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from calque import CalqueError, Corpus, Detection, Evaluator, read
from tests.examples import examples
from tests.fuzz.test_snapshot_reader import ODD_VALUES, values
from tests.pages import row, write_ndjson, write_parquet

PAGE = row("a", [[0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 2.0, 3.0]], ["Table", "Figure"], page_index=0, width=10.0, height=20.0,
           scores=[0.5, None], ids=["x", "y"], crowd=[True, False], area=[1.0, None], kind="k")  # fmt: skip


@st.composite
def mutated_page(draw: st.DrawFn) -> dict[str, Any]:
    """A page with some values replaced, at the top or inside a list."""
    page = json.loads(json.dumps(PAGE))
    for key in draw(st.lists(st.sampled_from(list(PAGE)), max_size=3)):
        value = draw(values)
        inside = page.get(key)
        if isinstance(inside, list) and inside and draw(st.booleans()):
            inside[draw(st.integers(0, len(inside) - 1))] = value
        else:
            page[key] = value
    for key in draw(st.lists(st.sampled_from(list(PAGE)), max_size=1)):
        page.pop(key, None)
    return page


def _returns_or_refuses(path: Path) -> None:
    for side in (None, "ground_truth", "prediction"):
        try:
            assert isinstance(read(path, side=side), Corpus)
        except CalqueError as error:
            assert str(error)


@examples(150)
@given(pages=st.lists(mutated_page(), min_size=1, max_size=3))
def test_mutated_lines(pages: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "p.ndjson"
        path.write_text("".join(json.dumps(page) + "\n" for page in pages), "utf-8", "surrogatepass")
        _returns_or_refuses(path)


LINES = "".join(json.dumps(PAGE | {"page_index": k}) + "\n" for k in range(3)).encode()
edits = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=6)


def _edited(data: bytes, changes: list[tuple[int, int]], cut: int | None) -> bytes:
    edited = bytearray(data)
    for place, value in changes:
        edited[place % len(edited)] = value
    return bytes(edited if cut is None else edited[: cut % len(edited)])


@examples(150)
@given(changes=edits, cut=st.none() | st.integers(0, 10**6), packed=st.booleans())
def test_edited_bytes_of_lines(changes: list[tuple[int, int]], cut: int | None, packed: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "p.ndjson"
        path.write_bytes(_edited(gzip.compress(LINES, mtime=0) if packed else LINES, changes, cut))
        _returns_or_refuses(path)


@examples(150)
@given(changes=edits, cut=st.none() | st.integers(0, 10**6))
def test_edited_bytes_of_parquet(changes: list[tuple[int, int]], cut: int | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "p.parquet"
        write_parquet(path, [PAGE | {"page_index": k} for k in range(3)], row_group_size=2)
        path.write_bytes(_edited(path.read_bytes(), changes, cut))
        _returns_or_refuses(path)


PLAIN_TYPES = (
    pa.null(), pa.bool_(), pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.string(), pa.large_string(),
    pa.binary(), pa.date32(), pa.timestamp("us"), pa.decimal128(9, 2), pa.dictionary(pa.int8(), pa.string()),
)  # fmt: skip
types = st.recursive(
    st.sampled_from(PLAIN_TYPES),
    lambda inner: st.one_of(
        st.builds(pa.list_, inner),
        st.builds(pa.large_list, inner),
        st.builds(lambda kind: pa.list_(kind, 4), inner),
        st.builds(lambda kind: pa.struct([("x", kind)]), inner),
    ),
    max_leaves=3,
)


@examples(100)
@given(chosen=st.dictionaries(st.sampled_from(list(PAGE)), types, max_size=3), rows=st.integers(0, 3))
def test_columns_of_any_type(chosen: dict[str, pa.DataType], rows: int) -> None:
    """Columns of other types, with nulls where nothing else fits."""
    columns: dict[str, pa.Array] = {}
    for name, value in PAGE.items():
        kind = chosen.get(name)
        try:
            columns[name] = pa.array([value] * rows, type=kind)
        except (pa.ArrowException, TypeError, OverflowError):
            columns[name] = pa.nulls(rows, kind)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "p.parquet"
        try:
            pq.write_table(pa.table(columns), path)
        except pa.ArrowException:
            return  # pyarrow itself cannot write these
        _returns_or_refuses(path)


@examples(100)
@given(
    coordinates=st.lists(
        st.sampled_from([*(v for v in ODD_VALUES if type(v) in (int, type(None))), 3.5, -0.0, math.nan, math.inf, -math.inf]),
        min_size=4,
        max_size=4,
    )
)
def test_both_formats_say_the_same_of_any_numbers(coordinates: list[Any]) -> None:
    truth = row("a", [[0, 0, 1, 1]])
    found = row("a", [coordinates], scores=[0.5])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        numbers = [[v if v is None else math.inf if abs(v) >= 2**1024 else float(v) for v in coordinates]]
        files = {
            "ndjson": [write_ndjson(folder / f"{k}.ndjson", [page]) for k, page in enumerate((truth, found))],
            "parquet": [
                write_parquet(folder / f"{k}.parquet", [page]) for k, page in enumerate((truth, found | {"boxes": numbers}))
            ],
        }
        results = [Evaluator(Detection()).update(*paths).compute() for paths in files.values()]
        assert results[0].numbers == results[1].numbers
        assert [issue.code for issue in results[0].issues] == [issue.code for issue in results[1].issues]
