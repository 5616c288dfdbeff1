"""JSON as Python values, and single values of it.

There is one way for each need. Long files of boxes become columns without Python objects in the compiled scanner
(`calque.kernels.scanning`). Whatever comes from a user and has to be looked at value by value goes through `parse`, which tells
every way in which text can fail to be JSON apart, or, line by line, through `parse_line`. `quickly` is for the many lines that
are as they should be. Text that calque itself has written (states, canonical schemas) is read with `json.loads`.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from calque.base.errors import ContractError, IssueLog, did_you_mean
from calque.corpus.boxes import UnitId
from calque.readers.sources import compression
from calque.readers.sources.compression import strange

ENDLESS = 4_300
"""Python does not turn whole numbers with more digits into text."""
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
ODD = object()
"""Stands for a value that only the exact reader can read, or refuse."""


class RepeatedKeys(dict[str, Any]):
    """An object in which a key occurs twice: plain JSON readers keep the last value and lose the others in silence."""

    repeated: tuple[str, ...] = ()


@contextmanager
def readable(path: str) -> Iterator[None]:
    """Turns what the system says about a file that cannot be read into a `ContractError`."""
    try:
        yield
    except IsADirectoryError:
        raise ContractError.single("is-a-folder", "is a folder", file=path, help="give a file") from None
    except FileNotFoundError:
        raise ContractError.single("no-such-file", "does not exist", file=path, help="check the path") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ContractError.single(
            "cannot-read", f"cannot be read: {reason}", file=path, help="check the file and its permissions"
        ) from None


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The content of a file, unpacked if need be, or a `ContractError` that says why there is none."""
    name = os.fspath(path)
    with readable(name):
        mark = compression.magic(name)
        data = _content(name) if mark is None else compression.unpacked(name, mark)
    if not data.strip():
        raise ContractError.single("empty-file", "the file is empty", file=name, help="check what should have written it")
    return data


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def check_readable(path: str | os.PathLike[str]) -> None:
    """Raise a `ContractError` that says why a file cannot be read, without reading it."""
    try:
        with open(path, "rb"):
            return
    except OSError:
        read_bytes(path)


def parse(data: bytes, file: str) -> Any:
    """The value that JSON text spells. NaN and Infinity pass, so that the contract can name where they stand."""
    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=_object)
    except UnicodeDecodeError as error:
        place = f"byte {error.start:,}"
        what, help = strange(data) or ("", "save it as UTF-8")
        text = f"is not UTF-8 text: it {what}" if what else "is not UTF-8 text"
        raise ContractError.single("not-utf8", text, file=file, pointer=place, help=help) from None
    except json.JSONDecodeError as error:
        if (known := strange(data)) is not None:
            raise ContractError.single("not-json", f"is not JSON: it {known[0]}", file=file, help=known[1]) from None
        place = f"line {error.lineno} column {error.colno}"
        text, help = reason(error)
        raise ContractError.single("not-json", f"is not JSON: {text}", file=file, pointer=place, help=help) from None
    except RecursionError:
        help = "give a file whose values are nested a few levels deep"
        raise ContractError.single("too-deep", "is nested too deeply to be read", file=file, help=help) from None
    except ValueError as error:  # integers of thousands of digits
        help = "write numbers with at most 17 digits"
        raise ContractError.single("not-json", f"holds a number that cannot be read: {error}", file=file, help=help) from None


def parse_line(line: bytes, file: str, number: int) -> Any:
    """The value on a line of a file; what is wrong with it is told at that line."""
    try:
        return parse(line.rstrip(), file)
    except ContractError as error:
        (issue,) = error.issues
        here = f"line {number}"
        place = issue.pointer.replace("line 1 ", f"{here} ") if issue.pointer.startswith("line") else here
        raise ContractError([dataclasses.replace(issue, pointer=place)]) from None


def quickly(line: bytes) -> Any:
    """The value that a line spells, several times as fast as `parse`; `ODD` for what only `parse` can read or refuse."""
    import msgspec

    try:
        return ODD if has_endless_number(line) else msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ODD


