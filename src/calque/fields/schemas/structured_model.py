"""Models: pydantic classes whose fields say how they are compared."""

from __future__ import annotations

import json
import typing
import warnings
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, PrivateAttr, create_model
from pydantic_core import PydanticUndefined

from calque.base.errors import ConfigError
from calque.fields.comparison.cells import METADATA, Cell, Record, RecordSide, wrappers
from calque.fields.comparison.one_document import Wanted, compare_documents, compare_pair
from calque.fields.comparison.records import compare_records, similarity
from calque.fields.schemas.annotations import HISTORIC, NUMBER_OR_TEXT, Spoken, spoken
from calque.fields.schemas.comparable_field import EXTRA, described_field
from calque.fields.schemas.evidence import FREE_TEXT, STRICT_NUMBER, by_name, settled
from calque.fields.schemas.json_schema import from_plain, to_plain
from calque.fields.schemas.leaf_types import Accounting, check_accounting, leaf_of, spoken_type
from calque.fields.schemas.plain_form import DEFAULT_MATCH_THRESHOLD, canonical, compile_plan, passed_over
from calque.fields.schemas.plan import FieldPlan, Kind, RecordPlan
from calque.fields.schemas.remembered import bare, plain_json, rewrapped, updated

_PYTHON: dict[str, Any] = {"str": str, "int": int, "float": float, "bool": bool, "text": str, "code": str}
"""What a field of a made class is annotated with; values of other types may be written in several ways."""


