"""Schemas: the plain form checked key by key, its one canonical spelling, and the plan that it compiles to."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import count
from typing import Any

from calque.base.errors import ConfigError, did_you_mean
from calque.comparators.base import BaseComparator, comparator
from calque.fields.comparison.cells import METADATA
from calque.fields.schemas.leaf_types import (
    COMPLETE,
    HISTORIC_THRESHOLD,
    LEAF_TYPES,
    TYPES,
    Accounting,
    leaf_of,
    manner,
    spoken_type,
)
from calque.fields.schemas.plan import FieldPlan, Kind, Matching, RecordPlan, spelled

SPELLED_OUT = ("str", "int", "float", "bool", "any")
"""Types whose comparator is the same in both accountings: the canonical spelling names it."""
DEFAULT_MATCH_THRESHOLD = 0.7
DEEPEST = 64

FIELD_KEYS = {
    "type": "what the field holds",
    "comparator": "how two values are compared",
    "params": "options of the comparator",
    "threshold": "from which similarity on two values count as the same",
    "whole": "whether an object is right only when all of it is",
    "weight": "its weight in the score of the record",
    "clip": "whether a score below the threshold counts 0",
    "clip_under_threshold": "another name for clip",
    "match_threshold": "from which similarity on two list items count as the same",
    "matching": "how list items are paired: optimal, ordered or key",
    "match_key": "the field that identifies a list item",
    "alias": "the name of the field in the JSON",
    "default": "the value of a field that is not there",
    "description": "for people",
    "evidence": "why it is compared so, for people",
    "fields": "the fields of an object or of a list item",
    "comparator_config": "another name for params",
    "required": "for classes made from the schema",
    "examples": "for people",
}
TOP_KEYS = {"fields", "name", "description", "model_name", "match_threshold", "inferred", "passed_over"}
WITHOUT_MEANING = {
    "required": "nothing is refused: a value that is not there counts as missed",
    "examples": "they are for people",
    "match_threshold": "it is for items of a list, and the record is none",
    "infer_unspecified_fields": "types and names decide anyway",
}
"""What stickler's configurations may say and a comparison here does not need."""


def canonical(schema: Mapping[str, Any], where: str = "schema") -> str:
    """The one spelling of a schema in the plain form: defaults filled in, fields in their order.

    A threshold that nobody gave is left to the accounting.

    >>> canonical({"fields": {"total": {"type": "float"}}})
    '{"fields":{"total":{"type":"float","comparator":"numeric","weight":1.0}}}'
    """
    if "fields" not in schema:
        hint = next(filter(None, (did_you_mean(str(key), TOP_KEYS) for key in schema)), "")
        raise ConfigError(
            f"{where}: a schema has 'fields'; this one has {', '.join(map(repr, schema)) or 'nothing'}; {hint}".rstrip("; ")
        )
    _check_keys(schema, {*TOP_KEYS, "infer_unspecified_fields"}, where)
    _check_texts(schema, ("name", "description", "model_name", "inferred"), where)
    _share(schema, "match_threshold", DEFAULT_MATCH_THRESHOLD, where)
    whole: dict[str, Any] = {"fields": _fields(schema["fields"], f"{where}: fields", 1)}
    if told := collision(whole["fields"]):
        raise ConfigError(f"{where}: {told}")
    about = {"inferred": schema.get("inferred"), "passed_over": [*schema.get("passed_over", ()), *passed_over(schema)]}
    whole |= {key: value for key, value in about.items() if value}
    return json.dumps(whole, separators=(",", ":"), ensure_ascii=False)


def collision(fields: Mapping[str, Any]) -> str:
    """Return which two fields would be reported under one name, if any are: ``a.b``, and ``b`` in ``a``."""
    places: dict[tuple[int, str], tuple[str, ...]] = {}
    for names, *spellings in _spellings(fields, (), "", ""):
        for kind, spelling in enumerate(spellings):
            other = places.setdefault((kind, spelling), names)
            if other != names:
                one, two = (" in ".join(repr(name) for name in reversed(each)) for each in (other, names))
                return f"the fields {one} and {two} would both be reported as {spelling!r}. Rename one of them."
    return ""


