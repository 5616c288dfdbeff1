"""The ceiling task: its settings, and where each of its steps lives."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from calque.base.arguments import renamed_arguments
from calque.base.errors import ConfigError, did_you_mean
from calque.evaluation.boxes.reading import BoxReading
from calque.evaluation.task import Task, setting

if TYPE_CHECKING:
    from calque.base.columns import Table
    from calque.base.errors import Issue
    from calque.ceiling.systems import Systems
    from calque.corpus.boxes import Corpus
    from calque.evaluation.document_sums import WeightedMetrics
    from calque.evaluation.item_outcomes import RunOutcomes
    from calque.evaluation.ledger import Ledger
    from calque.evaluation.measures import Measure, MeasureName
    from calque.evaluation.nothing_evaluated import DocumentCoverage
    from calque.evaluation.view import TaskView
    from calque.fields.task import Fields

KINDS = ("boxes", "layout", "fields")
WORDS = "what a lattice of several OCR systems could give is told by calque words --build-lattice, which has a path through all"


@dataclass(frozen=True, repr=False, kw_only=True)
class Ceiling(BoxReading, Task):
    """What any combination of systems could reach: the best single one, the best routing, the best selection, and beyond.

    ``found`` is a mapping of names to systems, or a sequence of them.

    >>> from calque import Corpus, Evaluator
    >>> truth = Corpus.from_arrays([[0, 0, 10, 10], [20, 0, 30, 10]], ["Table", "Table"])
    >>> left = Corpus.from_arrays([[0, 0, 10, 9]], ["Table"], scores=[0.8])
    >>> right = Corpus.from_arrays([[20, 0, 30, 9]], ["Table"], scores=[0.6])
    >>> result = Evaluator(Ceiling()).update(truth, {"left": left, "right": right}).compute()
    >>> result["best.recall@0.5"], result["recall@0.5"], result["repairable@0.5"]
    (0.5, 1.0, 1.0)
    """

    name: ClassVar[str] = "ceiling"
    numbers_documents: ClassVar[bool] = True
    lower_is_better: ClassVar[frozenset[str]] = frozenset({"unfound", "contested"})

    kind: Literal["boxes", "layout", "fields"] = setting(
        "boxes",
        kind="word",
        key="kind",
        flag="--task",
        always=True,
        metavar="TASK",
        help="Task: boxes, layout or fields. [default: fields with --schema, else boxes]",
    )
    systems: tuple[str, ...] = setting(
        (),
        kind="words",
        flag="--names",
        view=True,
        help="Names of the systems (A,B); default: their file names.",
    )
    iou: tuple[float, ...] = setting((0.5, 0.75), kind="numbers", key="iou", always=True, help="IoU thresholds of a match.")
    labels: tuple[str, ...] = setting((), kind="words", key="labels", help="Labels to evaluate; default: all.")
    min_score: float | None = setting(
        None,
        kind="number",
        key="min-score",
        help="Ignore predictions below this score (not in AP).",
    )
    missing: Literal["penalize", "intersect"] = setting(
        "penalize",
        kind="choice",
        choices=("penalize", "intersect"),
        key="missing",
        always=True,
        help="Count or skip documents that the ground truth or a system lacks.",
    )
    fuse_iou: float = setting(0.55, kind="number", key="fuse-iou", help="IoU threshold for fusing boxes of several systems.")
    splits: int = setting(20, kind="count", key="splits", help="Number of random halves of the documents for routing.")
    seed: int = setting(0, kind="count", key="seed", help="Seed of the random halves.")
    by: tuple[str, ...] = setting((), kind="words", view=True, help="Metadata columns to route by, too (A,B).")
    schema: Any = setting(  # a field, as all of them; it takes many forms and keeps text
        "",
        kind="file",
        key="schema",
        metavar="SCHEMA",
        help="Schema of fields: file or FILE.py:Class; default: inferred.",
    )
    id: str = setting("", kind="word", key="id", metavar="KEY", help="Key of a record's id (fields).")
    suspects: int = setting(0, kind="count", view=True, help="Number of suspicious annotations to list.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind not in KINDS:
            if str(self.kind) == "words":
                raise ConfigError(WORDS)
            raise ConfigError(f"task can be {', '.join(KINDS)}, not {self.kind!r}. {did_you_mean(self.kind, KINDS)}".rstrip())
        self._take_schema()
        object.__setattr__(self, "iou", tuple(sorted({float(value) for value in self.iou})))
        object.__setattr__(self, "labels", tuple(sorted(set(self.labels))))
        if not self.iou or not all(0 < value <= 1 for value in self.iou):
            raise ConfigError(f"iou must be above 0 and at most 1, not {list(self.iou)}")
        if not 0 < self.fuse_iou <= 1:
            raise ConfigError(f"fuse_iou must be above 0 and at most 1, not {self.fuse_iou}")
        if self.min_score is not None and not math.isfinite(self.min_score):
            raise ConfigError(f"min_score must be a finite number, not {self.min_score}")
        for name, least in (("splits", 1), ("suspects", 0)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name} must be a whole number from {least}, not {getattr(self, name)}")
        if self.seed + self.splits >= 2**63:
            raise ConfigError(f"seed must leave room for the splits below 2**63, not {self.seed}")
        self._take_files()

    def _take_files(self) -> None:
        if self.systems:
            from calque.ceiling.systems import check_names

            check_names(self.systems)

    def _take_schema(self) -> None:
        if self.schema == "":
            return
        if self.kind == "layout":
            raise ConfigError("a schema is for fields, and the task is layout")
        from calque.fields.schemas.sources import schema_text

        object.__setattr__(self, "kind", "fields")
        object.__setattr__(self, "schema", schema_text(self.schema, accounting="complete"))

    @classmethod
    def measures(cls) -> tuple[Measure, ...]:
        """What `calque explain` knows of this task."""
        from calque.ceiling.measures import MEASURES

        return MEASURES

    @property
    def levels(self) -> tuple[str, ...]:
        """The names of the levels: IoU thresholds, or values."""
        return ("value",) if self.kind == "fields" else tuple(map(repr, self.iou))

    def fields(self) -> Fields:
        """How records are compared."""
        from calque.fields.task import Fields

        return Fields(schema=self.schema, id=self.id)

    def spelled(self, name: str) -> str:
        """A setting's value in the signature: the schema by its digest."""
        return self.fields().spelled(name) if name == "schema" and self.schema else super().spelled(name)

    def _rules(self) -> dict[str, Any]:
        rules = super()._rules()
        return {**rules, "listed_form": "xywh", "scored": False} if self.kind == "layout" else rules

    @renamed_arguments(expected="truth", found="predictions")
    def resolved(self, truth: Any, predictions: Any = None) -> Ceiling:
        """Return the task with the names of the systems, and with a schema for fields."""
        from calque.ceiling.systems import by_name

        task = self
        if self.kind == "fields" and not self.schema:
            task = replace(task, schema=self.fields().resolved(truth).schema)
        return task if predictions is None else replace(task, systems=tuple(by_name(predictions, self.systems)))

    def conflicts(self, other: Task, *, merging: bool = False) -> list[str]:
        """Return the names of systems that differ. Such runs can be compared, but not merged."""
        theirs = getattr(other, "systems", self.systems)
        if not merging or theirs == self.systems:
            return []
        return [f"systems: {', '.join(self.systems)} and {', '.join(theirs)} (name them with --names)"]

    @renamed_arguments(expected="truth", found="predictions")
    def batches(self, truth: Any, predictions: Any, *, jobs: int = 1) -> Iterator[tuple[Corpus, Corpus]]:
        """The truth and all systems."""
        from calque.ceiling.reading import read_sides

        yield read_sides(self, truth, predictions, jobs=jobs)

    @renamed_arguments(expected="truth", found="predictions")
    def score(self, truth: Any, predictions: Systems, *, jobs: int = 1) -> Ledger:
        """What each system makes of each unit, and what they share."""
        if self.kind == "fields":
            from calque.ceiling.fields.scoring import score as score_fields

            return score_fields(self, truth, predictions)
        from calque.ceiling.boxes.scoring import score

        return score(self, truth, predictions, jobs=jobs)

    def coverage(self, ledger: Ledger) -> DocumentCoverage | None:
        """Which documents and pages the sides are about, and whether any truth counts."""
        from calque.ceiling.units import coverage

        return coverage(self, ledger) or super().coverage(ledger)

    def own_code(self) -> tuple[str, ...]:
        """Return the comparators that somebody registered."""
        from calque.comparators.base import named_in

        return (*super().own_code(), *named_in(str(self.schema)))

    def measure(self, ledger: Ledger, *, jobs: int = 1) -> dict[str, Any]:
        """The ladder at every level, what systems share, and what nobody finds."""
        from calque.ceiling.numbers import measure

        return measure(self, ledger, jobs=jobs)

    def issues(self, ledger: Ledger, numbers: Mapping[str, Any], known: tuple[Issue, ...]) -> tuple[Issue, ...]:  # noqa: ARG002  # other tasks need them
        """What there is to remark on systems that cannot help."""
        from calque.ceiling.units import remarks

        return (*known, *remarks(self, ledger))

    def address(self, name: MeasureName) -> tuple[str, ...]:
        """Where a measure stands in the JSON."""
        from calque.ceiling.numbers import address

        return address(self, name)

    def names(self, numbers: Mapping[str, Any]) -> list[str]:
        """Every measure."""
        from calque.ceiling.numbers import names

        return names(numbers)

    def compared(self, numbers: Mapping[str, Any]) -> list[str]:
        """Rungs of the ladder that are sums over documents; routes can be asked for."""
        from calque.ceiling.numbers import compared

        return compared(numbers)

    def primary(self) -> tuple[str, ...]:
        """What a selection could find, at the lowest level."""
        return ("recall" if self.kind == "fields" else f"recall@{self.iou[0]!r}",)

    def outcomes(self, ledger: Ledger, *, threshold: float | None = None) -> Table:
        """One row for each unit, with the systems that have it, at one level (default: the lowest)."""
        from calque.ceiling.outcomes import outcomes

        return outcomes(self, ledger, threshold)

    def resampled(self, ledger: Ledger) -> tuple[WeightedMetrics, ...]:
        """Return quick ways to the numbers of weighted documents."""
        from calque.ceiling.compared import resampled

        return resampled(self, ledger)

    def run_outcomes(self, ledger: Ledger) -> RunOutcomes:
        """Return the outcome of each ground-truth item and the score of each document, for comparisons."""
        from calque.ceiling.compared import run_outcomes

        return run_outcomes(self, ledger)

    def view(self) -> TaskView:
        """Return the functions that show results of this task."""
        from calque.ceiling import outcomes, presentation, report_data
        from calque.evaluation.view import TaskView

        return TaskView(
            columns=presentation.COLUMNS,
            schema=presentation.result_schema,
            sentence=presentation.sentence,
            sections=lambda numbers: presentation.sections(numbers, self.suspects),
            brief=presentation.brief,
            rows=presentation.flat,
            headline=presentation.headline,
            findings=presentation.findings,
            report_data=partial(report_data.report_data, self),
            outcome_rows=partial(outcomes.listed, self),
        )
