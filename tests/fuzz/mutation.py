"""Changes of sound files: bytes, values of JSON at any place, and the insides of what is packed, sealed or has columns."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from calque.evaluation.storage.state import MAGIC
from tests.states import opened_state, sealed_state

LONGEST = 60_000
"""Bytes of a file after it was changed: enough to tell work that grows with the square from work that does not."""
DEEP = 300
NUMBERS = (
    "1e999",
    "-1e999",
    "NaN",
    "1e308",
    "-1e308",
    "1.7976931348623157e308",
    "5e-324",
    "1e-155",
    "1e-161",
    "0",
    "-0.0",
    "-1",
    "1.5",
    "2147483648",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "7" * 400,
    "7" * 5000,
    "-" + "7" * 400,
    "0." + "7" * 400,
)
VALUES = (
    *NUMBERS,
    "null",
    "true",
    "false",
    '""',
    '"a"',
    '"\\ud800"',
    '"\\u0000"',
    '"1e999"',
    '"\\u202e"',
    '"' + "é" * 300 + '"',
    "[]",
    "{}",
    "[[]]",
    "[null]",
    "[{}]",
    '{"a": null}',
    '{"": []}',
    "[0, 0, 1e308, 1e308]",
    "[0, 0, 1e-160, 1e-160]",
    "[[0, 0], [1e308, 0], [1, 1], [0, 1e308]]",
    "[" * DEEP + "]" * DEEP,
    '{"a":' * DEEP + "1" + "}" * DEEP,
    '["a", "a"]',
    "[[1, 2], 3]",
)
KEYS = ("\ud800", "", "a\x00", "é" * 300, "_value", "type", "id", "=1+1", "\x1b[31m", "a/b~c", "__class__")
TOKENS = (
    b"<",
    b">",
    b"&",
    b"]]>",
    b"<!--",
    b"<a>",
    b"</a>",
    b"<!DOCTYPE a [<!ENTITY x 'y'>]>",
    b"&x;",
    b"&#x110000;",
    b"&#0;",
    b"<td colspan=9999>",
    b"<td rowspan=0>",
    b"<table>",
    b"<tr>",
    b"</p>",
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"\r",
    b"\n",
    b"\t",
    b'"',
    b"'",
    b",",
    b":",
    b"- ",
    b"[",
    b"]",
    b"{",
    b"}",
    b"*x",
    b"&x ",
    b"<<: *x",
    b"!!python/object:os.system",
    b"? ",
    b"|",
    b"|-|",
    b"~~~",
    b"#",
    b"%",
    b"\\",
    b"\\u",
    b"e9",
    b"-",
    b"+",
    b".",
    b"0" * 40,
    b"1e400",
    b"nan",
    b"inf",
    b"../",
    b"/",
    b"\x1b]0;x\x07",
    "é".encode(),
    "\u202e".encode(),
    b"\x1f\x8b",
    b"PAR1",
    *(number.encode() for number in NUMBERS[:18]),
)


def mutated(name: str, data: bytes, chance: Random, others: list[bytes] | None = None) -> bytes:
    """A file with one to four changes; ``others`` are files of the same name that it may be crossed with."""
    changed = data
    for _ in range(chance.choice((1, 1, 2, 4))):
        changed = _once(name, changed, chance, others or [data])
    return changed if len(changed) <= LONGEST or len(changed) <= len(data) else changed[:LONGEST]


def _once(name: str, data: bytes, chance: Random, others: list[bytes]) -> bytes:
    if name.endswith(".state") and data.startswith(MAGIC) and chance.random() < 0.95:
        return _in_state(data, chance, others)
    if name.endswith(".parquet") and chance.random() < 0.7:
        return _in_columns(data, chance)
    if name.endswith(".gz") and chance.random() < 0.7:
        try:
            return gzip.compress(_once(name[:-3], gzip.decompress(data), chance, [data]), mtime=0)
        except (OSError, EOFError, zlib.error):
            return _bytes(data, chance, others)
    if chance.random() < 0.6 and (tree := _tree(data)) is not None:
        return _in_tree(*tree, chance)
    return _bytes(data, chance, others)


# Bytes.


def _bytes(data: bytes, chance: Random, others: list[bytes]) -> bytes:
    start = chance.randint(0, len(data))
    end = min(len(data), start + chance.choice((0, 1, 1, 4, 16, 200)))
    piece = data[start:end]
    how: dict[str, Callable[[], bytes]] = {
        "cut": lambda: data[:start] + data[end:],
        "token": lambda: data[:start] + chance.choice(TOKENS) + data[end:],
        "flip": lambda: data[:start] + bytes([chance.randrange(256)]) + data[start + 1 :],
        "end": lambda: data[:start],
        "repeat": lambda: data[:end] + piece * chance.choice((1, 2, 20)) + data[end:],
        "swell": lambda: data[:end] + _swollen(piece or chance.choice(TOKENS), chance) + data[end:],
        "cross": lambda: data[:start] + _tail(chance.choice(others), chance),
        "line": lambda: _moved_line(data, chance),
    }
    return how[chance.choice(list(how))]()


def _swollen(piece: bytes, chance: Random) -> bytes:
    """The same again and again: nesting, long lists, long words."""
    return piece * min(LONGEST // len(piece), chance.choice((50, 500, 5_000, 50_000)))


def _tail(data: bytes, chance: Random) -> bytes:
    return data[chance.randint(0, len(data)) :]


def _moved_line(data: bytes, chance: Random) -> bytes:
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    line = lines.pop(chance.randrange(len(lines)))
    for _ in range(chance.choice((0, 1, 2))):
        lines.insert(chance.randint(0, len(lines)), line)
    return b"".join(lines)


# Values of JSON.

MARK = "@@"


def _tree(data: bytes) -> tuple[Any, bool] | None:
    """The value of a JSON text, or the list of those on its lines, and whether they stand on lines."""
    try:
        return json.loads(data), False
    except (ValueError, RecursionError):
        pass
    try:
        lines = [json.loads(line) for line in data.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return None
    return (lines, True) if lines else None


def places(node: Any, depth: int = 0) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) of a tree, down to a depth that Python can walk."""
    if depth > DEEP:
        return
    children = list(node.items()) if isinstance(node, dict) else list(enumerate(node)) if isinstance(node, list) else []
    for key, child in children:
        yield node, key
        yield from places(child, depth + 1)