def _spellings(
    fields: Mapping[str, Any], above: tuple[str, ...], path: str, label: str
) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """The names that lead to each field, its path, and the class of its boxes."""
    for name, given in fields.items():
        names, here, there = (*above, name), path + spelled(name), label + spelled(given.get("alias", name))
        yield names, here, there
        if "fields" in given:
            yield from _spellings(
                given["fields"], names, f"{here}.", f"{there}[]." if given["type"] != "object" else f"{there}."
            )


def passed_over(schema: Mapping[str, Any], path: str = "") -> list[str]:
    """The keys of a configuration that have no meaning here, each with the reason."""
    told = [f"{path or 'the schema'}: {key}: {why}" for key, why in WITHOUT_MEANING.items()
            if key in schema and not (path and key == "match_threshold")]  # fmt: skip
    fields = schema.get("fields")
    for name, each in fields.items() if isinstance(fields, Mapping) else ():
        if isinstance(each, Mapping):
            told += passed_over(each, f"{path}.{name}" if path else str(name))
    return told


def comparison_of(text: str, accounting: Accounting = "complete") -> str:
    """What a canonical spelling says of the comparison: all of it, and nothing that changes no number, as the reasons are."""
    return json.dumps({"fields": _compared(json.loads(text)["fields"], accounting)}, separators=(",", ":"), ensure_ascii=False)


def _compared(fields: Mapping[str, Any], accounting: Accounting) -> dict[str, Any]:
    return {name: _compared_field(each, accounting) for name, each in fields.items()}


def _compared_field(given: Mapping[str, Any], accounting: Accounting) -> dict[str, Any]:
    whole = {key: value for key, value in given.items() if key != "evidence"}
    if "fields" in given:
        return {**whole, "fields": _compared(given["fields"], accounting)}
    usual = manner(leaf_of(given["type"]), accounting, given.get("comparator"))
    params = {**usual.params, **given.get("params", {})}
    spelled = {"comparator": usual.comparator, "params": params, "threshold": given.get("threshold", usual.threshold)}
    return dict(sorted({**whole, **spelled}.items()))


def _check_keys(given: Mapping[str, Any], known: Any, where: str) -> None:
    for key in given:
        if key not in known:
            raise ConfigError(
                f"{where}: unknown key {key!r}; {did_you_mean(str(key), known) or 'known are ' + ', '.join(sorted(known))}"
            )


def _check_texts(given: Mapping[str, Any], keys: Sequence[str], where: str) -> None:
    for key in keys:
        if key in given and not (isinstance(given[key], str) and (given[key] or key != "alias")):
            raise ConfigError(f"{where}.{key}: text is expected here, not {_shown(given[key])}")


def _fields(given: Any, where: str, depth: int) -> dict[str, Any]:
    if depth > DEEPEST:
        raise ConfigError(f"{where}: a schema may be {DEEPEST} levels deep")
    if not isinstance(given, Mapping) or not given:
        raise ConfigError(f"{where}: an object with at least one field is expected here, not {_shown(given)}")
    fields = {str(name): _field(each, f"{where}.{name}", depth) for name, each in given.items()}
    keys = [each.get("alias", name) for name, each in fields.items()]
    for key in keys:
        if key in METADATA:
            raise ConfigError(f"{where}: {key!r} is what a value carries along, not a field; name the field otherwise")
    twice = sorted(key for key, count in Counter(keys).items() if count > 1)
    if twice:
        raise ConfigError(f"{where}: two fields share the JSON key {twice[0]!r}")
    return fields


def _field(given: Any, where: str, depth: int) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise ConfigError(f'{where}: an object such as {{"type": "str"}} is expected here, not {_shown(given)}')
    _check_keys(given, {**FIELD_KEYS, "infer_unspecified_fields": ""}, where)
    _check_texts(given, ("alias", "description", "evidence"), where)
    kind = _type(given, where)
    _check_list_keys(given, kind, where)
    nested = kind in ("object", "list[object]")
    whole: dict[str, Any] = {"type": kind, **(_nested(given, kind, where) if nested else _comparator(given, kind, where))}
    own = whole.pop("own_threshold", HISTORIC_THRESHOLD if nested else None)
    if "threshold" in given or own is not None:
        whole["threshold"] = _share(given, "threshold", own, where)
    whole["weight"] = _weight(given, where)
    if not _flag(given, where):
        whole["clip"] = False
    if "alias" in given:
        whole["alias"] = given["alias"]
    if given.get("default") is not None:
        whole["default"] = _default(given["default"], where)
    if given.get("evidence"):
        whole["evidence"] = given["evidence"]
    if nested:
        whole["fields"] = _fields(given.get("fields"), f"{where}.fields", depth + 1)
    if kind.startswith("list["):
        whole |= _matching(given, whole, where)
    return whole


