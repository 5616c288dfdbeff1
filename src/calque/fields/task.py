"""The fields task: its settings, and where each of its steps lives."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from calque.base.arguments import renamed_arguments
from calque.base.digests import digest
from calque.base.errors import ConfigError
from calque.evaluation.task import Task, normalize_settings, setting
from calque.geometry.forms import DECIMAL_COCO_THRESHOLDS

if TYPE_CHECKING:
    from calque.base.columns import Table
    from calque.base.errors import Issue
    from calque.corpus.records import RecordCorpus
    from calque.evaluation.document_sums import WeightedMetrics
    from calque.evaluation.item_outcomes import RunOutcomes
    from calque.evaluation.ledger import Ledger
    from calque.evaluation.measures import Measure, MeasureName
    from calque.evaluation.nothing_evaluated import DocumentCoverage
    from calque.evaluation.view import TaskView
    from calque.fields.schemas.plan import RecordPlan

FAILURES = ("missing", "invented", "wrong", "close")
"""How a value can fail: it is not there, it should not be there, it is another, or it is nearly the true one."""

HEADERS = {
    **{name: f"cm_{name}" for name in ("precision", "recall", "f1", "accuracy")},
    "score": "weighted_overall_score",
    "brier": "brier_score",
    "map": "mean_ap",
    "map50": "map_50",
    "map75": "map_75",
    "ap": "mean_ap",
    "ap50": "map_50",
    "ap75": "map_75",
    **{name: name for name in ("tp", "fa", "fd", "fp", "fn", "tn", "auroc", "ece")},
}
"""The headers of tables in lower case, each with the name of its measure in the JSON."""
FIELD_HEADERS = {**HEADERS, "score": "mean_score", "ap": "ap", "ap50": "ap_50", "ap75": "ap_75"}
"""The same for the rows of one field or one class of boxes."""


@dataclass(frozen=True, repr=False, kw_only=True)
class Fields(Task):
    """Compares records field by field: values by comparators, list items by the best pairing, boxes by IoU.

    ``schema`` is the plain form, a JSON Schema, a class (a `StructuredModel`, any pydantic model, a dataclass, a TypedDict), or
    the text or path of one; without one, the first update makes it from the truth. `explain` says how each field is compared.

    >>> from calque import Evaluator
    >>> task = Fields(schema={"fields": {"vendor": {"type": "str", "threshold": 0.8}, "total": {"type": "float"}}})
    >>> truth = [{"id": "a", "vendor": "Acme Corp", "total": 12.5}]
    >>> predictions = [{"id": "a", "vendor": "Acme Corp.", "total": 12.0}]
    >>> result = Evaluator(task).update(truth, predictions).compute()
    >>> result["cm_precision"], result["cm_precision/vendor"]
    (0.5, 1.0)
    """

    name: ClassVar[str] = "fields"
    rows_are_named: ClassVar[bool] = True
    naming: ClassVar[str] = "write ids alike on both sides, or name the key that holds them with --id KEY"
    streams: ClassVar[bool] = True
    lower_is_better: ClassVar[frozenset[str]] = frozenset({"fa", "fd", "fp", "fn", "brier_score", "ece"})
    neutral: ClassVar[frozenset[str]] = frozenset({"tn", "num_gt", "num_detections"})
    numbers_documents: ClassVar[bool] = True

    schema: Any = setting(  # a field, as all of them; it takes many forms and keeps text
        "",
        kind="file",
        key="schema",
        always=True,
        metavar="SCHEMA",
        help="Schema file, or FILE.py:Class or module:Class; default: inferred.",
    )
    id: str = setting(
        "",
        kind="word",
        key="id",
        metavar="KEY",
        help="Key of a record's id; default: doc_id, id, or the line number.",
    )
    accounting: Literal["complete", "paired"] = setting(
        "complete",
        kind="choice",
        choices=("complete", "paired"),
        key="accounting",
        always=True,
        help="Accounting of boxes; paired counts as stickler 1.0.",
    )
    iou: tuple[float, ...] = setting(
        DECIMAL_COCO_THRESHOLDS, kind="numbers", key="iou", always=True, help="IoU thresholds of the mean average precision."
    )
    recall_with_fd: bool = setting(
        False, kind="switch", key="recall-with-fd", help="Count fields with a wrong value as false negatives, too."
    )
    missing: Literal["penalize", "intersect"] = setting(
        "penalize",
        kind="choice",
        choices=("penalize", "intersect"),
        key="missing",
        always=True,
        help="Count or skip documents that only one side has.",
    )
    boxes: Literal["xyxy", "xywh", "polygon"] = setting(
        "xyxy", kind="choice", choices=("xyxy", "xywh", "polygon"), key="boxes", help="Coordinates of _bbox."
    )
    target_precision: float = setting(
        0.99, kind="number", key="target-precision", help="Precision that accepted fields must keep."
    )
    strict: bool = setting(
        False, kind="switch", key="strict", help="Refuse broken lines, malformed boxes and confidences outside 0 to 1."
    )
    keep_outcomes: bool = True
    """Whether the ledger lists every compared field; numbers do not need that."""

    def __post_init__(self) -> None:
        normalize_settings(self)
        if self.schema != "":
            from calque.fields.schemas.sources import schema_text

            object.__setattr__(self, "schema", schema_text(self.schema, accounting=self.accounting))
        object.__setattr__(self, "iou", tuple(sorted({float(value) for value in self.iou})))
        if not self.iou or not all(0 < value <= 1 for value in self.iou):
            raise ConfigError(f"iou must be above 0 and at most 1, not {list(self.iou)}")
        if not 0 < self.target_precision <= 1:
            raise ConfigError(f"target_precision must be above 0 and at most 1, not {self.target_precision!r}")

    def plan(self) -> RecordPlan:
        """The schema, compiled."""
        from calque.fields.schemas.plain_form import compile_plan

        self._has_schema()
        return compile_plan(self.schema, self.accounting)

    @classmethod
    def inferred(cls, truth: Any, **settings: Any) -> Fields:
        """The task with a schema made from the truth, by type, name and shape of the values."""
        return cls(**settings).resolved(truth)

    def explain(self) -> list[dict[str, Any]]:
        """For every field its type, comparator, threshold and weight, and the evidence for the choice.

        >>> task = Fields.inferred([{"invoice_number": "INV-2024-0017", "total": "$1,500.00"}])
        >>> [(each["field"], each["comparator"], each["threshold"]) for each in task.explain()]
        [('invoice_number', 'exact', 1.0), ('total', 'numeric', 1.0)]
        """
        from calque.fields.schemas.explained import explained

        self._has_schema()
        return [each.to_dict() for each in explained(self.schema, self.accounting)]

    def _has_schema(self) -> None:
        if not self.schema:
            raise ConfigError("no schema: give one, or let Fields.inferred(truth) make one from the truth")

    @renamed_arguments(expected="truth", found="predictions")
    def resolved(self, truth: Any, predictions: Any = None) -> Fields:
        """Return the task with a schema: its own, or an inferred one. Predictions decide if the ground truth has no values."""
        return self.resolved_over([truth], [] if predictions is None else [predictions])

    def resolved_over(self, truths: Sequence[Any], predictions: Sequence[Any] = ()) -> Fields:
        """The same for the truth of several shards: the schema is the one that a single file of all of them would give."""
        if self.schema:
            return self
        from calque.fields.schemas.inference import infer_schema
        from calque.readers.records import marks_of, read_records

        if any(isinstance(each, Iterator) for each in truths):
            raise TypeError("the truth is read twice to make a schema: give a list and not an iterator, or give a schema")
        seen = {os.fspath(each): marks_of(each) for each in truths if isinstance(each, str | os.PathLike)}
        sides = [[read_records(each, id_key=self.id or None) for each in truths]]
        try:
            schema = infer_schema(sides[0], self.accounting)
        except ConfigError as error:
            named = f"{sides[0][0].source}: {error}" if sides[0][0].source else str(error)
            others = [each for each in predictions if not isinstance(each, Iterator)]
            try:
                schema = infer_schema(
                    [read_records(each, id_key=self.id or None) for each in others], self.accounting, "predictions"
                )
            except ConfigError:
                raise ConfigError(named) from None
        task = replace(self, schema=schema)
        object.__setattr__(task, "_read_before", seen)
        return task

    def check_unchanged(self, truth: Any) -> None:
        """Refuse a truth that is another than the one that the schema was made from."""
        from calque.readers.line_records import changed
        from calque.readers.records import marks_of

        path = os.fspath(truth) if isinstance(truth, str | os.PathLike) else ""
        if self.__dict__.get("_read_before", {}).get(path, ()) not in ((), marks_of(path)):
            raise changed(path)

    def numbers_only(self) -> Fields:
        """The task that lists no compared field."""
        if not self.keep_outcomes:
            return self
        lean = copy.copy(self)  # with a schema that is settled: it need not be read again
        object.__setattr__(lean, "keep_outcomes", False)
        return lean

    def spelled(self, name: str) -> str:
        """A setting's value in the signature: the schema by its digest."""
        if name != "schema" or not self.schema:
            return super().spelled(name)
        from calque.fields.schemas.plain_form import comparison_of

        return digest(comparison_of(self.schema, self.accounting))

    @renamed_arguments(expected="truth", found="predictions")
    def batches(self, truth: Any, predictions: Any, *, jobs: int = 1) -> Iterator[tuple[RecordCorpus, RecordCorpus]]:
        """Both sides as records, paired by id or by line, some documents at a time."""
        from calque.fields.scoring import batches, taker_of
        from calque.readers.records import read_record_pair

        declared = frozenset(self.plan().keys) if self.schema else frozenset()
        id_key, taker = self.id or None, taker_of(self) if self.schema else None
        pair = read_record_pair(
            truth, predictions, declared=declared, id_key=id_key, strict=self.strict, jobs=jobs, taker=taker
        )
        self.check_unchanged(truth)
        return batches(*pair)

    @renamed_arguments(expected="truth", found="predictions")
    def score(self, truth: RecordCorpus, predictions: RecordCorpus, *, jobs: int = 1) -> Ledger:
        """The outcome of every field."""
        from calque.fields.scoring import score

        return score(self, truth, predictions, jobs=jobs)

    def own_code(self) -> tuple[str, ...]:
        """Return the comparators that somebody registered."""
        from calque.comparators.base import named_in

        return (*super().own_code(), *named_in(str(self.schema)))

    def measure(self, ledger: Ledger, *, jobs: int = 1) -> dict[str, Any]:
        """Counts and scores by field, boxes, confidences."""
        from calque.fields.numbers import measure

        return measure(self, ledger, jobs=jobs)

    def coverage(self, ledger: Ledger) -> DocumentCoverage | None:
        """Which documents the two sides are about, and whether the truth has any value."""
        from calque.evaluation.nothing_evaluated import NO_TRUTH, DocumentCoverage

        known = super().coverage(ledger)
        values = sum(
            int(rows.array(name).sum()) for rows in ledger.chunks("counts", "tp", "fd", "fn") for name in ("tp", "fd", "fn")
        )
        if known is None or values:
            return known
        text = "the truth is empty: its documents have no values"
        return DocumentCoverage(
            known.in_truth, known.in_found, NO_TRUTH, text, "check the file, and the names of fields in the schema"
        )

    def issues(self, ledger: Ledger, numbers: Mapping[str, Any], known: tuple[Issue, ...]) -> tuple[Issue, ...]:  # noqa: ARG002  # other tasks need them
        """Return the issues. A schema key without a meaning is a note; a record shape that makes all values wrong is a loss."""
        from calque.base.errors import Issue, Severity
        from calque.fields.shapes import CODES, weighed

        if '"passed_over":' in self.schema:
            listed = json.loads(self.schema).get("passed_over", ())
            known += tuple(Issue("schema-key-passed-over", text, severity=Severity.NOTE) for text in listed)
        return weighed(known, numbers) if any(issue.code in CODES for issue in known) else known

    @classmethod
    def full_name(cls, name: MeasureName) -> MeasureName:
        """Return the name of a measure in the JSON, for one that is named as in a table's header: recall is cm_recall."""
        suffix = {None: "", 0.5: "50", 0.75: "75"}.get(name.threshold, f"@{name.threshold!r}")
        short = name.name.casefold() + suffix
        full = (FIELD_HEADERS if name.label else HEADERS).get(short)
        return super().full_name(name) if full is None else replace(name, name=full, threshold=None)

    def address(self, name: MeasureName) -> tuple[str, ...]:
        """Where a measure stands in the JSON: boxes and confidences by class, the rest by field."""
        name = self.full_name(name)
        boxes = {"mean_ap", "map_50", "map_75", "ap", "ap_50", "ap_75", "mean_iou", "num_gt", "num_detections"}
        if name.name in boxes:
            return ("bbox_map_metrics", "fields", name.label, name.name) if name.label else ("bbox_map_metrics", name.name)
        if name.name in {"auroc", "brier_score", "ece", "error_capture_at_budget"}:
            scope = ("fields", name.label) if name.label else ("overall",)
            return "confidence_metrics", *scope, name.name, "value"
        if name.name == "wholly_right":
            return "wholly_right", "share"
        return ("fields", name.label, name.name) if name.label else ("overall", name.name)

    def names(self, numbers: Mapping[str, Any]) -> list[str]:
        """The numbers of all fields and of each, those of boxes by class, and those of confidences by key."""
        from calque.fields.numbers import names

        return names(numbers)

    def compared(self, numbers: Mapping[str, Any]) -> list[str]:
        """Ratios, scores and averages; counts, and what a review finds, can be asked for."""
        from calque.fields.numbers import compared

        return compared(numbers)

    def primary(self) -> tuple[str, ...]:
        """F1 of all fields."""
        return ("cm_f1",)

    def outcomes(self, ledger: Ledger, *, threshold: float | None = None) -> Table:  # noqa: ARG002  # fields have their own
        """One row for each compared field, with what happened to it and why."""
        from calque.fields.accounting.outcome_list import outcomes

        return outcomes(ledger)

    @classmethod
    def measures(cls) -> tuple[Measure, ...]:
        """Return the definitions that `calque explain` prints."""
        from calque.fields.numbers import MEASURES

        return MEASURES

    def resampled(self, ledger: Ledger) -> tuple[WeightedMetrics, ...]:
        """Return quick ways to the numbers of weighted documents."""
        from calque.fields.compared import resampled

        return resampled(self, ledger)

    def run_outcomes(self, ledger: Ledger) -> RunOutcomes:
        """Return the outcome of each ground-truth item and the score of each document, for comparisons."""
        from calque.fields.compared import run_outcomes

        return run_outcomes(self, ledger)

    def view(self) -> TaskView:
        """Return the functions that show results of this task."""
        from calque.evaluation.view import TaskView
        from calque.fields import presentation, report_data

        return TaskView(
            columns=presentation.COLUMNS,
            schema=presentation.result_schema,
            sentence=presentation.sentence,
            sections=presentation.sections,
            brief=presentation.brief,
            rows=presentation.flat,
            slices=presentation.SLICES,
            headline=presentation.headline,
            findings=presentation.findings,
            report_data=partial(report_data.report_data, self),
            with_pages=report_data.with_pages,
        )
