"""The reading order task: its settings, and where each of its steps lives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from calque.base.arguments import renamed_arguments
from calque.base.errors import ConfigError
from calque.evaluation.task import Task, setting, take_in

if TYPE_CHECKING:
    from calque.base.columns import Table
    from calque.base.errors import Issue
    from calque.corpus.boxes import Corpus
    from calque.corpus.orders import OrderCorpus
    from calque.evaluation.document_sums import WeightedMetrics
    from calque.evaluation.item_outcomes import RunOutcomes
    from calque.evaluation.ledger import Ledger
    from calque.evaluation.measures import Measure, MeasureName
    from calque.evaluation.nothing_evaluated import Ground
    from calque.evaluation.view import TaskView

FURNITURE = ("header", "footer", "page-header", "page-footer", "page-number")
FOUR = ("pairs", "successors", "footrule", "edit")
PROFILES = ("docling_ard", "omnidocbench_edit")


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
    lower_is_better: ClassVar[frozenset[str]] = frozenset({"omnidocbench_edit", "moves"})

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
        take_in(self)
        if not 0 < self.iou <= 1:
            raise ConfigError(f"iou must be above 0 and at most 1, not {self.iou}")
        plain = [label.lower().replace("_", "-") for label in self.furniture]
        object.__setattr__(self, "furniture", tuple(dict.fromkeys(label for label in plain if label != "none")))

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

    def measure(self, ledger: Ledger, *, jobs: int = 1) -> dict[str, Any]:  # noqa: ARG002  # sums of a few columns
        """The four numbers over all pages and as their mean, counts, breaks, and each document's own."""
        from calque.order.numbers import measure

        return measure(ledger)

    def ground(self, ledger: Ledger) -> Ground | None:
        """Return the documents of both sides, and why nothing was evaluated if the ground truth orders no blocks."""
        from calque.evaluation.nothing_evaluated import NO_TRUTH, Ground

        found = super().ground(ledger)
        if found is None or ledger.table("pages").array("truth").any():
            return found
        text = "the truth is empty: no block has a place in a reading order"
        help = "check that the truth comes first and that its pages have an order"
        return Ground(found.in_truth, found.in_found, NO_TRUTH, text, help)

    def issues(self, ledger: Ledger, numbers: Mapping[str, Any], known: tuple[Issue, ...]) -> tuple[Issue, ...]:  # noqa: ARG002
        """A note where both sides have blocks, and none of one is any of the other."""
        from calque.order.scoring import remarks

        return (*known, *remarks(ledger))

    def address(self, name: MeasureName) -> tuple[str, ...]:
        """Where a measure stands in the JSON: a bare name is over all pages together."""
        if name.label is not None:
            return "documents", name.label, name.name
        if name.name in PROFILES:
            return "profiles", name.name
        if name.name == "moves":
            return "counts", name.name
        return {"": "micro", "macro_pages": "macro"}.get(name.scope, name.scope), name.name

    def names(self, numbers: Mapping[str, Any]) -> list[str]:
        """List the four metrics over all pages, their means over pages and over documents, and those of other tools."""
        return [*self.compared(numbers), *PROFILES, "moves"]

    def compared(self, numbers: Mapping[str, Any]) -> list[str]:  # noqa: ARG002  # they are always the same
        """List the four metrics over all pages, and their means over pages and over documents."""
        return [*FOUR, *(f"{scope}.{name}" for scope in ("macro", "macro_documents") for name in FOUR)]

    def primary(self) -> tuple[str, ...]:
        """The way as a whole, and the next step."""
        return ("pairs", "successors")

    def outcomes(self, ledger: Ledger, *, threshold: float | None = None) -> Table:  # noqa: ARG002  # blocks have none
        """One row for each true block, and one for each break."""
        from calque.order.scoring import outcomes

        return outcomes(ledger)

    @classmethod
    def measures(cls) -> tuple[Measure, ...]:
        """Return the definitions that `calque explain` prints."""
        from calque.order.numbers import MEASURES

        return MEASURES

    def resampled(self, ledger: Ledger) -> tuple[WeightedMetrics, ...]:
        """Return quick ways to the numbers of weighted documents."""
        from calque.order.compared import resampled

        return resampled(self, ledger)

    def run_outcomes(self, ledger: Ledger) -> RunOutcomes:
        """Return the outcome of each ground-truth item and the score of each document, for comparisons."""
        from calque.order.compared import run_outcomes

        return run_outcomes(self, ledger)

    def view(self) -> TaskView:
        """Return the functions that show results of this task."""
        from calque.evaluation.view import TaskView
        from calque.order import presentation, report_data

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