def _check_list_keys(given: Mapping[str, Any], kind: str, where: str) -> None:
    """Refuse what says how list items are paired where there are none."""
    if "match_threshold" in given and kind != "list[object]":
        other = "; its items are compared with threshold" if kind.startswith("list[") else ""
        raise ConfigError(f"{where}.match_threshold: is for list[object], not for {kind}{other}")
    if "whole" in given and kind != "object":
        raise ConfigError(f"{where}.whole: is for objects, not for {kind}")
    for key in ("matching", "match_key"):
        if key in given and not kind.startswith("list["):
            raise ConfigError(f"{where}.{key}: is for lists, not for {kind}")


def _nested(given: Mapping[str, Any], kind: str, where: str) -> dict[str, Any]:
    for key in ("comparator", "params", "comparator_config"):
        if given.get(key) is not None:
            raise ConfigError(f"{where}: {key} is for values; {kind} is compared by its fields")
    if kind == "object":
        return _whole(given, where)
    if given.get("threshold", HISTORIC_THRESHOLD) != HISTORIC_THRESHOLD:
        raise ConfigError(f"{where}.threshold: has no effect on list[object]; match_threshold says when two items are the same")
    return {"match_threshold": _share(given, "match_threshold", DEFAULT_MATCH_THRESHOLD, where)}


