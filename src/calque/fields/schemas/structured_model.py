"""Models: pydantic classes whose fields say how they are compared."""

from __future__ import annotations

import json
import types
import typing
import warnings
from collections.abc import Mapping, Sequence
from datetime import date
from enum import Enum
from functools import lru_cache
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, PrivateAttr, create_model

from calque.comparators.base import BaseComparator, describe
from calque.core.arguments import names_arguments
from calque.core.errors import ConfigError
from calque.fields.accounting.rows import blank_is_absent
from calque.fields.comparison.cells import Record, RecordSide, wrappers
from calque.fields.comparison.one_document import compare_pair, confusion_matrix, non_matches, own_outcome
from calque.fields.comparison.records import compare_records, similarity
from calque.fields.schemas.json_schema import from_plain, to_plain
from calque.fields.schemas.plain_form import DEFAULT_MATCH_THRESHOLD, SPOKEN_TYPES, canonical, compile_plan
from calque.fields.schemas.plan import FieldPlan, Kind, RecordPlan

EXTRA = "x-calque"
"""Where a pydantic field keeps its comparison, as an object of the plain form."""


@names_arguments
def ComparableField(  # noqa: N802  # reads like pydantic's Field, which it makes
    *,
    comparator: BaseComparator | str | None = None,
    threshold: float | None = None,
    weight: float = 1.0,
    clip_under_threshold: bool = True,
    matching: str | None = None,
    match_key: str | None = None,
    default: Any = None,
    alias: str | None = None,
    **keywords: Any,
) -> Any:
    """A pydantic field with what the comparison needs to know; other keywords go to ``pydantic.Field``.

    >>> from calque import StructuredModel
    >>> from calque.comparators import NumericComparator
    >>> class Line(StructuredModel):
    ...     amount: float = ComparableField(comparator=NumericComparator(absolute_tolerance=0.01), threshold=0.95, weight=2)
    >>> Line.to_config()["fields"]["amount"]["params"]
    {'absolute_tolerance': 0.01}
    """
    settings: dict[str, Any] = {"weight": weight}
    if isinstance(comparator, BaseComparator):
        settings |= describe(comparator)
        threshold = comparator.threshold if threshold is None else threshold
    elif comparator is not None:
        settings["comparator"] = comparator
    optional = {"threshold": threshold, "matching": matching, "match_key": match_key}
    settings |= {key: value for key, value in optional.items() if value is not None}
    if not clip_under_threshold:
        settings["clip"] = False
    if threshold is not None and not 0 <= threshold <= 1:
        raise ConfigError(f"threshold must be from 0 to 1, not {threshold!r}")
    return described_field(settings, default=default, alias=alias, **keywords)


def described_field(settings: dict[str, Any], *, default: Any = None, alias: str | None = None, **keywords: Any) -> Any:
    """A pydantic field whose comparison is already in the words of the plain form."""
    from pydantic import Field

    extra = {**keywords.pop("json_schema_extra", {}), EXTRA: settings}
    return Field(default, alias=alias, json_schema_extra=extra, **keywords)


_LEAVES: dict[Any, str] = {str: "str", int: "int", float: "float", bool: "bool", Any: "any", dict: "any", date: "str"}
_PYTHON: dict[str, Any] = {"str": str, "int": int, "float": float, "bool": bool, "any": Any}


