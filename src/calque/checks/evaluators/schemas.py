"""JSON Schema, as much of draft 2020-12 as outputs of models need: compiled at load, where every keyword must be known.

References stay within the schema: nothing is fetched. What a keyword means is tested against the ``jsonschema`` package.
The work on one case is bounded: `Work` counts steps and the seconds that patterns take.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias
from urllib.parse import unquote

from calque.base.errors import did_you_mean
from calque.checks.evaluators.paths import equality_key, same
from calque.checks.evaluators.patterns import Pattern
from calque.checks.evaluators.schema_work import TooDeep, Work, exact, is_count, is_finite, is_number, size_of
from calque.checks.shapes.coordinates import shown
from calque.readers.sources.json_tree import pointer

Told: TypeAlias = Iterator[str]
Rule: TypeAlias = Callable[[Any, str, Work], Told]
"""From a value, its place and the work done so far to what is wrong with the value."""

DEEPEST = 200
"""Levels of references and values that are followed."""
ASIDE = frozenset({
    "$schema", "$id", "$comment", "$anchor", "$vocabulary", "$defs", "definitions", "title", "description", "default",
    "examples", "deprecated", "readOnly", "writeOnly", "format", "contentEncoding", "contentMediaType", "contentSchema",
})  # fmt: skip
"""Keywords that describe and do not judge; ``format`` is one of them in this draft."""


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema that is valid itself.

    >>> schema = Schema.compile({"type": "object", "required": ["total"], "properties": {"total": {"type": "number"}}})
    >>> schema.complaints({"total": 3}), schema.complaints({"total": "3"})
    ([], ['/total: "3" is not of type number'])
    """

    root: _Node
    work: Work | None = None
    """The work of the case that is being judged; without one every value has a bound of its own."""

    @classmethod
    def compile(cls, raw: Any) -> Schema:
        """The schema; `ValueError` that says where it is none."""
        try:
            return cls(_Compiler(raw).node(raw, "#"))
        except RecursionError:
            raise ValueError("the schema is nested too deeply") from None

    def for_case(self) -> Schema:
        """The same schema with one bound for all values of a case."""
        return replace(self, work=Work())

    def complaints(self, value: Any) -> list[str]:
        """Return what is wrong with a value, each with its place.

        Raises:
            TimeoutError: Patterns take too long.
            TooMuchWork: The schema needs too many steps.
            TooDeep: References lead in circles, or the value is nested too deeply.
        """
        try:
            return list(self.root.check(value, "", self.work or Work()))
        except (TooDeep, RecursionError):
            raise TooDeep("the schema refers to itself without end, or the value is nested too deeply") from None


@dataclass(slots=True)
class _Node:
    """One schema within a schema."""

    rules: list[Rule] = field(default_factory=list)
    never: bool = False

    def check(self, value: Any, place: str, work: Work) -> Told:
        work.spend(1 + len(self.rules))
        if self.never:
            yield _at(place, "nothing is allowed here")
            return
        work.depths[id(self)] += 1
        try:
            if work.depths[id(self)] > DEEPEST:
                raise TooDeep
            told = [line for rule in self.rules for line in rule(value, place, work)]
        finally:
            work.depths[id(self)] -= 1
        yield from told

    def allows(self, value: Any, work: Work) -> bool:
        return not list(self.check(value, "", work))