def _whole(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Whether all of an object must be right, whatever its similarity is."""
    whole = given.get("whole", False)
    if not isinstance(whole, bool):
        raise ConfigError(f"{where}.whole: true or false is expected here, not {_shown(whole)}")
    if whole and given.get("threshold", 1.0) != 1.0:
        raise ConfigError(f"{where}.threshold: has no effect on an object that is right only when all of it is (whole)")
    return {"whole": True, "own_threshold": 1.0} if whole else {}


def _type(given: Mapping[str, Any], where: str) -> str:
    kind = given.get("type", "str")
    kind = spoken_type(kind) if isinstance(kind, str) else kind
    if kind not in TYPES:
        hint = did_you_mean(str(kind), TYPES)
        raise ConfigError(f"{where}.type: {_shown(kind)} is no type; {hint or 'types are ' + ', '.join(TYPES)}")
    return str(kind)


def _comparator(given: Mapping[str, Any], kind: str, where: str) -> dict[str, Any]:
    if "fields" in given:
        raise ConfigError(f"{where}: 'fields' belong to object and list[object], not to {kind}")
    if "params" in given and "comparator_config" in given:
        raise ConfigError(f"{where}: params and comparator_config are the same; give one")
    leaf = leaf_of(kind)
    chosen = None if given.get("comparator") == "auto" else given.get("comparator")
    name, params = chosen or COMPLETE[leaf].comparator, given.get("params", given.get("comparator_config")) or {}
    if not isinstance(name, str) or not isinstance(params, Mapping):
        raise ConfigError(f"{where}: comparator is a name and params an object of its options")
    try:
        made = comparator(name, params)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    except TypeError as error:
        raise ConfigError(f"{where}.params: {error}") from None
    if made.name == "ignore" and "threshold" in given:
        raise ConfigError(f"{where}.threshold: has no effect: the field is not compared")
    described: dict[str, Any] = {"comparator": name} if chosen is not None or leaf in SPELLED_OUT else {}
    # What the type would set otherwise is said even where it is what the comparator does by itself.
    turned = (
        {key: params[key] for key in COMPLETE[leaf].params if key in params} if made.name == COMPLETE[leaf].comparator else {}
    )
    if turned or made.params():
        described["params"] = {**made.params(), **turned}
    if made.threshold is not None:
        described["own_threshold"] = made.threshold
    return described


def _default(value: Any, where: str) -> Any:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        raise ConfigError(f"{where}.default: a JSON value is expected here, not {_shown(value)}") from None
    return value


def _share(given: Mapping[str, Any], key: str, default: float | None, where: str) -> float:
    value = given.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ConfigError(f"{where}.{key}: a number from 0 to 1 is expected here, not {_shown(value)}")
    return float(value)


def _weight(given: Mapping[str, Any], where: str) -> float:
    value = given.get("weight", 1.0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= sys.float_info.max:
        raise ConfigError(f"{where}.weight: a finite number from 0 is expected here, not {_shown(value)}")
    return float(value)


def _flag(given: Mapping[str, Any], where: str) -> bool:
    if "clip" in given and "clip_under_threshold" in given:
        raise ConfigError(f"{where}: clip and clip_under_threshold are the same; give one")
    value = given.get("clip", given.get("clip_under_threshold", True))
    if not isinstance(value, bool):
        raise ConfigError(f"{where}.clip: true or false is expected here, not {_shown(value)}")
    return value


def _matching(given: Mapping[str, Any], whole: Mapping[str, Any], where: str) -> dict[str, Any]:
    match_key = given.get("match_key")
    matching = given.get("matching", "key" if match_key is not None else "optimal")
    if matching not in list(Matching):
        raise ConfigError(f"{where}.matching: {_shown(matching)} is none of {', '.join(Matching)}")
    if (matching == "key") != (match_key is not None):
        raise ConfigError(f"{where}: matching by key needs match_key, the field that identifies an item, and only then")
    if match_key is not None:
        leaves = [name for name, each in whole.get("fields", {}).items() if each["type"] in LEAF_TYPES]
        if match_key not in leaves:
            hint = did_you_mean(str(match_key), leaves) or f"it can be {', '.join(leaves) or 'none here'}"
            raise ConfigError(f"{where}.match_key: items have no such value {_shown(match_key)}; {hint}")
        return {"matching": "key", "match_key": match_key}
    return {"matching": matching} if matching != "optimal" else {}


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


@lru_cache(maxsize=64)
def compile_plan(text: str, accounting: Accounting = "complete") -> RecordPlan:
    """The plan of a schema in its canonical spelling; the accounting fills in what the schema leaves open."""
    return _record(json.loads(text)["fields"], "", "", count(), accounting)


def _record(fields: Mapping[str, Any], path: str, label: str, codes: Iterator[int], accounting: Accounting) -> RecordPlan:
    return RecordPlan(tuple(_plan(name, each, path, label, codes, accounting) for name, each in fields.items()))


def compared_by(given: Mapping[str, Any], accounting: Accounting) -> tuple[BaseComparator, float]:
    """The comparator and the threshold of a field in its canonical form."""
    if "fields" in given:
        return comparator("exact"), given["threshold"]
    usual = manner(leaf_of(given["type"]), accounting, given.get("comparator"))
    made = comparator(usual.comparator, {**usual.params, **given.get("params", {})})
    if accounting == "paired" and made.name == "date":
        from calque.comparators.date import DateComparator  # and Python's calendars, for schemas with dates only

        made = replace(made, utc=True) if isinstance(made, DateComparator) and not made.only_moments else made
    return made, given.get("threshold", usual.threshold)


def _plan(
    name: str, given: Mapping[str, Any], path: str, label: str, codes: Iterator[int], accounting: Accounting
) -> FieldPlan:
    kind = given["type"]
    shape = {"object": Kind.OBJECT, "list[object]": Kind.ITEMS}.get(
        kind, Kind.VALUES if kind.startswith("list[") else Kind.LEAF
    )
    made, threshold = compared_by(given, accounting)
    key = given.get("alias", name)
    # Paths of boxes and outcomes follow the JSON, as people see it there; counts follow the schema.
    label += spelled(key)
    code = next(codes)
    record = None
    if "fields" in given:
        below = f"{label}[]." if shape is Kind.ITEMS else f"{label}."
        record = _record(given["fields"], f"{path}{spelled(name)}.", below, codes, accounting)
    return FieldPlan(
        name=name,
        key=key,
        path=path + spelled(name),
        label=label,
        code=code,
        kind=shape,
        type=leaf_of(kind),
        comparator=made,
        threshold=threshold,
        weight=given["weight"],
        clip=given.get("clip", True),
        ignored=made.name == "ignore",
        match_threshold=given.get("match_threshold", DEFAULT_MATCH_THRESHOLD),
        matching=Matching(given.get("matching", "optimal")),
        match_key=list(given["fields"]).index(given["match_key"]) if "match_key" in given else -1,
        # The original knows nothing of boxes when it pairs items.
        nearest=accounting == "complete",
        record=record,
        default=given.get("default"),
        whole=given.get("whole", False),
    )