class StructuredModel(BaseModel):
    """A record with typed fields. Fields are compared as their `ComparableField` says; others by what suits their type.

    >>> from calque import ComparableField
    >>> class Invoice(StructuredModel):
    ...     vendor: str = ComparableField(threshold=0.8)
    ...     total: float = ComparableField(threshold=0.95)
    >>> truth = Invoice.from_json({"vendor": {"_value": "Acme", "_bbox": [0, 0, 9, 3]}, "total": 12.5})
    >>> truth.compare_with(Invoice(vendor="Acme", total=12.0))["field_scores"]
    {'vendor': 1.0, 'total': 0.0}
    """

    model_config = ConfigDict(extra="allow", populate_by_name=True, protected_namespaces=())

    match_threshold: ClassVar[float] = DEFAULT_MATCH_THRESHOLD
    """From which similarity on two items of a list of this class count as the same."""

    _raw: dict[str, Any] | None = PrivateAttr(default=None)

    @classmethod
    def from_json(cls, data: Mapping[str, Any] | str) -> Self:
        """The model of a JSON object, whose values may carry ``_confidence``, ``_bbox`` and more.

        Nothing is refused: what does not fit the schema is for the comparison to find.
        """
        raw = json.loads(data) if isinstance(data, str) else dict(data)
        if not isinstance(raw, dict):
            raise TypeError(f"a record is a JSON object, not {type(raw).__name__}")
        plan = cls.plan()
        side = RecordSide(plan, raw, lambda *_: None)
        model = cls._from_record(plan, side.record, {key: raw[key] for key in raw if key not in plan.keys})
        model._raw = raw
        return model

    @classmethod
    def _from_record(cls, plan: RecordPlan, record: Record, extra: Mapping[str, Any]) -> Self:
        values = {field.name: _python(cls, field, cell.value) for field, cell in zip(plan.fields, record.cells, strict=True)}
        return cls.model_construct(**values, **extra)

    def raw_json(self) -> dict[str, Any]:
        """The JSON that this model was made from, or that it makes."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=False) if self._raw is None else self._raw

    # Schemas

    @classmethod
    def to_config(cls) -> dict[str, Any]:
        """The schema of this class in the plain form."""
        return {"fields": {name: _described(cls, name, info) for name, info in cls.model_fields.items()}}

    @classmethod
    def plan(cls) -> RecordPlan:
        """The compiled schema."""
        return compile_plan(_text(cls))

    @classmethod
    def to_json_schema(cls) -> dict[str, Any]:
        """The schema of this class as JSON Schema with ``x-calque-*`` keys."""
        return from_plain(json.loads(_text(cls)), cls.__name__)

    @classmethod
    def model_from_config(cls, config: Mapping[str, Any], name: str = "Record") -> type[StructuredModel]:
        """A class for a schema in the plain form."""
        return _made(json.loads(canonical(config, name)), str(config.get("name", name)))

    @classmethod
    def from_json_schema(cls, schema: Mapping[str, Any], name: str = "") -> type[StructuredModel]:
        """A class for a JSON Schema."""
        return cls.model_from_config(to_plain(schema), name or str(schema.get("title", "Record")))

    # Metadata

    def get_all_confidences(self) -> dict[str, float]:
        """The confidences in the JSON, by path."""
        return self._metadata("_confidence")

    def get_all_boxes(self) -> dict[str, Any]:
        """The boxes in the JSON, by path."""
        return self._metadata("_bbox")

    def get_field_confidence(self, path: str) -> float | None:
        """The confidence of one field."""
        return self.get_all_confidences().get(path)

    def _metadata(self, key: str) -> dict[str, Any]:
        found = wrappers({} if self._raw is None else self._raw, "")
        return {path: wrapper[key] for path, wrapper in found if wrapper.get(key) is not None}

    # Comparison

    def compare(self, other: StructuredModel) -> float:
        """How alike the two are, before any threshold."""
        plan = self.plan()
        sides = [RecordSide(plan, each.raw_json(), lambda *_: None) for each in (self, other)]
        return similarity(compare_records(plan, sides[0].record, sides[1].record))

    def compare_with(
        self,
        other: StructuredModel,
        *,
        include_confusion_matrix: bool = False,
        document_non_matches: bool = False,
        document_field_comparisons: bool = False,
        recall_with_fd: bool = False,
        add_confidence_metrics: bool = False,
        add_bbox_metrics: bool = False,
        bbox_iou_thresholds: float | Sequence[float] | None = None,
        accounting: typing.Literal["complete", "paired"] = "complete",
    ) -> dict[str, Any]:
        """Compare this truth with a prediction.

        Always: ``field_scores`` and ``overall_score``; the rest on demand, under ``confusion_matrix``, ``non_matches``,
        ``field_comparisons``, ``confidence_metrics`` and ``bbox_metrics``.
        """
        if add_bbox_metrics or add_confidence_metrics:
            warnings.warn(
                "the mean average precision or calibration of one document is noisy; use BulkStructuredModelEvaluator",
                UserWarning,
                stacklevel=2,
            )
        settings: dict[str, Any] = {} if bbox_iou_thresholds is None else {"iou": bbox_iou_thresholds}
        pair = compare_pair(_text(type(self)), self.raw_json(), other.raw_json(), accounting=accounting, **settings)
        result: dict[str, Any] = {
            "field_scores": {each.plan.name: each.applied for each in pair.fields},
            "overall_score": pair.score,
        }
        if include_confusion_matrix:
            leaf = blank_is_absent if accounting == "paired" else own_outcome
            result["confusion_matrix"] = confusion_matrix(
                pair.fields, pair.unknown, recall_with_fd=recall_with_fd, of_item_leaf=leaf
            )
        if document_non_matches:
            result["non_matches"] = non_matches(pair.rows)
        if document_field_comparisons or add_bbox_metrics or add_confidence_metrics:
            result["field_comparisons"] = pair.comparisons()
        if add_confidence_metrics:
            result["confidence_metrics"] = pair.numbers["confidence_metrics"]
        if add_bbox_metrics:
            result["bbox_metrics"] = pair.numbers["bbox_map_metrics"]
        return result


@lru_cache(maxsize=256)
def _text(model: type[StructuredModel]) -> str:
    return canonical(model.to_config(), model.__name__)


def _python(model: type[StructuredModel], plan: FieldPlan, value: Any) -> Any:
    """A cell's value as an attribute: nested models for objects, plain values for the rest."""
    if value is None or plan.kind is Kind.LEAF:
        return getattr(value, "raw", value[0] if type(value).__name__ == "Accepted" else value)
    inner = _inner_model(model.model_fields[plan.name].annotation)
    if plan.record is not None and inner is not None:
        if isinstance(value, Record):
            return inner._from_record(plan.record, value, {})
        if isinstance(value, list):
            return [
                inner._from_record(plan.record, cell.value, {}) if isinstance(cell.value, Record) else cell.raw
                for cell in value
            ]
    return [cell.value for cell in value] if isinstance(value, list) else getattr(value, "raw", value)


