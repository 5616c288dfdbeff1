"""YAML as plain data: PyYAML's events, YAML 1.2 scalars, and a place for every key; nothing in a file is ever run.

Repeated keys, aliases that unfold to more than anyone would write, and tags are refused, each with its line and column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from calque.base.errors import ConfigError

DEEPEST = 100
"""Levels of nesting that are still read."""
UNFOLDED = 1_000_000
"""Values that all aliases of a file together may stand for."""
MERGE = "<<"
_TAG = "tag:yaml.org,2002:"
_CORE = frozenset(_TAG + kind for kind in ("str", "int", "float", "bool", "null", "map", "seq"))
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_SPECIAL = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_INT = re.compile(r"[-+]?[0-9]+")
_PREFIXED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")


class Located(dict[str, Any]):
    """A mapping that knows where each of its keys stands in its file."""

    places: Mapping[str, str] = {}
    place: str = ""


class LocatedList(list[Any]):
    """A list that knows where each of its items stands in its file."""

    places: Sequence[str] = ()


def load(data: bytes, file: str, *, plain: frozenset[str] = frozenset()) -> Any:
    r"""The one document of a YAML file. Below the keys in ``plain`` no places are kept: that is data, and there is much of it.

    >>> load(b"limit: 1e3\nyes: on", "f.yaml")
    {'limit': 1000.0, 'yes': 'on'}
    >>> load(b"a: 1\na: 2", "f.yaml")
    Traceback (most recent call last):
    calque.base.errors.ConfigError: f.yaml: line 2 column 1: the key 'a' occurs twice
    """
    return _Builder(file, plain).build(_events(_text(data, file), file))


def _text(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{file}: line {line}: is not UTF-8 text; save it as UTF-8") from None


def _events(text: str, file: str) -> Iterator[Any]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        yield from yaml.parse(text, Loader=loader)
    except yaml.reader.ReaderError as error:
        before = text[: error.position] if isinstance(error.position, int) else ""
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        raise ConfigError(
            f"{file}: line {line} column {column}: a character that YAML does not allow ({error.reason})"
        ) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        begun = f" (it began at {_place(error.context_mark)})" if error.context and error.context_mark else ""
        said = " ".join(part for part in (error.context, error.problem) if part)
        raise ConfigError(f"{file}: {_place(mark)}: is not YAML: {said}{begun}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{file}: is not YAML: {error}") from None


def _place(mark: Any) -> str:
    return f"line {mark.line + 1} column {mark.column + 1}"


@dataclass(slots=True)
class _Open:
    """A mapping or list that is still being read."""

    value: Any
    keeps_places: bool
    anchor: str | None
    started_at: int
    """How many values had been counted when it began."""
    key: str | None = None
    key_place: str = ""
    merged: list[Any] = field(default_factory=list)


class _Builder:
    """Turns events into data without recursion, so that no nesting can exhaust the stack."""

    def __init__(self, file: str, plain: frozenset[str]) -> None:
        self._file = file
        self._plain = plain
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int] | None] = {}
        self._count = 0
        self._unfolded = 0
        self._documents: list[Any] = []

    def build(self, events: Iterator[Any]) -> Any:
        import yaml

        for event in events:
            kind = type(event)
            if kind is yaml.ScalarEvent:
                self._put_scalar(event)
            elif kind is yaml.SequenceStartEvent or kind is yaml.MappingStartEvent:
                self._begin(event, is_map=kind is yaml.MappingStartEvent)
            elif kind is yaml.SequenceEndEvent or kind is yaml.MappingEndEvent:
                self._end(event)
            elif kind is yaml.AliasEvent:
                self._put_alias(event)
            elif kind is yaml.DocumentStartEvent and self._documents:
                self._refuse(event.start_mark, "a second document begins; a file here is one document")
        if not self._documents:
            raise ConfigError(f"{self._file}: the file is empty")
        return self._documents[0]

    def _refuse(self, mark: Any, message: str) -> NoReturn:
        raise ConfigError(f"{self._file}: {_place(mark)}: {message}")

    def _put_scalar(self, event: Any) -> None:
        self._count += 1
        if self._waits_for_key():
            self._take_key(event)
            return
        value = self._scalar(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, 1)
        self._put(value, event.start_mark)

    def _scalar(self, event: Any) -> Any:
        text, tag = event.value, event.tag
        if tag is None or (tag == "!" and not event.implicit[0]):
            if not event.implicit[0]:
                return text
            return self._resolved(text, event.start_mark)
        if tag == "!" or tag == _TAG + "str":
            return text
        self._check_tag(event)
        return self._resolved(text, event.start_mark)

    def _resolved(self, text: str, mark: Any) -> Any:
        try:
            return resolve(text)
        except ValueError:
            self._refuse(mark, "the number has too many digits to be read")

    def _check_tag(self, event: Any) -> None:
        if event.tag is not None and event.tag not in _CORE:
            self._refuse(event.start_mark, f"the tag {event.tag!r} is not allowed; write plain values")

    def _waits_for_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].value, dict) and self._open[-1].key is None

    def _take_key(self, event: Any) -> None:
        self._check_tag(event)
        top = self._open[-1]
        if event.value in top.value:
            self._refuse(event.start_mark, f"the key {event.value!r} occurs twice")
        top.key, top.key_place = event.value, _place(event.start_mark)

    def _begin(self, event: Any, *, is_map: bool) -> None:
        self._count += 1
        if self._waits_for_key():
            self._refuse(event.start_mark, "a key must be a plain word, not a list or a mapping")
        if event.tag != "!":
            self._check_tag(event)
        if len(self._open) >= DEEPEST:
            self._refuse(event.start_mark, f"more than {DEEPEST} levels of nesting")
        outer = self._open[-1] if self._open else None
        keeps = outer is None or (outer.keeps_places and outer.key not in self._plain)
        value: Any = (Located() if is_map else LocatedList()) if keeps else ({} if is_map else [])
        if keeps and is_map:
            value.place = _place(event.start_mark)
        if keeps:
            value.places = {} if is_map else []
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        self._put(value, event.start_mark)
        self._open.append(_Open(value, keeps, event.anchor, self._count))

    def _end(self, event: Any) -> None:
        done = self._open.pop()
        for source in done.merged:
            for mapping in source if isinstance(source, list) else [source]:
                if not isinstance(mapping, dict):
                    self._refuse(event.start_mark, f"{MERGE} takes a mapping or a list of mappings")
                for key, value in mapping.items():
                    done.value.setdefault(key, value)
        if done.anchor is not None:
            self._anchors[done.anchor] = (done.value, self._count - done.started_at + 1)

    def _put_alias(self, event: Any) -> None:
        if self._waits_for_key():
            self._refuse(event.start_mark, "a key must be a plain word, not an alias")
        if event.anchor not in self._anchors:
            self._refuse(event.start_mark, f"the alias *{event.anchor} stands for nothing")
        known = self._anchors[event.anchor]
        if known is None:
            self._refuse(event.start_mark, f"the alias *{event.anchor} stands for something that it is part of")
        value, size = known
        self._count += size
        self._unfolded += size
        if self._unfolded > UNFOLDED:
            self._refuse(event.start_mark, f"the aliases unfold to more than {UNFOLDED:,} values")
        self._put(value, event.start_mark)

    def _put(self, value: Any, mark: Any) -> None:
        if not self._open:
            self._documents.append(value)
            return
        top = self._open[-1]
        if isinstance(top.value, list):
            if top.keeps_places:
                top.value.places.append(_place(mark))  # type: ignore[attr-defined]  # a LocatedList
            top.value.append(value)
        elif top.key == MERGE:
            top.merged.append(value)
            top.key = None
        else:
            assert top.key is not None  # noqa: S101  # keys come before values
            if top.keeps_places:
                top.value.places[top.key] = top.key_place
            top.value[top.key] = value
            top.key = None


def resolve(text: str) -> Any:
    """What an unquoted word is in YAML 1.2.

    >>> [resolve(word) for word in ("~", "yes", "True", "010", "0x1F", "1e3", "1_0", "12:30")]
    [None, 'yes', True, 10, 31, 1000.0, '1_0', '12:30']
    """
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _PREFIXED.fullmatch(text):
        number = int(text, 0)
        str(number)  # as many digits as a decimal number may have, else `ValueError`
        return number
    return float(text.replace(".", "", 1)) if _SPECIAL.fullmatch(text) else text