def has_endless_number(line: bytes) -> bool:
    """Whether it may hold a number that Python can take in and never print; `parse` refuses those."""
    # So many digits on end are met by four looks on end; hardly a line has to be searched.
    looks = line[:: ENDLESS // 4].translate(_DIGITS)
    return b"0000" in looks and b"0" * ENDLESS in line.translate(_DIGITS)


def nested_beyond(levels: int, data: bytes) -> bool:
    """Whether JSON text nests its values more than so many levels deep. Brackets within texts do not count.

    >>> nested_beyond(2, b'[["[[["]]'), nested_beyond(2, b"[[[]]]")
    (False, True)
    """
    from calque.kernels import kernels

    return kernels().nests_beyond(data, levels)


def dumped(tree: Any, indent: int | None = 1) -> bytes:
    r"""A value as strict JSON in UTF-8; half of a surrogate pair is spelt as an escape.

    >>> dumped(["é", "\ud800"], None)
    b'["\xc3\xa9", "\\ud800"]'
    """
    return json.dumps(tree, ensure_ascii=False, indent=indent, allow_nan=False).encode("utf-8", "backslashreplace")


def reason(error: json.JSONDecodeError) -> tuple[str, str]:
    """What is wrong, and what to do about it."""
    if not error.doc[error.pos :].strip() or error.msg.startswith("Unterminated string"):
        return "the text ends too early", "the file may be cut off: copy or make it again"
    return error.msg[0].lower() + error.msg[1:], "give a JSON file, or correct it there"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    node = RepeatedKeys(pairs)
    times = Counter(key for key, _ in pairs)
    node.repeated = tuple(sorted(key for key, count in times.items() if count > 1))
    return node


def repeated_keys(tree: Any) -> Iterator[tuple[str, str]]:
    """Each key that occurs more than once in an object of a parsed tree, with the pointer of that object.

    >>> list(repeated_keys(parse(b'[{"a": {"b": 1, "b": 2}}]', "")))
    [('/0/a', 'b')]
    """
    stack = [("", tree)]
    while stack:
        place, node = stack.pop()
        if isinstance(node, RepeatedKeys):
            yield from ((place, key) for key in node.repeated)
        children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        stack += [(place + pointer(step), child) for step, child in reversed(list(children))]


def pointer(*steps: object) -> str:
    """A JSON pointer.

    >>> pointer("predictions", 3, "a/b")
    '/predictions/3/a~1b'
    """
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def shown(value: Any, limit: int = 60) -> str:
    """A value as a message shows it: JSON, cut to a readable length.

    >>> shown([0.5, float("nan"), "x"])
    '[0.5, NaN, "x"]'
    """
    if isinstance(value, Mapping | list) and _depth(value) > 4:
        return f"a deeply nested {kind(value)}"
    text = json.dumps(value, ensure_ascii=False, default=repr)  # columns of Parquet also hold bytes, dates and decimals
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _depth(value: Any) -> int:
    """Levels of nesting, counted to five at most."""
    levels, layer = 0, [value]
    while layer and levels < 5:
        levels += 1
        layer = [child for node in layer for child in _children(node)]
    return levels


def _children(node: Any) -> Iterable[Any]:
    if isinstance(node, Mapping):
        return list(node.values())[:100]
    return node[:100] if isinstance(node, list) else ()


def a_kind(value: Any) -> str:
    """What JSON calls a value of this type, with an article.

    >>> a_kind([]), a_kind(5), a_kind(None)
    ('an array', 'a number', 'null')
    """
    name = kind(value)
    return name if name == "null" else f"{'an' if name[0] in 'ao' else 'a'} {name}"


def kind(value: Any) -> str:
    """What JSON calls a value of this type."""
    names = {dict: "object", RepeatedKeys: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")


def number(value: Any) -> float | None:
    """A JSON number as a float (integers may be too large for one and become infinite).

    >>> number(3), number("3"), number(True)
    (3.0, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def numbers(value: Any) -> list[float] | None:
    """A flat list of numbers; pairs are flattened.

    >>> numbers([[1, 2], [3, 4.5]]), numbers([1, "2"])
    ([1.0, 2.0, 3.0, 4.5], None)
    """
    if not isinstance(value, list):
        return None
    if value and all(isinstance(item, list) and len(item) == 2 for item in value):
        value = [part for item in value for part in item]
    read = [number(item) for item in value]
    return None if None in read else [item for item in read if item is not None]


def identity(value: Any) -> UnitId | None:
    """An id: an integer or a string that is not empty."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
        return None
    return value if isinstance(value, str) or -(2**63) <= value < 2**63 else None


def index(value: Any) -> int | None:
    """A page number from 0."""
    read = identity(value)
    return read if isinstance(read, int) and 0 <= read < 2**53 else None


def whole(value: Any) -> int | None:
    """Return the whole number that a text spells in up to 19 digits; Python refuses to read numbers of thousands of digits.

    >>> whole("12"), whole("-1"), whole("9" * 5000)
    (12, None, None)
    """
    digits = isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 20
    return int(value) if digits else None


def text(value: Any) -> str | None:
    """A string that is not empty."""
    return value if isinstance(value, str) and value else None


def entries(value: Any, where: str, log: IssueLog) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """Each object of a list, with its pointer; what is no object, and keys that occur twice, go to the log."""
    if not isinstance(value, list):
        log.add("wrong-type", where, f"expected an array, not {kind(value)} {shown(value)}")
        return
    for row, entry in enumerate(value):
        place = where + pointer(row)
        if isinstance(entry, Mapping):
            for key in entry.repeated if isinstance(entry, RepeatedKeys) else ():
                log.add("duplicate-key", place, f"the key {key!r} occurs more than once", help="keep one of them")
            yield place, entry
        else:
            log.add("wrong-type", place, f"expected an object, not {kind(entry)} {shown(entry)}")


def missing(entry: Mapping[str, Any], key: str, where: str, what: str, log: IssueLog) -> None:
    """Say that a value is absent, or not what it should be."""
    if key in entry:
        log.add("wrong-type", where + pointer(key), f"expected {what}, not {kind(entry[key])} {shown(entry[key])}")
    else:
        log.add("missing-key", where, f"the key {key!r} is missing", help=did_you_mean(key, entry) or f"add {what}")