class _Compiler:
    """Turns a schema into rules, each reference once."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._known: dict[str, _Node] = {}

    def node(self, raw: Any, place: str) -> _Node:
        if place in self._known:
            return self._known[place]
        made = self._known[place] = _Node()
        if isinstance(raw, bool):
            made.never = not raw
            return made
        if not isinstance(raw, Mapping):
            raise ValueError(f"the schema at {place} must be an object, true or false, not {shown(raw)}")
        for keyword in raw:
            if keyword not in KEYWORDS and keyword not in ASIDE and keyword not in PARTNERS:
                hint = did_you_mean(str(keyword), (*KEYWORDS, *PARTNERS)) or f"known are {', '.join((*KEYWORDS, *PARTNERS))}"
                raise ValueError(f"the schema at {place} has the unknown keyword {keyword!r}; {hint}")
        for name in ("$defs", "definitions"):
            for key, one in _mapping(raw.get(name, {}), f"{place}/{name}").items():
                self.node(one, f"{place}/{name}{pointer(key)}")
        for keyword, build in KEYWORDS.items():
            if keyword in raw:
                made.rules.append(build(self, raw, f"{place}/{keyword}"))
        return made

    def referred(self, text: Any, place: str) -> _Node:
        if not isinstance(text, str) or not (text == "#" or text.startswith("#/")):
            raise ValueError(f"{place}: only references within the schema are followed (#/$defs/name), not {shown(text)}")
        value, canonical = self._root, "#"
        # A reference is a URI: first its percent-encoding is decoded, then the escapes of a JSON pointer.
        steps = unquote(text[2:]).split("/") if len(text) > 1 else []
        for step in (step.replace("~1", "/").replace("~0", "~") for step in steps):
            if isinstance(value, Mapping) and step in value:
                value = value[step]
            elif isinstance(value, list) and _is_index(step) and int(step) < len(value):
                value = value[int(step)]
            else:
                raise ValueError(f"{place}: {text!r} leads nowhere")
            canonical += pointer(step)
        return self.node(value, canonical)

    def listed(self, raw: Any, place: str) -> list[_Node]:
        if not isinstance(raw, list | tuple) or not raw:
            raise ValueError(f"{place} must be a list of schemas, not {shown(raw)}")
        return [self.node(one, f"{place}/{position}") for position, one in enumerate(raw)]

    def named(self, raw: Any, place: str) -> dict[str, _Node]:
        return {key: self.node(one, place + pointer(key)) for key, one in _mapping(raw, place).items()}


def _is_index(step: str) -> bool:
    return step.isascii() and step.isdigit() and len(step) < 10


def _mapping(raw: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(raw, Mapping):
        raise ValueError(f"{place} must be an object, not {shown(raw)}")
    return raw


def _at(place: str, text: str) -> str:
    return f"{place}: {text}" if place else text


TYPES: Mapping[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, Mapping),
    "array": lambda value: isinstance(value, list | tuple),
    "number": is_number,
    "integer": lambda value: is_number(value) and (isinstance(value, int) or value.is_integer()),
    "string": lambda value: isinstance(value, str),
}


# Rules: each is made from the compiler, the schema that the keyword stands in, and the keyword's place.


def _ref(compiler: _Compiler, raw: Mapping[str, Any], place: str) -> Rule:
    return compiler.referred(raw["$ref"], place).check


def _type(_compiler: _Compiler, raw: Mapping[str, Any], place: str) -> Rule:
    names = [raw["type"]] if isinstance(raw["type"], str) else raw["type"]
    if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str) and name in TYPES for name in names):
        raise ValueError(f"{place} must be among {', '.join(TYPES)}, not {shown(raw['type'])}")

    def rule(value: Any, where: str, _work: Work) -> Told:
        if not any(TYPES[name](value) for name in names):
            yield _at(where, f"{shown(value)} is not of type {' or '.join(names)}")

    return rule


def _enum(_compiler: _Compiler, raw: Mapping[str, Any], place: str) -> Rule:
    allowed = raw["enum"]
    if not isinstance(allowed, list | tuple):
        raise ValueError(f"{place} must be a list, not {shown(allowed)}")
    known = {equality_key(one) for one in allowed}

    def rule(value: Any, where: str, work: Work) -> Told:
        work.spend(size_of(value))
        if equality_key(value) not in known:
            yield _at(where, f"{shown(value)} is none of {shown(list(allowed))}")

    return rule


def _const(_compiler: _Compiler, raw: Mapping[str, Any], _place: str) -> Rule:
    def rule(value: Any, where: str, work: Work) -> Told:
        work.spend(size_of(value))
        if not same(value, raw["const"]):
            yield _at(where, f"{shown(value)} is not {shown(raw['const'])}")

    return rule


def _limit(keyword: str, kind: str, size: Callable[[Any], Any], holds: Callable[[Any, Any], bool], told: str) -> Any:
    """A keyword that compares a number, or the size of something, with a limit."""

    def build(_compiler: _Compiler, raw: Mapping[str, Any], place: str) -> Rule:
        limit = raw[keyword]
        if not (is_finite(limit) if kind == "number" else is_count(limit)):
            wanted = "a finite number" if kind == "number" else "a whole number, 0 or more"
            raise ValueError(f"{place} must be {wanted}, got {shown(limit)}")

        def rule(value: Any, where: str, _work: Work) -> Told:
            if TYPES[kind](value) and not holds(size(value), limit):
                yield _at(where, f"{shown(value)} {told} {shown(limit)}")

        return rule

    return build


def _multiple(_compiler: _Compiler, raw: Mapping[str, Any], place: str) -> Rule:
    step = raw["multipleOf"]
    if not is_finite(step) or not step > 0:
        raise ValueError(f"{place} must be a finite number above 0, got {shown(step)}")
    unit = exact(step)

    def rule(value: Any, where: str, _work: Work) -> Told:
        if is_number(value) and (not is_finite(value) or exact(value) % unit):
            yield _at(where, f"{shown(value)} is not a multiple of {shown(step)}")

    return rule


def _pattern(_compiler: _Compiler, raw: Mapping[str, Any], place: str) -> Rule:
    pattern = _compiled(raw["pattern"], place)

    def rule(value: Any, where: str, work: Work) -> Told:
        if isinstance(value, str) and not work.fits(pattern, value):
            yield _at(where, f"{shown(value)} does not fit {shown(pattern.text)}")

    return rule


def _compiled(text: Any, place: str) -> Pattern:
    try:
        return Pattern.compile(text)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def _properties(compiler: _Compiler, raw: Mapping[str, Any], place: str) -> Rule:
    known = compiler.named(raw["properties"], place)

    def rule(value: Any, where: str, work: Work) -> Told:
        if isinstance(value, Mapping):
            work.spend(len(known))
            for key, node in known.items():
                if key in value:
                    yield from node.check(value[key], where + pointer(key), work)

    return rule


def _pattern_properties(compiler: _Compiler, raw: Mapping[str, Any], place: str) -> Rule:
    known = compiler.named(raw["patternProperties"], place)
    patterns = [(_compiled(key, place), node) for key, node in known.items()]

    def rule(value: Any, where: str, work: Work) -> Told:
        for key in value if isinstance(value, Mapping) else ():
            for pattern, node in patterns:
                if work.fits(pattern, str(key)):
                    yield from node.check(value[key], where + pointer(key), work)

    return rule


def _additional(compiler: _Compiler, raw: Mapping[str, Any], place: str) -> Rule:
    node = compiler.node(raw["additionalProperties"], place)
    known = frozenset(_mapping(raw.get("properties", {}), place))
    patterns = [_compiled(key, place) for key in _mapping(raw.get("patternProperties", {}), place)]

    def rule(value: Any, where: str, work: Work) -> Told:
        for key in value if isinstance(value, Mapping) else ():
            work.spend(1)
            if key in known or any(work.fits(pattern, str(key)) for pattern in patterns):
                continue
            if node.never:
                hint = work.similar(str(key), known)
                yield _at(where, f"the key {key!r} is not allowed" + (f"; {hint}" if hint else ""))
            else:
                yield from node.check(value[key], where + pointer(key), work)

    return rule


def _names(compiler: _Compiler, raw: Mapping[str, Any], place: str) -> Rule:
    node = compiler.node(raw["propertyNames"], place)

    def rule(value: Any, where: str, work: Work) -> Told:
        for key in value if isinstance(value, Mapping) else ():
            yield from (f"{told} (the key itself)" for told in node.check(key, where, work))

    return rule


def _required(_compiler: _Compiler, raw: Mapping[str, Any], place: str) -> Rule:
    wanted = _words(raw["required"], place)

    def rule(value: Any, where: str, work: Work) -> Told:
        if isinstance(value, Mapping):
            work.spend(len(wanted))
            yield from (_at(where, f"the key {key!r} is missing") for key in wanted if key not in value)

    return rule


def _words(raw: Any, place: str) -> Sequence[str]:
    if not isinstance(raw, list | tuple) or not all(isinstance(key, str) for key in raw):
        raise ValueError(f"{place} must be a list of keys, not {shown(raw)}")
    return raw


def _dependent_required(_compiler: _Compiler, raw: Mapping[str, Any], place: str) -> Rule:
    wanted = {key: _words(keys, place) for key, keys in _mapping(raw["dependentRequired"], place).items()}

    def rule(value: Any, where: str, work: Work) -> Told:
        for key, others in wanted.items() if isinstance(value, Mapping) else ():
            work.spend(1 + len(others))
            if key in value:
                yield from (
                    _at(where, f"the key {other!r} is missing beside {key!r}") for other in others if other not in value
                )

    return rule


def _dependent_schemas(compiler: _Compiler, raw: Mapping[str, Any], place: str) -> Rule:
    known = compiler.named(raw["dependentSchemas"], place)

    def rule(value: Any, where: str, work: Work) -> Told:
        for key, node in known.items() if isinstance(value, Mapping) else ():
            work.spend(1)
            if key in value:
                yield from node.check(value, where, work)

    return rule


def _items(compiler: _Compiler, raw: Mapping[str, Any], place: str) -> Rule:
    node = compiler.node(raw["items"], place)
    first = len(raw.get("prefixItems", ()))

    def rule(value: Any, where: str, work: Work) -> Told:
        if isinstance(value, list | tuple):
            for position in range(first, len(value)):
                yield from node.check(value[position], where + pointer(position), work)

    return rule


def _prefix(compiler: _Compiler, raw: Mapping[str, Any], place: str) -> Rule:
    nodes = compiler.listed(raw["prefixItems"], place)

    def rule(value: Any, where: str, work: Work) -> Told:
        if isinstance(value, list | tuple):
            for position, (node, item) in enumerate(zip(nodes, value, strict=False)):
                yield from node.check(item, where + pointer(position), work)

    return rule


def _contains(compiler: _Compiler, raw: Mapping[str, Any], place: str) -> Rule:
    node = compiler.node(raw["contains"], place)
    for key in ("minContains", "maxContains"):
        if key in raw and not is_count(raw[key]):
            raise ValueError(f"{place}: {key} must be a whole number, 0 or more, got {shown(raw[key])}")
    low, high = raw.get("minContains", 1), raw.get("maxContains", math.inf)

    def rule(value: Any, where: str, work: Work) -> Told:
        if isinstance(value, list | tuple):
            count = sum(node.allows(item, work) for item in value)
            if not low <= count <= high:
                yield _at(where, f"{count} items are as contains says")

    return rule


def _unique(_compiler: _Compiler, raw: Mapping[str, Any], place: str) -> Rule:
    if not isinstance(raw["uniqueItems"], bool):
        raise ValueError(f"{place} must be true or false, not {shown(raw['uniqueItems'])}")

    def rule(value: Any, where: str, work: Work) -> Told:
        if raw["uniqueItems"] and isinstance(value, list | tuple):
            work.spend(size_of(value))
            seen: set[Any] = set()
            for item in value:
                key = equality_key(item)
                if key in seen:
                    yield _at(where, f"{shown(item)} occurs twice")
                    return
                seen.add(key)

    return rule


def _all_of(compiler: _Compiler, raw: Mapping[str, Any], place: str) -> Rule:
    nodes = compiler.listed(raw["allOf"], place)
    return lambda value, where, work: (told for node in nodes for told in node.check(value, where, work))


def _any_of(compiler: _Compiler, raw: Mapping[str, Any], place: str) -> Rule:
    nodes = compiler.listed(raw["anyOf"], place)

    def rule(value: Any, where: str, work: Work) -> Told:
        if not any(node.allows(value, work) for node in nodes):
            yield _at(where, f"{shown(value)} is as none of the {len(nodes)} schemas of anyOf says")

    return rule


def _one_of(compiler: _Compiler, raw: Mapping[str, Any], place: str) -> Rule:
    nodes = compiler.listed(raw["oneOf"], place)

    def rule(value: Any, where: str, work: Work) -> Told:
        count = sum(node.allows(value, work) for node in nodes)
        if count != 1:
            yield _at(where, f"{shown(value)} is as {count or 'none'} of the {len(nodes)} schemas of oneOf say, not one")

    return rule


def _not(compiler: _Compiler, raw: Mapping[str, Any], place: str) -> Rule:
    node = compiler.node(raw["not"], place)

    def rule(value: Any, where: str, work: Work) -> Told:
        if node.allows(value, work):
            yield _at(where, f"{shown(value)} is what not forbids")

    return rule


def _if(compiler: _Compiler, raw: Mapping[str, Any], place: str) -> Rule:
    asked = compiler.node(raw["if"], place)
    base = place.removesuffix("/if")
    after = {key: compiler.node(raw[key], f"{base}/{key}") for key in ("then", "else") if key in raw}

    def rule(value: Any, where: str, work: Work) -> Told:
        node = after.get("then" if asked.allows(value, work) else "else")
        if node is not None:
            yield from node.check(value, where, work)

    return rule


KEYWORDS: Mapping[str, Callable[[_Compiler, Mapping[str, Any], str], Rule]] = {
    "$ref": _ref,
    "type": _type,
    "enum": _enum,
    "const": _const,
    "minimum": _limit("minimum", "number", lambda value: value, lambda size, limit: size >= limit, "is below"),
    "maximum": _limit("maximum", "number", lambda value: value, lambda size, limit: size <= limit, "is above"),
    "exclusiveMinimum": _limit(
        "exclusiveMinimum", "number", lambda value: value, lambda size, limit: size > limit, "is not above"
    ),
    "exclusiveMaximum": _limit(
        "exclusiveMaximum", "number", lambda value: value, lambda size, limit: size < limit, "is not below"
    ),
    "multipleOf": _multiple,
    "minLength": _limit("minLength", "string", len, lambda size, limit: size >= limit, "is shorter than"),
    "maxLength": _limit("maxLength", "string", len, lambda size, limit: size <= limit, "is longer than"),
    "pattern": _pattern,
    "minItems": _limit("minItems", "array", len, lambda size, limit: size >= limit, "has fewer items than"),
    "maxItems": _limit("maxItems", "array", len, lambda size, limit: size <= limit, "has more items than"),
    "uniqueItems": _unique,
    "prefixItems": _prefix,
    "items": _items,
    "contains": _contains,
    "minProperties": _limit("minProperties", "object", len, lambda size, limit: size >= limit, "has fewer keys than"),
    "maxProperties": _limit("maxProperties", "object", len, lambda size, limit: size <= limit, "has more keys than"),
    "required": _required,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional,
    "propertyNames": _names,
    "dependentRequired": _dependent_required,
    "dependentSchemas": _dependent_schemas,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "if": _if,
}
PARTNERS = frozenset({"then", "else", "minContains", "maxContains"})
"""Keywords that another one reads."""
