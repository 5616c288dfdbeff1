"""JSON Schemas of checks: the same answers as the ``jsonschema`` package gives, and schemas that are refused."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.checks.evaluators.schema_work import TooDeep
from calque.checks.evaluators.schemas import Schema

LEAVES = st.none() | st.booleans() | st.integers(-3, 5) | st.sampled_from([0.5, 1.0, 2.5]) | st.text("ab1", max_size=4)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["a", "b", "ab", "c"]), inner, max_size=3),
    max_leaves=8,
)
COUNTS = st.integers(0, 3)
NAMES = st.sampled_from(["a", "b", "ab", "c"])


def schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas with any of the keywords, built on smaller ones."""
    some = st.lists(inner, min_size=1, max_size=2)
    named = st.dictionaries(NAMES, inner, max_size=2)
    types = ["null", "boolean", "object", "array", "number", "integer", "string"]
    keywords = {
        "type": st.sampled_from(types) | st.lists(st.sampled_from(types), min_size=1, max_size=2, unique=True),
        "enum": st.lists(LEAVES, min_size=1, max_size=3),
        "const": LEAVES,
        "minimum": st.integers(-2, 3),
        "maximum": st.integers(-2, 3),
        "exclusiveMinimum": st.integers(-2, 3),
        "exclusiveMaximum": st.integers(-2, 3),
        "multipleOf": st.sampled_from([1, 2, 0.5]),
        "minLength": COUNTS,
        "maxLength": COUNTS,
        "pattern": st.sampled_from(["^a", "b$", "1"]),
        "minItems": COUNTS,
        "maxItems": COUNTS,
        "uniqueItems": st.booleans(),
        "prefixItems": some,
        "items": inner,
        "contains": inner,
        "minContains": COUNTS,
        "maxContains": COUNTS,
        "minProperties": COUNTS,
        "maxProperties": COUNTS,
        "required": st.lists(NAMES, max_size=2, unique=True),
        "properties": named,
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b"]), inner, max_size=2),
        "additionalProperties": inner,
        "propertyNames": inner,
        "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=2),
        "dependentSchemas": named,
        "allOf": some,
        "anyOf": some,
        "oneOf": some,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "$ref": st.just("#/$defs/leaf"),
    }
    chosen = st.lists(st.sampled_from(sorted(keywords)), max_size=4, unique=True)
    return chosen.flatmap(lambda names: st.fixed_dictionaries({name: keywords[name] for name in names}))


SCHEMAS = st.recursive(st.booleans() | st.just({"type": "string"}), schemas, max_leaves=6)


@given(SCHEMAS, st.sampled_from([{"type": "integer"}, {"minLength": 2}, True]), VALUES)
def test_it_judges_as_the_reference_does(schema: Any, leaf: Any, value: Any) -> None:
    whole = {"allOf": [schema], "$defs": {"leaf": leaf}}
    right = jsonschema.Draft202012Validator(whole).is_valid(value)
    assert (not Schema.compile(whole).complaints(value)) == right