def _described(model: type[StructuredModel], name: str, info: Any) -> dict[str, Any]:
    where = f"{model.__name__}.{name}"
    kind, inner = _kind(info.annotation, where)
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    field: dict[str, Any] = {"type": kind, **extra.get(EXTRA, {})}
    if info.alias:
        field["alias"] = info.alias
    if inner is not None:
        for key in ("comparator", "params"):
            field.pop(key, None)
        field["fields"] = inner.to_config()["fields"]
        if kind == "list[object]":
            field["match_threshold"] = inner.match_threshold
    return field


def _kind(annotation: Any, where: str) -> tuple[str, type[StructuredModel] | None]:
    """The plain type of an annotation, and the model inside, if there is one."""
    annotation = _not_null(annotation)
    if isinstance(annotation, type) and issubclass(annotation, StructuredModel):
        return "object", annotation
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is list or origin in (list, Sequence, tuple, set):
        kind, inner = _kind(arguments[0] if arguments else Any, where)
        return ("list[object]", inner) if inner is not None else (f"list[{kind}]" if "[" not in kind else "list[any]", None)
    if origin is typing.Literal or (isinstance(annotation, type) and issubclass(annotation, Enum)):
        return "str", None
    if annotation in _LEAVES:
        return _LEAVES[annotation], None
    if origin in (dict, Mapping, typing.Union, types.UnionType) or (
        isinstance(annotation, type) and issubclass(annotation, BaseModel)
    ):
        return "any", None
    if isinstance(annotation, type) and issubclass(annotation, str | date):
        return "str", None
    raise ConfigError(f"{where}: {annotation!r} is not a type that can be compared; use str, int, float, bool, lists or models")


def _not_null(annotation: Any) -> Any:
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        kept = [each for each in typing.get_args(annotation) if each is not type(None)]
        return kept[0] if len(kept) == 1 else annotation
    return annotation


def _inner_model(annotation: Any) -> type[StructuredModel] | None:
    return _kind(annotation, "")[1]


def _made(config: Mapping[str, Any], name: str) -> type[StructuredModel]:
    fields: dict[str, Any] = {}
    for field_name, field in config["fields"].items():
        kind = SPOKEN_TYPES.get(field["type"], field["type"])
        if "fields" in field:
            annotation: Any = _made(field, f"{name}_{field_name}")
            if kind == "list[object]":
                annotation.match_threshold = field["match_threshold"]
                annotation = list.__class_getitem__(annotation)
        else:
            leaf: Any = _PYTHON[kind.removeprefix("list[").removesuffix("]")]
            annotation = list.__class_getitem__(leaf) if kind.startswith("list[") else leaf
        known = {"type", "fields", "alias", "match_threshold"}
        settings = {key: value for key, value in field.items() if key not in known}
        fields[field_name] = (annotation | None, described_field(settings, alias=field.get("alias")))
    return create_model(name, __base__=StructuredModel, **fields)