OPTIONS = {"str": FREE_TEXT, "int": STRICT_NUMBER, "float": STRICT_NUMBER}
"""Options of the comparators that types have where a field gives neither options nor a threshold."""


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
    _wrapper: Any = PrivateAttr(default=None)
    """The value with metadata in which an item of a list came."""
    _made: dict[str, Any] = PrivateAttr(default_factory=dict)
    """The values that were made of the JSON: whatever is another one now was changed since."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any] | str) -> Self:
        """The model of a JSON object, whose values may carry ``_confidence``, ``_bbox`` and more.

        Nothing is refused: what does not fit the schema is for the comparison to find.
        """
        raw = json.loads(data) if isinstance(data, str) else data
        if not isinstance(raw, Mapping):
            raise TypeError(f"a record is a JSON object, not {type(raw).__name__}")
        plan, raw = cls.plan(), dict(raw)
        return cls._from_record(plan, RecordSide(plan, raw, lambda *_: None).record, raw)

    @classmethod
    def _from_record(cls, plan: RecordPlan, record: Record, raw: Any, wrapper: Any = None) -> Self:
        values = {field.name: _python(cls, field, cell) for field, cell in zip(plan.fields, record.cells, strict=True)}
        body = bare(raw) if isinstance(bare(raw), dict) else {}
        names = {*plan.keys, *values}
        model = cls.model_construct(**values, **{key: body[key] for key in body if key not in names})
        model._raw, model._wrapper = raw, wrapper
        model._made = {name: list(value) if isinstance(value, list) else value for name, value in values.items()}
        return model

    def raw_json(self) -> dict[str, Any]:
        """The JSON that this model was made from, with all that was changed since; or that it makes."""
        if self._raw is None:
            own = {info.alias or name: plain_json(getattr(self, name, None)) for name, info in type(self).model_fields.items()}
            return {**own, **plain_json(self.model_extra or {})}
        body = bare(self._raw) if isinstance(bare(self._raw), dict) else {}
        new = dict(body)
        for name, info in type(self).model_fields.items():
            alias = info.alias or name
            key = name if name in body and alias not in body else alias
            now, made = getattr(self, name, None), self._made.get(name)
            told = updated(body.get(key), made, now)
            if key in body or (told is not None and not (now is made or now == made)):
                new[key] = told
        new |= {key: plain_json(value) for key, value in (self.model_extra or {}).items() if body.get(key) != value}
        return self._raw if new == body else rewrapped(self._raw, new)

    # Schemas

    @classmethod
    def to_config(cls, accounting: Accounting = "complete") -> dict[str, Any]:
        """The schema of this class in the plain form."""
        check_accounting(accounting)
        return {"fields": {name: _described(cls, name, info, accounting) for name, info in cls.model_fields.items()}}

    @classmethod
    def plan(cls) -> RecordPlan:
        """The compiled schema."""
        return compile_plan(_text(cls))

    @classmethod
    def to_json_schema(cls) -> dict[str, Any]:
        """The schema of this class as JSON Schema with ``x-calque-*`` keys."""
        return from_plain(json.loads(_text(cls)), cls.__name__)

    @classmethod
    def model_from_config(cls, config: Mapping[str, Any], name: str = "") -> type[StructuredModel]:
        """A class for a schema in the plain form, or for stickler's configuration of a model."""
        told = name or str(config.get("name") or config.get("model_name") or "Record")
        made = _made(json.loads(canonical(config, told)), told, config.get("fields", {}))
        if "match_threshold" in config:
            made.match_threshold = float(config["match_threshold"])
        ignored = [each for each in passed_over(config) if "match_threshold" not in each and ": required: " not in each]
        if ignored:
            warnings.warn(f"without meaning here: {'; '.join(ignored)}", UserWarning, stacklevel=2)
        return made

    @classmethod
    def model_from_json(cls, config: Mapping[str, Any]) -> type[StructuredModel]:
        """The same under the name that stickler has for it."""
        return cls.model_from_config(config)

    @classmethod
    def from_json_schema(cls, schema: Mapping[str, Any], name: str = "") -> type[StructuredModel]:
        """A class for a JSON Schema."""
        plain = to_plain(schema)
        named = str(schema.get("x-aws-stickler-model-name") or schema.get("title") or "Record")
        match = schema.get("x-calque-match-threshold", schema.get("x-aws-stickler-match-threshold"))
        ignored = plain.pop("passed_over", [])
        if ignored:
            warnings.warn(f"without meaning here: {'; '.join(ignored)}", UserWarning, stacklevel=2)
        return cls.model_from_config({**plain, **({} if match is None else {"match_threshold": match})}, name or named)

    @classmethod
    def from_pydantic(cls, model: Any) -> type[StructuredModel]:
        """A class for a pydantic model of somebody else, a dataclass or a TypedDict: their types and names decide.

        >>> from pydantic import BaseModel
        >>> class Bill(BaseModel):
        ...     number: str
        ...     due_date: str
        >>> [(name, each["type"]) for name, each in StructuredModel.from_pydantic(Bill).to_config()["fields"].items()]
        [('number', 'code'), ('due_date', 'date')]
        """
        from calque.fields.schemas.sources import json_schema_of

        if isinstance(model, type) and issubclass(model, StructuredModel):
            return model
        return cls.from_json_schema(json_schema_of(model), model.__name__)

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

    def get_all_extras(self) -> dict[str, dict[str, Any]]:
        """What values carry along beside value, confidence, box, page and alternatives (``_x`` keys), by path."""
        found = wrappers(self.raw_json(), "")
        extras = {path: {key: value for key, value in wrapper.items() if key not in METADATA} for path, wrapper in found}
        return {path: own for path, own in extras.items() if own}

    def get_field_extras(self, path: str) -> dict[str, Any]:
        """What one value carries along."""
        return self.get_all_extras().get(path, {})

    def _metadata(self, key: str) -> dict[str, Any]:
        found = wrappers(self.raw_json(), "")
        return {path: wrapper[key] for path, wrapper in found if wrapper.get(key) is not None}

    # Comparison

    def compare(self, other: StructuredModel) -> float:
        """How alike the two are, before any threshold."""
        self._check_other(other)
        plan = self.plan()
        sides = [RecordSide(plan, each.raw_json(), lambda *_: None) for each in (self, other)]
        return similarity(compare_records(plan, sides[0].record, sides[1].record))

    def _check_other(self, other: Any) -> None:
        """Refuse what is no model of this class: its fields would not be these."""
        if not isinstance(other, type(self)):
            given = "None" if other is None else f"a {type(other).__name__}"
            name = type(self).__name__
            raise TypeError(f"a {name} is compared with another {name}, not with {given}; {name}.from_json makes one of JSON")

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
        self._check_other(other)
        settings: dict[str, Any] = {} if bbox_iou_thresholds is None else {"iou": bbox_iou_thresholds}
        settings["recall_with_fd"] = recall_with_fd
        pair = compare_pair(_text(type(self), accounting), self.raw_json(), other.raw_json(), accounting=accounting, **settings)
        wanted = Wanted(
            include_confusion_matrix, document_non_matches, document_field_comparisons, add_confidence_metrics, add_bbox_metrics
        )
        return compare_documents(pair, wanted)


@lru_cache(maxsize=256)
def _text(model: type[StructuredModel], accounting: Accounting = "complete") -> str:
    return canonical(model.to_config(accounting), model.__name__)


