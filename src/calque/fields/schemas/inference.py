"""A schema made from examples: by type, name and shape of the values, each choice with its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from calque.core.corpora.records import RecordCorpus
from calque.core.corpus import UnitId, in_canonical_order
from calque.core.errors import ConfigError, ContractError, Severity
from calque.fields.comparison.cells import is_wrapper
from calque.fields.schemas.evidence import WHOLE_OBJECT, WHOLE_TREE, Finding, by_name, by_values, settled
from calque.fields.schemas.leaf_types import Accounting
from calque.fields.schemas.plain_form import DEEPEST, collision

MOST_EXAMPLES = 1_000
"""How many documents are looked at."""
_NOTHING: tuple[Any, ...] = (None, "", [], {})


def infer_schema(corpora: Sequence[RecordCorpus], accounting: Accounting = "complete", side: str = "truth") -> dict[str, Any]:
    """Return the plain form of a schema that fits the first documents of the truth; in paired accounting by type alone.

    The truth may be in several shards. The order of documents is that of their ids, so that any split into shards gives
    the same schema.

    >>> from calque.readers.records import read_records
    >>> truth = read_records([{"total": "$1,000.00", "lines": [{"sku": "A-1"}]}, {"total": "$2.50", "lines": []}])
    >>> schema = infer_schema([truth])
    >>> schema["fields"]["total"]
    {'type': 'amount', 'evidence': 'numbers as people write them, by the look of 2 values'}
    >>> schema["fields"]["lines"]["fields"]["sku"]["type"], schema["inferred"]
    ('code', '2 documents of the truth')
    """
    chosen, total = _first_documents(corpora)
    records = [corpus.record(position) for corpus, position in chosen]
    examples = Examples(by_type=accounting == "paired")
    fields = examples.fields([record for record in records if isinstance(record, Mapping)], 1)
    if not fields:
        lost = [issue for corpus in corpora for issue in corpus.issues if issue.severity is Severity.LOSS]
        if lost:
            raise ContractError(lost)  # what could not be read is why there is nothing
        raise ConfigError("no schema can be made from the truth: its documents have no values; give a schema")
    if told := collision(fields):
        raise ContractError.single("field-names-collide", told, file=next((each.source for each in corpora if each.source), ""))
    whole = f"{len(chosen):,} {'document' if len(chosen) == 1 else 'documents'} of the {side}"
    return {"fields": fields, "inferred": whole if len(chosen) == total else f"the first {whole}"}


def _first_documents(corpora: Sequence[RecordCorpus]) -> tuple[list[tuple[RecordCorpus, int]], int]:
    """Return the documents that are examples, in the order of their ids, and how many there are in all."""
    units: list[Sequence[UnitId]] = []
    numbered = 0
    for corpus in corpora:
        # Documents without ids are counted on from shard to shard.
        units.append(corpus.documents if corpus.named else range(numbered, numbered + len(corpus)))
        numbered += 0 if corpus.named else len(corpus)
    first = in_canonical_order([unit for each in units for unit in each])[:MOST_EXAMPLES]
    wanted = set(first)
    places = {
        unit: (corpus, position)
        for corpus, each in zip(corpora, units, strict=True)
        for position, unit in enumerate(each)
        if unit in wanted
    }
    return [places[unit] for unit in dict.fromkeys(first)], sum(map(len, corpora))


class Examples:
    """What examples say of fields; ``by_type`` looks at nothing but the types of their values."""

    def __init__(self, *, by_type: bool) -> None:
        self._by_type = by_type

    def fields(self, records: list[Mapping[str, Any]], depth: int) -> dict[str, Any]:
        """All fields of some records."""
        values: dict[str, list[Any]] = {}
        for record in records:
            for key, raw in record.items():
                values.setdefault(str(key), []).append(_bare(raw))
        return {
            key: self._field(key, [value for value in examples if value not in _NOTHING], depth)
            for key, examples in values.items()
        }

    def _field(self, name: str, examples: list[Any], depth: int) -> dict[str, Any]:
        if depth < DEEPEST and examples:
            if all(isinstance(value, Mapping) for value in examples):
                return self._nested("object", self.fields(examples, depth + 1))
            if all(isinstance(value, list) for value in examples):
                items = [item for value in examples for raw in value if (item := _bare(raw)) is not None]
                if items and all(isinstance(item, Mapping) for item in items):
                    return self._nested("list[object]", self.fields(items, depth + 1))
                leaf = self._leaf(name, items)
                return {**leaf, "type": f"list[{leaf['type']}]"}
        return self._leaf(name, examples)

    def _nested(self, kind: str, fields: dict[str, Any]) -> dict[str, Any]:
        if not fields:  # items without any: an object without is no example
            return {**self._leaf("", [{}]), "type": "list[any]"}
        if self._by_type or kind == "list[object]":
            return {"type": kind, "fields": fields}
        # An object of which a part is wrong is not right.
        return {"type": kind, "whole": True, "evidence": WHOLE_OBJECT, "fields": fields}

    def _leaf(self, name: str, examples: list[Any]) -> dict[str, Any]:
        examples = [value for value in examples if value != ""]
        kinds = {type(value) for value in examples}
        if self._by_type:
            return {"type": _by_type(kinds)}
        if not kinds <= {str, int, float, bool}:
            return settled(Finding("any", "values of several types", WHOLE_TREE))
        if not examples:
            return settled(by_name(name) or Finding("str", "no values"))
        return settled(by_values(name, examples))


def _bare(raw: Any) -> Any:
    while is_wrapper(raw):
        raw = raw.get("_value")
    return raw


def _by_type(kinds: set[type]) -> str:
    if not kinds <= {str, int, float, bool}:
        return "any"
    if kinds == {bool}:
        return "bool"
    if kinds == {int}:
        return "int"
    return "float" if kinds and kinds <= {int, float} else "str"