def changed_tree(tree: Any, chance: Random) -> tuple[Any, str]:
    """The tree with a change in it, and a JSON text that stands where the mark does."""
    spots = list(places(tree))
    if not spots:
        return MARK, chance.choice(VALUES)
    container, key = chance.choice(spots)
    how = chance.choice(("value", "value", "remove", "repeat", "key", "borrow", "long", "wrap"))
    if how == "value":
        container[key] = MARK
    elif how == "remove":
        del container[key]
    elif how == "wrap":
        container[key] = [container[key]] if chance.random() < 0.5 else {"a": container[key]}
    elif how == "borrow":
        other, place = chance.choice(spots)
        container[key] = json.loads(json.dumps(other[place])) if place in other or isinstance(other, list) else None
    elif how == "long":
        container[key] = [container[key]] * chance.choice((3, 300, 3000))
        if len(json.dumps(container[key])) > LONGEST:
            container[key] = MARK
    elif isinstance(container, list):
        container.insert(chance.randint(0, len(container)), container[key])
    else:
        container[chance.choice(KEYS) if how == "key" else f"{key}2"] = container[key]
    return tree, chance.choice(VALUES)


def _in_tree(tree: Any, lines: bool, chance: Random) -> bytes:
    tree, hostile = changed_tree(tree, chance)
    whole = "\n".join(map(json.dumps, tree)) + "\n" if lines and isinstance(tree, list) else json.dumps(tree)
    return whole.replace(json.dumps(MARK), hostile).encode()


# States: whatever stands in them, the checksum is right.


def _in_state(data: bytes, chance: Random, others: list[bytes]) -> bytes:
    header, columns = opened_state(data)
    if chance.random() < 0.5:
        tree = _tree(header)
        return sealed_state(header if tree is None else _in_tree(*tree, chance), columns)
    if chance.random() < 0.8 and columns:
        # A whole number or a float somewhere in a column: places, codes and offsets that lead nowhere.
        place = chance.randrange(len(columns)) // 4 * 4
        odd = chance.choice(
            (b"\xff" * 4, b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\0\0\xf8\x7f", b"\1\0\0\0", b"\0\0\1\0", b"\5\0\0\0")
        )
        return sealed_state(header, columns[:place] + odd + columns[place + 4 :])
    return sealed_state(header, _bytes(columns, chance, [columns]))


def _in_columns(data: bytes, chance: Random) -> bytes:
    """A Parquet file whose rows hold other values, as far as its library can write them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows = pq.read_table(io.BytesIO(data)).to_pylist()
        tree, hostile = changed_tree(json.loads(json.dumps(rows, default=str)), chance)
        table = pa.Table.from_pylist(json.loads(json.dumps(tree).replace(json.dumps(MARK), hostile)))
        out = io.BytesIO()
        pq.write_table(table, out)
        return out.getvalue()
    except (pa.ArrowException, ValueError, TypeError, OverflowError, AttributeError, RecursionError, OSError):
        return _bytes(data, chance, [data])
