"""JSON Schema to the plain form and back; ``x-calque-*`` keys say how fields are compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import unquote

from calque.base.errors import ConfigError, did_you_mean
from calque.fields.schemas import evidence
from calque.fields.schemas.annotations import NUMBER_OR_TEXT
from calque.fields.schemas.plain_form import DEEPEST
from calque.readers.sources.json_tree import shown

PREFIX = "x-calque-"
STICKLER = "x-aws-stickler-"
"""The same keys as stickler spells them."""
EXTENSIONS = {
    "comparator": "comparator",
    "comparator-config": "params",
    "params": "params",
    "threshold": "threshold",
    "whole": "whole",
    "weight": "weight",
    "clip": "clip",
    "clip-under-threshold": "clip",
    "match-threshold": "match_threshold",
    "matching": "matching",
    "match-key": "match_key",
    "alias": "alias",
    "type": "type",
    "default": "default",
    "evidence": "evidence",
}
"""``x-calque-NAME`` and the key of the plain form that it becomes."""
NAMES_ONLY = ("model-name",)
WITHOUT_MEANING = {
    "aggregate": "every field is added up anyway",
    "infer-unspecified": "types and names decide anyway",
    "internal-examples": "they are for people",
}
"""Keys of stickler that a comparison here does not need."""

KEYWORDS = frozenset((
    "$anchor", "$comment", "$defs", "$dynamicAnchor", "$dynamicRef", "$id", "$ref", "$schema", "$vocabulary",
    "additionalItems", "additionalProperties", "allOf", "anyOf", "const", "contains", "contentEncoding",
    "contentMediaType", "contentSchema", "default", "definitions", "dependentRequired", "dependentSchemas", "deprecated",
    "description", "discriminator", "else", "enum", "example", "examples", "exclusiveMaximum", "exclusiveMinimum",
    "format", "id", "if", "items", "maxContains", "maxItems", "maxLength", "maxProperties", "maximum", "minContains",
    "minItems", "minLength", "minProperties", "minimum", "multipleOf", "not", "nullable", "oneOf", "pattern",
    "patternProperties", "prefixItems", "properties", "propertyNames", "readOnly", "required", "then", "title", "type",
    "unevaluatedItems", "unevaluatedProperties", "uniqueItems", "writeOnly", "xml",
))  # fmt: skip
"""What JSON Schema (and OpenAPI) itself may say; most of it does not matter for a comparison."""

JSON_TYPES = {"string": "str", "number": "float", "integer": "int", "boolean": "bool"}
INNER = ("object", "array")
MOST_NODES = 20_000
"""Places that a schema unfolds to when references are followed; each could double what is below it."""
SPELLED: dict[str, dict[str, Any]] = {
    "str": {"type": "string"},
    "float": {"type": "number"},
    "int": {"type": "integer"},
    "bool": {"type": "boolean"},
    "date": {"type": "string", "format": "date"},
    "datetime": {"type": "string", "format": "date-time"},
    "time": {"type": "string", "format": "time"},
    "amount": {"type": ["number", "string"]},
    "code": {"type": "string"},
    "text": {"type": "string"},
}
FORMATS = {
    "date": "date", "date-time": "datetime", "datetime": "datetime", "time": "time", "decimal": "amount",
    **dict.fromkeys(("duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6", "ipvanyaddress", "uri",
                     "uri-reference", "iri", "iri-reference", "uuid", "uuid1", "uuid3", "uuid4", "uuid5", "url", "phone",
                     "json-pointer", "regex", "color", "byte"), "code"),
}  # fmt: skip
"""What a ``format`` of texts says of their type."""


def to_plain(schema: Mapping[str, Any], where: str = "schema", *, by_name: bool = True) -> dict[str, Any]:
    """The plain form of a JSON Schema. Where a text says nothing of itself its name may (``by_name``).

    >>> to_plain({"properties": {"total": {"type": "number", "x-calque-comparator": "numeric", "x-calque-threshold": 0.95}}})
    {'fields': {'total': {'type': 'float', 'comparator': 'numeric', 'threshold': 0.95}}}
    >>> to_plain({"properties": {"due": {"type": "string", "format": "date"}}})["fields"]["due"]
    {'type': 'date', 'evidence': 'format: date'}
    """
    reading = _Reading(schema, by_name)
    top = reading.resolved(schema, where, 0)
    reading.extensions(top, where)
    plain: dict[str, Any] = {"fields": reading.properties(top, where, 0)}
    return {**plain, "passed_over": reading.passed_over} if reading.passed_over else plain


@dataclass(frozen=True)
class _Reading:
    """One JSON Schema while it is read."""

    root: Mapping[str, Any]
    by_name: bool
    passed_over: list[str] = field(default_factory=list)
    visits: Iterator[int] = field(default_factory=count)
    """Counts the places that are looked at: references can make many of one."""
    within: list[Any] = field(default_factory=list)
    """The properties of the objects that are being read, to see when one refers to itself."""

    def properties(self, node: Mapping[str, Any], where: str, depth: int) -> dict[str, Any]:
        """The fields of an object."""
        if depth > DEEPEST:
            raise ConfigError(f"{where}: a schema may be {DEEPEST} levels deep")
        properties = node.get("properties")
        if not isinstance(properties, Mapping) or not properties:
            raise ConfigError(f"{where}: an object needs 'properties'")
        self.within.append(properties)
        read = {
            str(name): self.field(str(name), each, f"{where}.properties.{name}", depth + 1) for name, each in properties.items()
        }
        self.within.pop()
        return read

    def _is_inner(self, node: Mapping[str, Any]) -> bool:
        """Whether an object has fields of its own; one inside itself is a tree, compared as a whole."""
        properties = node.get("properties")
        return bool(properties) and not any(properties is outer for outer in self.within)

    def field(self, name: str, node: Any, where: str, depth: int) -> dict[str, Any]:
        """One field."""
        node = self.resolved(node, where, 0)
        given = self.extensions(node, where)
        kind = node.get("type")
        if kind == "object" or "properties" in node:
            # A class may say from where on its items match and be used alone elsewhere.
            given.pop("match_threshold", None)
            if not self._is_inner(node):
                return {**self._tree(given), **given}
            decides = self.by_name and not {"threshold", "whole"} & given.keys()
            whole = {"whole": True, "evidence": evidence.WHOLE_OBJECT} if decides else {}
            return {"type": "object", **whole, **given, "fields": self.properties(node, where, depth)}
        if kind == "array":
            return self._array(name, node, given, where, depth)
        if kind is not None and (not isinstance(kind, str | list) or (isinstance(kind, str) and kind not in JSON_TYPES)):
            raise ConfigError(f"{where}.type: {kind!r} is no JSON type; {did_you_mean(str(kind), JSON_TYPES)}".rstrip("; "))
        return self._leaf(name, node, given)

    def _array(self, name: str, node: Mapping[str, Any], given: dict[str, Any], where: str, depth: int) -> dict[str, Any]:
        listed = node.get("items", {})
        # An array with a schema for each place is one of anything.
        items = self.resolved({} if isinstance(listed, list) else listed, f"{where}.items", 0)
        if items.get("type") == "object" or items.get("properties"):
            own = self.extensions(items, f"{where}.items")
            given = {**{key: own[key] for key in ("match_threshold",) if key in own}, **given}
            if not self._is_inner(items):
                given.pop("match_threshold", None)
                return {**self._tree(given), **given, "type": "list[any]"}
            return {"type": "list[object]", **given, "fields": self.properties(items, f"{where}.items", depth)}
        if items.get("type") == "array":
            return {**self._tree(given), **given, "type": "list[any]"}
        leaf = self.field(name, {**items, **{key: node[key] for key in node if _is_extension(key)}}, f"{where}.items", depth)
        return {**leaf, **given, "type": given.get("type", f"list[{leaf['type']}]")}

    def _tree(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """What can be anything."""
        if "comparator" in given or not self.by_name:
            return {"type": "any"}
        return _without_given(
            evidence.settled(evidence.Finding("any", "anything: right when all of it is", evidence.WHOLE_TREE)), given
        )

    def _leaf(self, name: str, node: Mapping[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        if "type" in given:
            return given
        kind = node.get("type")
        kinds = set(kind) if isinstance(kind, list) else {kind} if kind else set()
        plain = {JSON_TYPES.get(each, "any") for each in kinds}
        if "comparator" in given or not self.by_name:
            only = plain.pop() if len(plain) == 1 else "any"
            return {"type": "str" if not kinds and "enum" in node else only, **given}
        return {**_without_given(evidence.settled(self._decided(name, node, plain)), given), **given}

    def _decided(self, name: str, node: Mapping[str, Any], plain: set[str]) -> evidence.Finding:
        """The type of a value whose comparison the schema does not describe."""
        if "str" in plain and plain & {"float", "int"} and len(plain - {"str", "float", "int"}) == 0:
            named = evidence.by_name(name)
            return named if named is not None and named.type == "code" else evidence.Finding("amount", NUMBER_OR_TEXT)
        if plain and plain <= {"int", "float"}:
            return evidence.Finding(
                *(("int", "whole numbers") if plain == {"int"} else ("float", "numbers")), evidence.STRICT_NUMBER
            )
        if plain == {"bool"}:
            return evidence.Finding("bool", "true or false")
        choices = [node["const"]] if "const" in node else node.get("enum")
        if isinstance(choices, list) and plain <= {"str"} and all(isinstance(each, str | None) for each in choices):
            return evidence.Finding("code", "one of an enumeration")
        if plain != {"str"}:
            return evidence.Finding("any", "anything", evidence.WHOLE_TREE)
        return self._text(name, node)

    def _text(self, name: str, node: Mapping[str, Any]) -> evidence.Finding:
        spelled = node.get("format")
        if isinstance(spelled, str) and spelled in FORMATS:
            return evidence.Finding(FORMATS[spelled], f"format: {spelled}")
        if isinstance(node.get("pattern"), str):
            return evidence.Finding("code", "texts of one pattern")
        return evidence.by_name(name) or evidence.Finding("str", "text of which no more is known", evidence.FREE_TEXT)

    def resolved(self, node: Any, where: str, hops: int) -> Mapping[str, Any]:
        """The node with references followed and "or null" taken away."""
        node = {} if node is True else node  # JSON Schema for anything
        _check_shape(node, where)
        if next(self.visits) > MOST_NODES:
            raise ConfigError(f"{where}: the schema unfolds to more than {MOST_NODES:,} places; refer to less")
        if hops > DEEPEST:
            raise ConfigError(f"{where}: references lead in a circle")
        if "$ref" in node:
            target = _follow(str(node["$ref"]), self.root, where)
            rest = {key: value for key, value in node.items() if key != "$ref"}
            return {**self.resolved(target, where, hops + 1), **rest}
        for key in ("anyOf", "oneOf", "allOf"):
            if key in node:
                if not isinstance(node[key], list):
                    raise ConfigError(f"{where}.{key}: a list of schemas is expected here, not {node[key]!r}")
                rest = {name: value for name, value in node.items() if name != key}
                return {**self._one_of(node[key], where, hops, merged=key == "allOf"), **rest}
        kinds = node.get("type")
        if isinstance(kinds, list):
            return {**node, "type": _together(kinds)} if kinds else {key: node[key] for key in node if key != "type"}
        return node  # type: ignore[no-any-return]  # an object, as was checked

    def _one_of(self, options: Sequence[Any], where: str, hops: int, *, merged: bool) -> dict[str, Any]:
        """What several options have in common: the only one that says something, or the types of values."""
        nodes = [self.resolved(option, where, hops + 1) for option in options]
        said = [node for node in nodes if node.get("type") != "null" and node]
        if merged and len(said) > 1:
            properties = {name: each for node in said for name, each in (node.get("properties") or {}).items()}
            return {
                **{key: value for node in said for key, value in node.items()},
                **({"properties": properties} if properties else {}),
            }
        if len(said) == 1:
            return dict(said[0])
        kinds = [kind for node in said for kind in _listed(node.get("type", "string" if "enum" in node else None))]
        if not said or not all(kind in JSON_TYPES for kind in kinds):
            return {}
        formats = {node.get("format") for node in said if node.get("type") == "string"}
        formats.discard(None)  # a date or text is a date where it is one
        shared = {"format": formats.pop()} if len(formats) == 1 else {}
        choices = [each for node in said for each in node.get("enum", ())]
        closed = {"enum": choices} if all("enum" in node for node in said) else {}
        return {"type": _together(kinds), **shared, **closed}

    def extensions(self, node: Mapping[str, Any], where: str) -> dict[str, Any]:
        """What the node says of the comparison, in the words of the plain form."""
        given = {}
        known = [PREFIX + each for each in EXTENSIONS]
        for key, value in node.items():
            if key in known:
                given[EXTENSIONS[key.removeprefix(PREFIX)]] = value
            elif key.startswith(STICKLER):
                self._of_stickler(key, value, given, where)
            else:
                _check_word(key, known, where)
        return given

    def _of_stickler(self, key: str, value: Any, given: dict[str, Any], where: str) -> None:
        name = key.removeprefix(STICKLER)
        if name in EXTENSIONS:
            given.setdefault(EXTENSIONS[name], value)
        elif name not in NAMES_ONLY:
            hint = did_you_mean(name, [*EXTENSIONS, *NAMES_ONLY])
            if name not in WITHOUT_MEANING and hint:
                raise ConfigError(f"{where}: unknown key {key!r}; {hint.replace(chr(39), chr(39) + STICKLER, 1)}")
            told = f"{where}: {key}: {WITHOUT_MEANING.get(name, 'has no meaning here')}"
            if told not in self.passed_over:
                self.passed_over.append(told)


def _without_given(decided: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """What was decided of a field, apart from options that whoever gives others, or a threshold, did not ask for."""
    if "params" not in decided or not ("params" in given or ("threshold" in given and decided["type"] not in ("int", "float"))):
        return decided
    return {key: value for key, value in decided.items() if key not in ("params", "evidence")}


SHAPES: Mapping[str, tuple[type, str]] = {
    "properties": (Mapping, "an object"),
    "enum": (list, "a list"),
    "$ref": (str, "a text"),
    "format": (str, "a text"),
}


def _check_shape(node: Any, where: str) -> None:
    """Refuse a place that no JSON Schema has: whatever reads on takes its words for what they should be."""
    if not isinstance(node, Mapping):
        raise ConfigError(f"{where}: an object is expected here, not {shown(node)}")
    for key, (kind, named) in SHAPES.items():
        if node.get(key) is not None and not isinstance(node[key], kind):
            raise ConfigError(f"{where}.{key}: {named} is expected here, not {shown(node[key])}")
    kinds = node.get("type")
    if kinds is not None and not isinstance(kinds, str | list):
        raise ConfigError(f"{where}.type: {shown(kinds)} is no JSON type")
    if isinstance(kinds, list) and not all(isinstance(kind, str) and kind in (*JSON_TYPES, *INNER, "null") for kind in kinds):
        raise ConfigError(f"{where}.type: {shown(kinds)} are no JSON types")


def _is_extension(key: str) -> bool:
    return key.startswith((PREFIX, STICKLER)) and key != PREFIX + "type"


def _check_word(key: str, known: Sequence[str], where: str) -> None:
    foreign = key.startswith("x-") and not key.startswith(PREFIX)
    hint = did_you_mean(key, known) if foreign else did_you_mean(key, [*known, *KEYWORDS])
    if (hint and foreign) or (not foreign and key not in KEYWORDS):
        raise ConfigError(f"{where}: unknown key {key!r}; {hint or 'known are ' + ', '.join([*known, *sorted(KEYWORDS)])}")


def _listed(kind: Any) -> list[Any]:
    return kind if isinstance(kind, list) else [kind]


def _together(kinds: Sequence[Any]) -> Any:
    """Several types as one where they are one, "or null" taken away."""
    kept = list(dict.fromkeys(kind for kind in kinds if kind != "null"))
    return kept[0] if len(kept) == 1 else kept


def _follow(reference: str, root: Mapping[str, Any], where: str) -> Any:
    if not reference.startswith("#/"):
        raise ConfigError(f"{where}: {reference!r} leads out of the schema; only references within it are followed")
    node: Any = root
    for step in unquote(reference[2:]).split("/"):  # a reference is a URI
        name = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(node, Mapping) or name not in node:
            raise ConfigError(f"{where}: {reference!r} leads nowhere")
        node = node[name]
    return node


def from_plain(schema: Mapping[str, Any], title: str = "") -> dict[str, Any]:
    """The JSON Schema of a schema in its canonical plain form."""
    node = {"type": "object", "properties": {name: _node(each) for name, each in schema["fields"].items()}}
    return {"title": title, **node} if title else node


def _node(field: Mapping[str, Any]) -> dict[str, Any]:
    kind = field["type"]
    spelled = {plain: f"{PREFIX}{name}" for name, plain in reversed(EXTENSIONS.items()) if plain != "type"}
    extensions = {spelled[key]: value for key, value in field.items() if key in spelled}
    if kind == "object":
        return {**from_plain(field), **extensions}
    if kind == "list[object]":
        return {"type": "array", "items": from_plain(field), **extensions}
    leaf = kind.removeprefix("list[").removesuffix("]")
    if leaf not in JSON_TYPES.values() and leaf != "any":
        extensions[PREFIX + "type"] = kind
    node = dict(SPELLED.get(leaf, {}))
    return {"type": "array", "items": node, **extensions} if kind.startswith("list[") else {**node, **extensions}