@pytest.mark.parametrize(
    "schema",
    [
        {"contains": {"type": "integer"}},
        {"contains": {"type": "integer"}, "minContains": 0},
        {"contains": {"type": "integer"}, "minContains": 2, "maxContains": 2},
        {"minItems": 2},
        {"maxItems": 2},
        {"minLength": 2},
        {"maxLength": 2},
        {"minimum": 2},
        {"maximum": 2},
        {"exclusiveMinimum": 2},
        {"exclusiveMaximum": 2},
        {"multipleOf": 2},
        {"minProperties": 2},
        {"maxProperties": 2},
        {"uniqueItems": True},
        {"uniqueItems": False},
        {"required": ["a", "b"]},
        {"prefixItems": [{"type": "integer"}], "items": {"type": "string"}},
        {"propertyNames": {"maxLength": 1}},
        {"dependentRequired": {"a": ["b"]}},
        {"additionalProperties": False, "properties": {"a": True}},
        {"enum": [1, "ab", None, [1]]},
        {"patternProperties": {"b": {"maximum": 1}, "^a": {"type": "integer"}}},
        {"dependentSchemas": {"a": {"minProperties": 2}}},
        {"oneOf": [{"minimum": 2}, {"type": "integer"}, {"maxLength": 1}]},
        {"not": {"minimum": 2}},
        {"if": {"type": "integer"}, "then": {"minimum": 2}, "else": {"maxLength": 1}},
        {"if": {"type": "integer"}, "then": {"minimum": 2}},
        {"if": {"type": "integer"}, "else": {"maxLength": 1}},
        {"if": {"type": "integer"}},
        {"properties": {"a": {"$ref": "#/$defs/two"}, "b": {"$ref": "#/$defs/two"}}, "$defs": {"two": {"minimum": 2}}},
        # References may lead anywhere in the schema: into lists, and to names that have to be spelt.
        {"properties": {"a": {"$ref": "#/properties/b"}, "b": {"minimum": 2}}},
        {"allOf": [{"minimum": 2}, {"maximum": 3}], "items": {"$ref": "#/allOf/1"}},
        {"$ref": "#/properties/a~1b/anyOf/0", "properties": {"a/b": {"anyOf": [{"minimum": 2}]}}},
        {"$ref": "#/properties/a~0b", "properties": {"a~b": {"minimum": 2}}},
    ],
)
def test_it_judges_as_the_reference_does_at_the_limits(schema: dict[str, Any]) -> None:
    numbers: list[Any] = [0, 1, 2, 3, 4, 1.5, 2.0]
    lists: list[Any] = [[], [1], [1, 1], [1, "x"], ["x", 1], [1, 2, 3], ["x", "x", "x"], [1, "x", 2]]
    objects: list[Any] = [{}, {"a": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 2, "c": 3}, {"bb": 1}]
    for value in (*numbers, *lists, *objects, "", "a", "ab", "abc", None, True):
        right = jsonschema.Draft202012Validator(schema).is_valid(value)
        assert (not Schema.compile(schema).complaints(value)) == right, value


@pytest.mark.parametrize(
    ("schema", "value", "told"),
    [
        ({"enum": [1, "ab"]}, 2, '2 is none of [1, "ab"]'),
        ({"not": {"minimum": 2}}, 3, "3 is what not forbids"),
        ({"oneOf": [{"minimum": 2}, {"minimum": 3}]}, 3, "3 is as 2 of the 2 schemas of oneOf say, not one"),
        ({"oneOf": [{"minimum": 2}, {"minimum": 3}]}, 1, "1 is as none of the 2 schemas of oneOf say, not one"),
        ({"patternProperties": {"b": {"maximum": 1}}}, {"bb": 2}, "/bb: 2 is above 1"),
    ],
)
def test_what_is_wrong_is_told_in_words(schema: dict[str, Any], value: Any, told: str) -> None:
    assert Schema.compile(schema).complaints(value) == [told]


def test_references_may_go_round() -> None:
    tree = {"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "additionalProperties": {"$ref": "#/$defs/node"}}}}
    schema = Schema.compile(tree)
    assert schema.complaints({"a": {"b": {}}}) == []
    assert schema.complaints({"a": {"b": 5}}) == ["/a/b: 5 is not of type object"]
    deep: Any = {}
    for _ in range(500):
        deep = {"a": deep}
    with pytest.raises(TooDeep):
        schema.complaints(deep)
    assert schema.complaints({"a": {}}) == []  # what came before leaves no trace
    with pytest.raises(TooDeep):
        Schema.compile({"$ref": "#"}).complaints(1)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (5, "must be an object, true or false, not 5"),
        ({"type": "strng"}, "#/type must be among null, boolean"),
        ({"properties": {"a": {"mnimum": 1}}}, "the schema at #/properties/a has the unknown keyword 'mnimum'"),
        ({"$ref": "http://example.org/schema"}, "only references within the schema are followed"),
        ({"$ref": "#/$defs/none"}, "leads nowhere"),
        ({"pattern": "("}, "#/pattern: "),
        ({"minLength": -1}, "#/minLength must be a whole number, 0 or more, got -1"),
        ({"multipleOf": 0}, "must be a finite number above 0"),
        ({"required": "a"}, "#/required must be a list of keys"),
        ({"allOf": []}, "#/allOf must be a list of schemas"),
        ({"enum": 1}, "#/enum must be a list"),
        ({"uniqueItems": 1}, "#/uniqueItems must be true or false"),
        ({"contains": {}, "minContains": "x"}, "minContains must be a whole number"),
    ],
    ids=str,
)
def test_schemas_that_are_refused(schema: Any, message: str) -> None:
    with pytest.raises(ValueError) as raised:  # the message is compared below
        Schema.compile(schema)
    assert message in str(raised.value)
