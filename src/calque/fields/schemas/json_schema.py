"""JSON Schema to the plain form and back; ``x-calque-*`` keys say how fields are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calque.core.errors import ConfigError, did_you_mean
from calque.fields.schemas.plain_form import DEEPEST

PREFIX = "x-calque-"
EXTENSIONS = {
    "comparator": "comparator",
    "comparator-config": "params",
    "params": "params",
    "threshold": "threshold",
    "weight": "weight",
    "clip": "clip",
    "clip-under-threshold": "clip",
    "match-threshold": "match_threshold",
    "matching": "matching",
    "match-key": "match_key",
    "alias": "alias",
}
"""``x-calque-NAME`` and the key of the plain form that it becomes."""

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
SPELLED = {"str": "string", "float": "number", "int": "integer", "bool": "boolean"}


def to_plain(schema: Mapping[str, Any], where: str = "schema") -> dict[str, Any]:
    """The plain form of a JSON Schema.

    >>> to_plain({"properties": {"total": {"type": "number", "x-calque-threshold": 0.95}}})
    {'fields': {'total': {'type': 'float', 'threshold': 0.95}}}
    """
    top = _resolved(schema, schema, where, 0)
    _extensions(top, where)
    return {"fields": _properties(top, schema, where, 0)}


def _properties(node: Mapping[str, Any], root: Mapping[str, Any], where: str, depth: int) -> dict[str, Any]:
    if depth > DEEPEST:
        raise ConfigError(f"{where}: a schema may be {DEEPEST} levels deep; does it refer to itself?")
    properties = node.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        raise ConfigError(f"{where}: an object needs 'properties'")
    return {str(name): _field(each, root, f"{where}.properties.{name}", depth + 1) for name, each in properties.items()}


def _field(node: Any, root: Mapping[str, Any], where: str, depth: int) -> dict[str, Any]:
    node = _resolved(node, root, where, 0)
    field = _extensions(node, where)
    kind = node.get("type")
    if kind == "object" or "properties" in node:
        # A class may say from where on its items match and be used alone elsewhere.
        field.pop("match_threshold", None)
        if not node.get("properties"):
            return {"type": "any", **field}
        return {"type": "object", **field, "fields": _properties(node, root, where, depth)}
    if kind == "array":
        items = _resolved(node.get("items", {}), root, f"{where}.items", 0)
        if items.get("type") == "object" or "properties" in items:
            own = _extensions(items, f"{where}.items")
            field = {**{key: own[key] for key in ("match_threshold",) if key in own}, **field}
            return {"type": "list[object]", **field, "fields": _properties(items, root, f"{where}.items", depth)}
        leaf = _field(items, root, f"{where}.items", depth)
        return {**leaf, **field, "type": f"list[{leaf['type'] if leaf['type'] in JSON_TYPES.values() else 'any'}]"}
    if kind is not None and (not isinstance(kind, str) or kind not in JSON_TYPES):
        raise ConfigError(f"{where}.type: {kind!r} is no JSON type; {did_you_mean(str(kind), JSON_TYPES)}".rstrip("; "))
    return {"type": JSON_TYPES.get(kind or "", "str" if "enum" in node else "any"), **field}


def _resolved(node: Any, root: Mapping[str, Any], where: str, hops: int) -> Mapping[str, Any]:
    """The node with references followed and "or null" taken away."""
    if not isinstance(node, Mapping):
        raise ConfigError(f"{where}: an object is expected here, not {node!r}")
    if hops > DEEPEST:
        raise ConfigError(f"{where}: references lead in a circle")
    if "$ref" in node:
        target = _follow(str(node["$ref"]), root, where)
        rest = {key: value for key, value in node.items() if key != "$ref"}
        return {**_resolved(target, root, where, hops + 1), **rest}
    for key in ("anyOf", "oneOf", "allOf"):
        if key in node:
            if not isinstance(node[key], list):
                raise ConfigError(f"{where}.{key}: a list of schemas is expected here, not {node[key]!r}")
            options = [option for option in node[key] if not (isinstance(option, Mapping) and option.get("type") == "null")]
            rest = {name: value for name, value in node.items() if name != key}
            if len(options) == 1:
                return {**_resolved(options[0], root, where, hops + 1), **rest}
            return rest
    kinds = node.get("type")
    if isinstance(kinds, list):
        kept = [kind for kind in kinds if kind != "null"]
        return {**node, "type": kept[0]} if len(kept) == 1 else {key: value for key, value in node.items() if key != "type"}
    return node


def _follow(reference: str, root: Mapping[str, Any], where: str) -> Any:
    if not reference.startswith("#/"):
        raise ConfigError(f"{where}: {reference!r} leads out of the schema; only references within it are followed")
    node: Any = root
    for step in reference[2:].split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(node, Mapping) or name not in node:
            raise ConfigError(f"{where}: {reference!r} leads nowhere")
        node = node[name]
    return node


def _extensions(node: Mapping[str, Any], where: str) -> dict[str, Any]:
    field = {}
    known = [PREFIX + each for each in EXTENSIONS]
    for key, value in node.items():
        if key in known:
            field[EXTENSIONS[key.removeprefix(PREFIX)]] = value
            continue
        foreign = key.startswith("x-") and not key.startswith(PREFIX)
        hint = did_you_mean(key, known) if foreign else did_you_mean(key, [*known, *KEYWORDS])
        if (hint and foreign) or (not foreign and key not in KEYWORDS):
            raise ConfigError(f"{where}: unknown key {key!r}; {hint or 'known are ' + ', '.join([*known, *sorted(KEYWORDS)])}")
    return field


def from_plain(schema: Mapping[str, Any], title: str = "") -> dict[str, Any]:
    """The JSON Schema of a schema in its canonical plain form."""
    node = {"type": "object", "properties": {name: _node(each) for name, each in schema["fields"].items()}}
    return {"title": title, **node} if title else node


def _node(field: Mapping[str, Any]) -> dict[str, Any]:
    kind = field["type"]
    spelled = {plain: f"{PREFIX}{name}" for name, plain in reversed(EXTENSIONS.items())}
    extensions = {spelled[key]: value for key, value in field.items() if key in spelled}
    if kind == "object":
        return {**from_plain(field), **extensions}
    if kind == "list[object]":
        return {"type": "array", "items": from_plain(field), **extensions}
    if kind.startswith("list["):
        leaf = SPELLED.get(kind[5:-1])
        return {"type": "array", "items": {"type": leaf} if leaf else {}, **extensions}
    return {**({"type": SPELLED[kind]} if kind in SPELLED else {}), **extensions}
