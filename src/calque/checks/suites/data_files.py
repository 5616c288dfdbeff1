"""Files that hold the data of a suite: JSON Lines, one JSON array, or CSV, compressed or not, one entry at a time.

A line that cannot be read is an entry with its trouble, and not the end of the file.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calque.base.errors import ContractError
from calque.checks.suites.named_files import LARGEST_ARRAY, check_file, lines_of, text_lines_of, too_large
from calque.readers.sources import compression
from calque.readers.sources.json_tree import ODD, parse, parse_line, quickly, readable, repeated_keys

SEPARATORS = {".csv": ",", ".tsv": "\t"}
_WORDS = re.compile(rb"[A-Za-z_][\w .-]*[,\t]")
_KEY = re.compile(rb'"\s*:')


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a file."""

    file: str
    place: str
    """``line 12``, or ``item 3`` of a JSON array."""
    value: Any
    trouble: str = ""
    """Why it could not be read, with its place; empty when it could."""


def entries(path: str) -> Iterator[Entry]:
    """The entries of a file, read as they are asked for; `ContractError` when the file as a whole cannot be read."""
    check_file(path)
    suffix = Path(compression.plain_name(path)).suffix.lower()
    first = b"" if suffix in SEPARATORS else _first_line(path)
    separator = SEPARATORS.get(suffix) or _separator(first)
    if separator is not None:
        return _rows(path, separator)
    return _items(path) if first.startswith(b"[") else _lines(path)


def _first_line(path: str) -> bytes:
    """The beginning of the first line that is not empty."""
    with readable(path), compression.opened(path) as file:
        while piece := file.read(4096):
            if text := piece.removeprefix(b"\xef\xbb\xbf").lstrip():
                return text.split(b"\n", 1)[0]
    return b""


def _separator(first: bytes) -> str | None:
    """What separates the cells of a head, where a name tells nothing; no line of JSON begins with several words."""
    return next((mark for mark in "\t," if _WORDS.match(first) and mark.encode() in first), None)


def _lines(path: str) -> Iterator[Entry]:
    with readable(path), compression.opened(path) as lines:
        for number, line in enumerate(lines_of(lines, path), 1):
            if line.strip():
                yield _from_line(line, path, number)


def _from_line(line: bytes, file: str, number: int) -> Entry:
    place = f"line {number}"
    value = quickly(line)
    if value is not ODD and _has_no_repeated_key(line, value):
        return Entry(file, place, value)
    try:
        value = parse_line(line, file, number)
    except ContractError as error:
        return Entry(file, place, None, _without_file(error, file))
    return Entry(file, place, value, _repeated(value, file, place))


def _has_no_repeated_key(line: bytes, value: Any) -> bool:
    """Whether the text has no more keys than its value, written anew; texts that look like keys are counted on both sides.

    What is spelt by code points can look like a key on one side only: that is left to the exact reader.
    """
    import msgspec

    return b"\\u" not in line and len(_KEY.findall(line)) == len(_KEY.findall(msgspec.json.encode(value)))


def _repeated(value: Any, file: str, place: str) -> str:
    told = [
        ": ".join(filter(None, (place, inside))) + f": the key {key!r} occurs twice" for inside, key in repeated_keys(value)
    ]
    return f"{file}: {told[0]}" if told else ""


def _without_file(error: ContractError, file: str) -> str:
    text = str(error)
    return text if text.startswith(file) else f"{file}: {text}"


def _items(path: str) -> Iterator[Entry]:
    """The items of a JSON array; a text that only begins like one is taken for lines, each of which can be wrong alone."""
    with readable(path), compression.opened(path) as file:
        data = file.read(LARGEST_ARRAY + 1)
    if len(data) > LARGEST_ARRAY:
        raise too_large(path, LARGEST_ARRAY)
    try:
        tree = parse(data, path)
    except ContractError:
        if data.lstrip().count(b"\n") and not data.rstrip().endswith(b"]"):
            yield from _lines(path)
            return
        raise
    for position, value in enumerate(tree, 1):
        place = f"item {position}"
        yield Entry(path, place, value, _repeated(value, path, place))


def _rows(path: str, separator: str) -> Iterator[Entry]:
    with readable(path), compression.opened(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="strict", newline="")
        rows = csv.reader(text_lines_of(text, path), delimiter=separator, strict=True)
        try:
            head = next(rows, [])
            if not head or len(set(head)) < len(head):
                what = "has no head" if not head else "has a head that names a column twice"
                raise ContractError.single("not-csv", what, file=path, help="the first line names the columns")
            for cells in rows:
                if cells:
                    yield _from_cells(head, cells, path, f"line {rows.line_num}")
        except UnicodeDecodeError:
            raise ContractError.single("not-utf8", "is not UTF-8 text", file=path, help="save it as UTF-8") from None
        except csv.Error as error:
            place = f"line {rows.line_num}"
            raise ContractError.single(
                "not-csv", f"is not CSV: {error}", file=path, pointer=place, help="quote cells"
            ) from None


def _from_cells(head: list[str], cells: list[str], file: str, place: str) -> Entry:
    if len(cells) != len(head):
        return Entry(file, place, None, f"{file}: {place}: has {len(cells)} cells, and the head has {len(head)}")
    return Entry(file, place, {name: _cell(text) for name, text in zip(head, cells, strict=True)})


def _cell(text: str) -> Any:
    """A list or an object where a cell holds one as JSON; else its text."""
    if text[:1] not in ("[", "{"):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
