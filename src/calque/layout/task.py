"""The layout task: each ground-truth block takes its best prediction, several may share one, and categories are compared."""

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
    from calque.evaluation.item_outcomes import RunOutcomes
    from calque.evaluation.ledger import Ledger
    from calque.evaluation.metrics import MetricTable
    from calque.evaluation.nothing_evaluated import DocumentCoverage
    from calque.evaluation.view import TaskView


@dataclass(frozen=True, repr=False, kw_only=True)
class Layout(BoxReading, Task):
    """Counts the ground-truth blocks that a prediction covers well enough, and how often its category is right.

    >>> from calque import Corpus, Evaluator
    >>> truth = Corpus.from_arrays([[10, 20, 100, 50], [150, 30, 200, 80]], ["text", "image"], form="xywh")
    >>> predictions = Corpus.from_arrays([[12, 22, 98, 48], [155, 35, 195, 75]], ["text", "table"], form="xywh")
    >>> Evaluator(Layout()).update(truth, predictions).compute()["layout_classification_accuracy"]
    0.5
    """

    name: ClassVar[str] = "layout"
    rows_are_named: ClassVar[bool] = True
    streams: ClassVar[bool] = True
    memory_factor: ClassVar[int] = 16
    fixed: ClassVar[Mapping[str, str]] = {"match": "best-per-truth"}

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

    @classmethod
    def metric_table(cls) -> MetricTable:
        """The declared metrics."""
        from calque.layout.metrics import TABLE

        return TABLE

    def spelled(self, name: str) -> str:
        """Return the value of a setting in the signature."""
        return "xywh in lists" if name == "boxes" and self.boxes == AUTO else super().spelled(name)

    def _rules(self) -> dict[str, Any]:
        return {**super()._rules(), "listed_form": "xywh", "scored": False}

    @renamed_arguments(expected="truth", found="predictions")
    def batches(self, truth: Any, predictions: Any, *, jobs: int = 1) -> Iterator[tuple[Corpus, Corpus]]:
        """Read the two sides; scores are not needed."""
        return self.box_batches(truth, predictions, allow_missing_scores=True, jobs=jobs)

    @renamed_arguments(expected="truth", found="predictions")
    def score(self, truth: BoxCorpus, predictions: BoxCorpus, *, jobs: int = 1) -> Ledger:
        """Match each ground-truth block with its best prediction."""
        from calque.layout.scoring import score

        return score(truth, predictions, self.on, jobs=jobs)

    def coverage(self, ledger: Ledger) -> DocumentCoverage:
        """Return the documents and pages of both sides, and whether any block counts."""
        from calque.evaluation.nothing_evaluated import box_coverage
        from calque.layout.scoring import counted

        return box_coverage(ledger, counted, "blocks")

    def primary(self) -> tuple[str, ...]:
        """How often the category of a matched block is right."""
        return ("layout_classification_accuracy",)

    def outcomes(self, ledger: Ledger, *, threshold: float | None = None) -> Table:
        """Return one row per ground-truth block with the prediction it takes, and one per unused prediction."""
        from calque.layout.scoring import outcomes

        return outcomes(ledger, self.iou if threshold is None else threshold)

    def run_outcomes(self, ledger: Ledger) -> RunOutcomes:
        """Return the outcome of each block, for comparisons."""
        from calque.layout.scoring import run_outcomes

        return run_outcomes(self, ledger)

    def view(self) -> TaskView:
        """Return the functions that show results of this task."""
        from calque.evaluation.view import TaskView
        from calque.layout import presentation
        from calque.layout.metrics import TABLE

        return TaskView(
            schema=lambda: presentation.SLICES.added_to(TABLE.schema()),
            slices=presentation.SLICES,
            rows=TABLE.csv_rows,
            columns=presentation.COLUMNS,
            sections=presentation.sections,
            brief=presentation.brief,
            headline=presentation.headline,
            findings=presentation.findings,
            report_data=partial(presentation.report_data, self),
        )