def _python(model: type[StructuredModel], plan: FieldPlan, cell: Cell) -> Any:
    """A cell's value as an attribute: nested models for objects, plain values for the rest."""
    value = cell.value
    if value is None or plan.kind is Kind.LEAF:
        return getattr(value, "raw", value[0] if type(value).__name__ == "Accepted" else value)
    inner = spoken(model.model_fields[plan.name].annotation, plan.name).inner
    if plan.record is not None and isinstance(inner, type) and issubclass(inner, StructuredModel):
        if isinstance(value, Record):
            return inner._from_record(plan.record, value, bare(cell.raw))
        if isinstance(value, list):
            return [
                inner._from_record(plan.record, item.value, bare(item.raw), item.raw)
                if isinstance(item.value, Record)
                else item.raw
                for item in value
            ]
    if plan.record is not None:
        return bare(cell.raw)
    return [item.value for item in value] if isinstance(value, list) else getattr(value, "raw", value)


def _described(model: type[StructuredModel], name: str, info: Any, accounting: Accounting) -> dict[str, Any]:
    where = f"{model.__name__}.{name}"
    said = spoken(info.annotation, where)
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    given: dict[str, Any] = dict(extra.get(EXTRA, {}))
    field: dict[str, Any] = {**_typed(said, name, given, accounting), **given}
    if info.alias:
        field["alias"] = info.alias
    default = _default_of(info)
    if default is not None:
        field["default"] = default
    if said.inner is not None:
        _check_nested(given, said, where)
        field["fields"] = _fields_of(said.inner, accounting)
        if said.type == "list[object]":
            field["match_threshold"] = getattr(said.inner, "match_threshold", DEFAULT_MATCH_THRESHOLD)
    return field


def _typed(said: Spoken, name: str, given: Mapping[str, Any], accounting: Accounting) -> dict[str, Any]:
    """The type of a field: what its annotation says, and for a text of which nothing is said what its name says."""
    kind, leaf = said.type, leaf_of(said.type)
    if accounting == "paired" or "comparator" in given:
        return {"type": kind.replace(leaf, HISTORIC.get(leaf, leaf))}
    open_to_names = leaf == "str" or said.evidence == NUMBER_OR_TEXT
    named = by_name(name) if open_to_names and not {"threshold", "params"} & given.keys() else None
    if named is not None and (leaf == "str" or named.type == "code"):
        return {**settled(named), "type": kind.replace(leaf, named.type)}
    typed = {"type": kind, "evidence": said.evidence} if said.evidence else {"type": kind}
    if leaf not in OPTIONS or {"type", "threshold", "params"} & given.keys():
        return typed
    return {**typed, "params": dict(OPTIONS[leaf]), "evidence": f"the type is {kind}"}


def _check_nested(given: Mapping[str, Any], said: Spoken, where: str) -> None:
    """Refuse what has no effect on a field that is compared by the fields of its class."""
    for key in ("comparator", "params"):
        if key in given:
            raise ConfigError(f"{where}: {key} has no effect: it is compared by the fields of {said.inner.__name__}")
    if "threshold" in given and said.type == "list[object]":
        told = f"match_threshold of {said.inner.__name__} says when two items are the same"
        raise ConfigError(f"{where}: threshold has no effect: {told}")


def _fields_of(inner: Any, accounting: Accounting) -> dict[str, Any]:
    if isinstance(inner, type) and issubclass(inner, StructuredModel):
        own: dict[str, Any] = inner.to_config(accounting)["fields"]
        return own
    from calque.fields.schemas.sources import json_schema_of

    plain: dict[str, Any] = to_plain(json_schema_of(inner), inner.__name__, by_name=accounting == "complete")["fields"]
    return plain


def _default_of(info: Any) -> Any:
    """The value of a field that is not there, as JSON; ``None`` when there is none, or when it means that nothing is there."""
    default = info.default
    if info.default_factory is not None:
        default = info.default_factory()
    if default is PydanticUndefined or default in (None, "", [], {}):
        return None
    return plain_json(default)


def _made(config: Mapping[str, Any], name: str, given: Mapping[str, Any]) -> type[StructuredModel]:
    fields: dict[str, Any] = {}
    for field_name, field in config["fields"].items():
        kind, own = spoken_type(field["type"]), given.get(field_name, {})
        if "fields" in field:
            annotation: Any = _made(field, f"{name}_{field_name}", own.get("fields", {}))
            if kind == "list[object]":
                annotation.match_threshold = field["match_threshold"]
                annotation = list.__class_getitem__(annotation)
        else:
            leaf: Any = _PYTHON.get(leaf_of(kind), Any)
            annotation = list.__class_getitem__(leaf) if kind.startswith("list[") else leaf
        known = {"fields", "alias", "match_threshold", "default"}
        settings = {key: value for key, value in field.items() if key not in known}
        if kind == "list[object]":
            settings.pop("threshold", None)
        default = ... if own.get("required") and "default" not in own else field.get("default")
        described = described_field(settings, default=default, alias=field.get("alias"))
        fields[field_name] = (annotation if default is ... else annotation | None, described)
    return create_model(name, __base__=StructuredModel, **fields)
