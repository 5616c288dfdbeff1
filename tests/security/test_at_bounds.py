"""What reaches a limit is read, and one more is refused: each limit at a small value, to the byte."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from calque import CalqueError, ContractError, Corpus, Evaluator, Fields, read
from calque.base.errors import Issue
from calque.ceiling.systems import MOST as MOST_SYSTEMS
from calque.ceiling.systems import check_names
from calque.corpus import class_map
from calque.readers.boxes import label_studio
from calque.readers.orders.building import DEEPEST as DEEPEST_ORDER
from calque.readers.orders.files import read_orders
from calque.readers.tables.files import read_tables
from calque.readers.text.texts import read_texts

Attempt = Callable[[int, Path], Any]
"""Reads something of so many bytes, files, items or levels."""


def written(path: Path, begin: str, end: str, size: int, pad: str = " ") -> Path:
    """A file of so many bytes."""
    path.write_text(begin + pad * (size - len(begin) - len(end)) + end)
    assert path.stat().st_size == size
    return path


def fine(issues: Sequence[Issue]) -> None:
    """What loses something is refused here."""
    if issues:
        raise ContractError(issues)


def a_class_map(size: int, folder: Path) -> Any:
    return class_map.class_map(written(folder / "map.json", '{"a": "', '"}', size, "x"))


def a_page_of_html(size: int, folder: Path) -> Any:
    return read_tables(written(folder / "a.html", "<table><tr><td>a", "</table>", size))


def a_text(size: int, folder: Path) -> Any:
    return read_texts(str(written(folder / "a.txt", "word", "", size)))


def an_xml(size: int, folder: Path) -> Any:
    return read(written(folder / "a.xml", "<annotation><filename>a</filename>", "</annotation>", size), format="voc")


def a_page_of_ndjson(size: int, folder: Path) -> Any:
    """A line with what ends it."""
    return read(written(folder / "a.ndjson", '{"doc_id": "a", "boxes": [], "labels": []', "}\n", size))


def files_of_a_folder(count: int, folder: Path) -> Any:
    for number in range(count):
        (folder / f"{number}.xml").write_text(f"<annotation><filename>{number}</filename></annotation>")
    return read(folder, format="voc")


def a_table(slots: int, folder: Path) -> None:
    """What is too large is left out, which is told."""
    (folder / "a.html").write_text(f"<table><tr>{'<td>x</td>' * slots}</tr></table>")
    fine(read_tables(folder / "a.html").issues)


def items_of_a_list(count: int, _: Path) -> None:
    """What is too long counts as no list, which is told."""
    record = {"id": 1, "tags": ["x"] * count, "name": "a"}
    schema = {"fields": {"tags": {"type": "list[str]"}, "name": {"type": "str"}}}
    fine(Evaluator(Fields(schema=schema)).update([record], [record]).compute().issues)


def objects_of_a_list(count: int, _: Path) -> None:
    """The same for lists that are compared in columns."""
    record = {"id": 1, "lines": [{"name": "x"}] * count}
    schema = {"fields": {"lines": {"type": "list[object]", "fields": {"name": {"type": "str"}}}}}
    fine(Evaluator(Fields(schema=schema)).update([record], [record]).compute().issues)


def a_page_number(number: int, _: Path) -> Any:
    return label_studio.write(Corpus.from_arrays([[0.0, 0.0, 1.0, 1.0]], ["x"], pages=[number]))


SMALL: dict[str, tuple[int, Attempt]] = {
    "calque.corpus.class_map.LARGEST": (100, a_class_map),
    "calque.readers.tables.files.LARGEST": (100, a_page_of_html),
    "calque.readers.text.text_files.LARGEST": (100, a_text),
    "calque.readers.sources.xml_tree.LARGEST": (100, an_xml),
    "calque.readers.page_rows.ndjson.LONGEST_LINE": (100, a_page_of_ndjson),
    "calque.readers.sources.source.MOST_FILES": (3, files_of_a_folder),
    "calque.readers.tables.files.MOST_SLOTS": (6, a_table),
    "calque.fields.comparison.cells.MOST_ITEMS": (5, items_of_a_list),
    "calque.fields.columns.reading.MOST_ITEMS": (5, objects_of_a_list),
    "calque.readers.boxes.label_studio.MOST_PAGES": (7, a_page_number),
}


BESIDE = {
    "calque.readers.text.text_files.LARGEST": {
        "calque.readers.text.text_files.SHORT": 0,
        "calque.readers.text.text_files.HEAD": 10,
    },
    "calque.fields.columns.reading.MOST_ITEMS": {"calque.fields.comparison.cells.MOST_ITEMS": 5},
}
"""What else is smaller then: of short files nobody asks the size, and a list that is not for columns is compared by itself."""


@pytest.mark.parametrize("limit", SMALL)
def test_what_reaches_a_limit_is_read_and_one_more_is_not(limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    most, attempt = SMALL[limit]
    monkeypatch.setattr(limit, most)
    for other, value in BESIDE.get(limit, {}).items():
        monkeypatch.setattr(other, value)
    (tmp_path / "at").mkdir()
    (tmp_path / "beyond").mkdir()
    attempt(most, tmp_path / "at")
    with pytest.raises(CalqueError):
        attempt(most + 1, tmp_path / "beyond")


def an_order(levels: int, folder: Path) -> Any:
    """So many groups, one in the other, in the list that is the order."""
    order: Any = ["a"]
    for _ in range(levels):
        order = [order]
    (folder / "o.ndjson").write_text(json.dumps({"doc_id": "d", "order": order}))
    return read_orders(folder / "o.ndjson")


def names_of_systems(count: int, _: Path) -> Any:
    return check_names([f"s{number}" for number in range(count)])


AS_THEY_ARE: dict[str, tuple[int, Attempt]] = {
    "levels of an order": (DEEPEST_ORDER, an_order),
    "systems": (MOST_SYSTEMS, names_of_systems),
}


@pytest.mark.parametrize("limit", AS_THEY_ARE)
def test_limits_as_they_are(limit: str, tmp_path: Path) -> None:
    most, attempt = AS_THEY_ARE[limit]
    attempt(most, tmp_path)
    with pytest.raises(CalqueError):
        attempt(most + 1, tmp_path)
