"""The layout task: each true block takes its best prediction, many may share one, and categories are compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from calque.base.arguments import renamed_arguments
from calque.base.errors import ConfigError
from calque.evaluation.boxes.reading import BoxReading
from calque.evaluation.task import Task, setting
from calque.geometry.forms import AUTO, BOX_SPELLINGS

if TYPE_CHECKING:
    from calque.base.columns import Table
    from calque.corpus.boxes import BoxCorpus, Corpus
    from calque.evaluation.document_sums import WeightedMetrics
    from calque.evaluation.item_outcomes import RunOutcomes
    from calque.evaluation.ledger import Ledger
    from calque.evaluation.measures import Measure, MeasureName
    from calque.evaluation.nothing_evaluated import Ground
    from calque.evaluation.view import TaskView


@dataclass(frozen=True, repr=False, kw_only=True)
class Layout(BoxReading, Task):
    """Counts the true blocks that a prediction covers well enough, and how often its category is right.

    >>> from calque import Corpus, Evaluator
    >>> truth = Corpus.from_arrays([[10, 20, 100, 50], [150, 30, 200, 80]], ["text", "image"], form="xywh")
    >>> predictions = Corpus.from_arrays([[12, 22, 98, 48], [155, 35, 195, 75]], ["text", "table"], form="xywh")
    >>> Evaluator(Layout()).update(truth, predictions).compute()["layout_classification_accuracy"]
    0.5
    """

    name: ClassVar[str] = "layout"
    rows_are_named: ClassVar[bool] = True
    by_chunks: ClassVar[bool] = True
    roomy: ClassVar[int] = 16
    fixed: ClassVar[Mapping[str, str]] = {"match": "best-per-truth"}
    neutral: ClassVar[frozenset[str]] = frozenset({"layout_total_blocks"})

    iou: float = setting(0.5, kind="number", key="iou", always=True, help="IoU threshold of a match.")
    boxes: Literal["auto", "xyxy", "xywh", "cxcywh", "polygon"] = setting(
        AUTO,
        kind="choice",
        choices=(AUTO, *BOX_SPELLINGS),
        key="boxes",
        always=True,
        help="Box coordinates; auto: as declared, or xywh in lists and xyxy in NDJSON.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.iou <= 1:
            raise ConfigError(f"iou must be from 0 to 1, not {self.iou}")

    def told(self, name: str) -> str:
        """A setting's value in the signature."""
        return "xywh in lists" if name == "boxes" and self.boxes == AUTO else super().told(name)

    def _rules(self) -> dict[str, Any]:
        return {**super()._rules(), "listed_form": "xywh", "scored": False}

    @renamed_arguments(expected="truth", found="predictions")
    def batches(self, truth: Any, predictions: Any, *, jobs: int = 1) -> Iterator[tuple[Corpus, Corpus]]:
        """The two sides; scores do not matter here."""
        return self.box_batches(truth, predictions, allow_missing_scores=True, jobs=jobs)

    @renamed_arguments(expected="truth", found="predictions")
    def score(self, truth: BoxCorpus, predictions: BoxCorpus, *, jobs: int = 1) -> Ledger:
        """What each block was paired with."""
        from calque.layout.scoring import score

        return score(truth, predictions, self.on, jobs=jobs)

    def ground(self, ledger: Ledger) -> Ground:
        """Which documents and pages the two sides are about, and whether any block counts."""
        from calque.evaluation.nothing_evaluated import box_ground
        from calque.layout.scoring import counted

        return box_ground(ledger, counted, "blocks")

    def measure(self, ledger: Ledger, *, jobs: int = 1) -> dict[str, Any]:  # noqa: ARG002  # nothing here takes long
        """Blocks found and categories right: in all, by class, by document, and the confusion."""
        from calque.layout.numbers import measure

        return measure(ledger, self.iou)

    def address(self, name: MeasureName) -> tuple[str, ...]:
        """Where a measure stands in the JSON."""
        return (name.name,) if name.label is None else ("per_class", name.label, name.name)

    def names(self, numbers: Mapping[str, Any]) -> list[str]:
        """The numbers of all blocks, and those of each class."""
        return [*super().names(numbers), *(f"{name}/{label}" for label, own in numbers["per_class"].items() for name in own)]

    def primary(self) -> tuple[str, ...]:
        """How often the category of a matched block is right."""
        return ("layout_classification_accuracy",)

    def outcomes(self, ledger: Ledger, *, threshold: float | None = None) -> Table:
        """One row for each true block, with the prediction it took."""
        from calque.layout.numbers import outcomes

        return outcomes(ledger, self.iou if threshold is None else threshold)

    @classmethod
    def measures(cls) -> tuple[Measure, ...]:
        """Return the definitions that `calque explain` prints."""
        from calque.layout.numbers import MEASURES

        return MEASURES

    def resampled(self, ledger: Ledger) -> tuple[WeightedMetrics, ...]:
        """Return quick ways to the numbers of weighted documents."""
        from calque.layout.compared import resampled

        return resampled(self, ledger)

    def run_outcomes(self, ledger: Ledger) -> RunOutcomes:
        """Return the outcome of each ground-truth item and the score of each document, for comparisons."""
        from calque.layout.compared import run_outcomes

        return run_outcomes(self, ledger)

    def view(self) -> TaskView:
        """Return the functions that show results of this task."""
        from calque.evaluation.view import TaskView
        from calque.layout import presentation, report_data

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
        )
