"""The reading order task: compares the order in which blocks are read with the true one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from calque.base.arguments import renamed_arguments
from calque.base.errors import ConfigError
from calque.evaluation.task import Task, normalize_settings, setting

if TYPE_CHECKING:
    from calque.base.columns import Table
    from calque.base.errors import Issue
    from calque.corpus.boxes import Corpus
    from calque.corpus.orders import OrderCorpus
    from calque.evaluation.item_outcomes import RunOutcomes
    from calque.evaluation.ledger import Ledger
    from calque.evaluation.metrics import MetricTable
    from calque.evaluation.nothing_evaluated import DocumentCoverage
    from calque.evaluation.view import TaskView

FURNITURE = ("header", "footer", "page-header", "page-footer", "page-number")


@dataclass(frozen=True, repr=False, kw_only=True)
class Order(Task):
    """Compares the order in which blocks are read with the true one, page by page.

    >>> from calque import Evaluator
    >>> rows = [{"doc_id": "d", "order": ["a", "b", "c"]}], [{"doc_id": "d", "order": ["a", "c", "b"]}]
    >>> result = Evaluator(Order()).update(*rows).compute()
    >>> result["pairs"], result["successors"], result["footrule"], result["edit"]
    (0.6666666666666666, 0.0, 0.5, 0.33333333333333337)
    """

    name: ClassVar[str] = "order"
    naming: ClassVar[str] = "name documents alike on both sides"

    pair: Literal["cover", "iou", "id"] = setting(
        "cover",
        kind="choice",
        choices=("cover", "iou", "id"),
        key="pair",
        always=True,
        help="Matching of blocks: by containment, one to one by IoU, or by id.",
    )
    iou: float = setting(0.5, kind="number", key="iou", help="IoU threshold of a match.")
    furniture: tuple[str, ...] = setting(
        FURNITURE, kind="words", key="furniture", help="Labels outside the columns, such as headers (none: no label)."
    )

    def __post_init__(self) -> None:
        normalize_settings(self)
        if not 0 < self.iou <= 1:
            raise ConfigError(f"iou must be above 0 and at most 1, not {self.iou}")
        plain = [label.lower().replace("_", "-") for label in self.furniture]
        object.__setattr__(self, "furniture", tuple(dict.fromkeys(label for label in plain if label != "none")))

    @classmethod
    def metric_table(cls) -> MetricTable:
        """The declared metrics."""
        from calque.order.metrics import TABLE

        return TABLE

    @renamed_arguments(expected="truth", found="predictions")
    def batches(self, truth: Any, predictions: Any, *, jobs: int = 1) -> Iterator[tuple[Corpus, Corpus]]:  # noqa: ARG002  # a file a time
        """The two sides."""
        from calque.readers.orders.files import read_sides

        yield read_sides(truth, predictions)

    @renamed_arguments(expected="truth", found="predictions")
    def score(self, truth: OrderCorpus, predictions: OrderCorpus, *, jobs: int = 1) -> Ledger:
        """The outcome of every block."""
        from calque.order.scoring import score

        return score(self, truth, predictions, jobs)

    def coverage(self, ledger: Ledger) -> DocumentCoverage | None:
        """Return the documents of both sides, and why nothing was evaluated if the ground truth orders no blocks."""
        from calque.evaluation.nothing_evaluated import NO_TRUTH, DocumentCoverage

        found = super().coverage(ledger)
        if found is None or ledger.table("pages").array("truth").any():
            return found
        text = "the truth is empty: no block has a place in a reading order"
        help = "check that the truth comes first and that its pages have an order"
        return DocumentCoverage(found.in_truth, found.in_found, NO_TRUTH, text, help)

    def issues(self, ledger: Ledger, numbers: Mapping[str, Any], known: tuple[Issue, ...]) -> tuple[Issue, ...]:  # noqa: ARG002  # other tasks need them
        """A note where both sides have blocks, and none of one is any of the other."""
        from calque.order.scoring import remarks

        return (*known, *remarks(ledger))

    def primary(self) -> tuple[str, ...]:
        """The way as a whole, and the next step."""
        return ("pairs", "successors")

    def outcomes(self, ledger: Ledger, *, threshold: float | None = None) -> Table:  # noqa: ARG002  # blocks have none
        """One row for each true block, and one for each break."""
        from calque.order.scoring import outcomes

        return outcomes(ledger)

    def run_outcomes(self, ledger: Ledger) -> RunOutcomes:
        """Return the outcome of each ground-truth item and the score of each document, for comparisons."""
        from calque.order.scoring import run_outcomes

        return run_outcomes(self, ledger)

    def view(self) -> TaskView:
        """Return the functions that show results of this task."""
        from calque.evaluation.view import TaskView
        from calque.order import presentation
        from calque.order.metrics import TABLE

        return TaskView(
            schema=lambda: presentation.SLICES.added_to(TABLE.schema()),
            rows=TABLE.csv_rows,
            columns=presentation.COLUMNS,
            sections=presentation.sections,
            brief=presentation.brief,
            slices=presentation.SLICES,
            headline=presentation.headline,
            findings=presentation.findings,
            report_data=partial(presentation.report_data, self),
            with_pages=presentation.with_pages,
        )
