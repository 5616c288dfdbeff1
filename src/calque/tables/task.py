"""The tables task: its settings, and where each of its steps lives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from calque.base.arguments import renamed_arguments
from calque.base.errors import ConfigError, did_you_mean
from calque.evaluation.task import Task, normalize_settings, setting

if TYPE_CHECKING:
    from calque.base.columns import Table
    from calque.corpus.boxes import Corpus
    from calque.corpus.tables import TableCorpus
    from calque.evaluation.document_sums import WeightedMetrics
    from calque.evaluation.item_outcomes import RunOutcomes
    from calque.evaluation.ledger import Ledger
    from calque.evaluation.measures import Measure, MeasureName
    from calque.evaluation.nothing_evaluated import DocumentCoverage
    from calque.evaluation.view import TaskView

GROUPS = ("teds", "grits", "adjacency", "cells", "header", "errors")
"""Measures that can be asked for alone."""
TEDS_ALONE = ("pubtabnet", "docling-eval", "omnidocbench", "omnidocbench-1.5")
"""Tools whose TEDS can be reproduced; they have nothing else."""
RATIO_BLOCKS, RATIO_PARTS = ("cells", "adjacency", "header", "dar_con_original", "dar_con"), ("precision", "recall", "f1")
"""Counts of what both sides have, and the ratios that are made of them."""
COMPAT = ("none", *TEDS_ALONE, "table-transformer")


@dataclass(frozen=True, repr=False, kw_only=True)
class Tables(Task):
    r"""Compares the rows, columns, cells and texts of tables, and says where the loss went.

    >>> from calque import Evaluator
    >>> truth = {"d1": "<table><tr><td>a<td>b</table>"}
    >>> result = Evaluator(Tables()).update(truth, {"d1": "| a | c |\n|---|---|"}).compute()
    >>> result["teds"], result["teds_struct"], result["cells_f1"]
    (0.6666666666666667, 1.0, 0.5)
    """

    name: ClassVar[str] = "tables"
    naming: ClassVar[str] = "name documents alike on both sides (files pair by their stem)"

    compat: str = setting(
        "none",
        kind="choice",
        choices=COMPAT,
        key="compat",
        always=True,
        help="Reproduce another tool, with its text rules and metrics only.",
    )
    adjacency: Literal["2013", "2019"] = setting(
        "2013",
        kind="choice",
        choices=("2013", "2019"),
        key="adjacency",
        help="Adjacency relations by text (ICDAR 2013) or by box (2019).",
    )
    adjacency_blanks: Literal["count", "ignore"] = setting(
        "count",
        kind="choice",
        choices=("count", "ignore"),
        key="adjacency-blanks",
        help="Distinguish ICDAR 2013 relations by the blank cells between them.",
    )
    only: tuple[str, ...] = setting((), kind="words", key="only", help=f"Metrics ({','.join(GROUPS)}); default: all.")
    unicode: str = setting(
        "NFC",
        kind="choice",
        choices=("NFC", "NFD", "NFKC", "NFKD", "none"),
        key="unicode",
        always=True,
        help="Unicode normalization of all texts (NFKC turns x² into x2).",
    )
    fold: tuple[str, ...] = setting(
        (), kind="words", key="fold", help="Characters to fold on both sides: ligatures,long_s,dashes,quotes."
    )
    ignore_case: bool = setting(False, kind="switch", key="ignore-case", help="Ignore case.")
    lenient: bool = setting(
        False,
        kind="switch",
        key="lenient",
        help="Keep the later of two cells in one slot and skip bad cells (JSON, XML).",
    )

    def __post_init__(self) -> None:
        normalize_settings(self)
        self._check_choices()

    def _check_choices(self) -> None:
        from calque.base.text_normalization import FOLDS

        for name, known in (("only", GROUPS), ("fold", tuple(FOLDS))):
            listed = getattr(self, name)
            for value in listed:
                if value not in known:
                    hint = did_you_mean(value, known) or f"it can be {', '.join(known)}"
                    raise ConfigError(f"{name}: there is no {value!r}; {hint}")
            object.__setattr__(self, name, tuple(value for value in known if value in listed))
        if self.compat != "none":
            self._check_compat()

    def _check_compat(self) -> None:
        own = [name for name in ("unicode", "fold", "ignore_case") if getattr(self, name) not in ("NFC", (), False)]
        if own:
            raise ConfigError(f"{' and '.join(own)}: compat {self.compat} has text rules of its own; leave one of them out")
        apart = [name for name in self.only if name not in (("teds",) if self.compat in TEDS_ALONE else ("grits", "adjacency"))]
        if apart:
            raise ConfigError(f"only: {self.compat} has no {' and no '.join(apart)}")

    def wants(self, group: str) -> bool:
        """Whether a group of measures is asked for, and there under this compat mode."""
        there = {"none": GROUPS, "table-transformer": ("grits", "adjacency")}.get(self.compat, ("teds",))
        return group in there and (not self.only or group in self.only)

    @renamed_arguments(expected="truth", found="predictions")
    def batches(self, truth: Any, predictions: Any, *, jobs: int = 1) -> Iterator[tuple[Corpus, Corpus]]:  # noqa: ARG002  # a file a time
        """The two sides, their texts made alike."""
        from calque.tables.reading import read_sides

        yield read_sides(self, truth, predictions)

    @renamed_arguments(expected="truth", found="predictions")
    def score(self, truth: TableCorpus, predictions: TableCorpus, *, jobs: int = 1) -> Ledger:
        """The outcome of every table."""
        from calque.tables.scoring import score

        return score(self, truth, predictions, jobs=jobs)

    def coverage(self, ledger: Ledger) -> DocumentCoverage | None:
        """Return the documents of both sides, and why nothing was evaluated if the ground truth has no tables."""
        from calque.evaluation.nothing_evaluated import NO_TRUTH, DocumentCoverage

        found = super().coverage(ledger)
        if found is None or (ledger.table("tables").array("truth") >= 0).any():
            return found
        text = "the truth is empty: it has no tables"
        return DocumentCoverage(found.in_truth, found.in_found, NO_TRUTH, text, "check that the truth comes first")

    def measure(self, ledger: Ledger, *, jobs: int = 1) -> dict[str, Any]:  # noqa: ARG002  # sums of a few columns
        """Means over tables and what stands beside them."""
        from calque.tables.numbers import measure

        return measure(self, ledger)

    def address(self, name: MeasureName) -> tuple[str, ...]:
        """Where a measure stands in the JSON: a bare name is the mean over truth tables."""
        block, _, part = name.name.rpartition("_")
        if name.name == "adjacency_weighted_f1":
            return "micro", "adjacency", "weighted_f1"
        if block in RATIO_BLOCKS and part in RATIO_PARTS:
            threshold = () if name.threshold is None else (repr(name.threshold),)
            return name.scope or "micro", block, *threshold, part
        if name.name == "loss":
            return "errors", name.scope, "loss"
        return name.scope or "mean", name.name

    def names(self, numbers: Mapping[str, Any]) -> list[str]:
        """The means over tables and what stands beside them; a document's own numbers are not of the corpus."""
        scopes = ("with_spurious", "pages", "simple", "complex")
        found = [*numbers["mean"], *(f"{scope}.{name}" for scope in scopes for name in numbers["mean"])]
        found += [f"micro.{name}" for name, value in numbers["micro"].items() if not isinstance(value, Mapping)]
        for name, block in numbers["micro"].items():
            if isinstance(block, Mapping):
                plain = "tp" in block
                suffixes = [""] if plain else [f"@{key}" for key, value in block.items() if isinstance(value, Mapping)]
                found += [f"{name}_{part}{suffix}" for suffix in suffixes for part in RATIO_PARTS]
                found += [] if plain else [f"{name}_weighted_f1"]
        return found

    def compared(self, numbers: Mapping[str, Any]) -> list[str]:
        """The means over tables, and the counts of everything."""
        return [name for name in self.names(numbers) if "." not in name]

    def primary(self) -> tuple[str, ...]:
        """TEDS; where a mode has none, GriTS-Con."""
        return ("teds",) if self.wants("teds") else ("grits_con",) if self.wants("grits") else ()

    def outcomes(self, ledger: Ledger, *, threshold: float | None = None) -> Table:  # noqa: ARG002  # tables have none
        """One row for each table of both sides."""
        from calque.tables.views import outcomes

        return outcomes(self, ledger)

    @classmethod
    def measures(cls) -> tuple[Measure, ...]:
        """Return the definitions that `calque explain` prints."""
        from calque.tables.measures import MEASURES

        return MEASURES

    def resampled(self, ledger: Ledger) -> tuple[WeightedMetrics, ...]:
        """Return quick ways to the numbers of weighted documents."""
        from calque.tables.compared import resampled

        return resampled(self, ledger)

    def run_outcomes(self, ledger: Ledger) -> RunOutcomes:
        """Return the outcome of each ground-truth item and the score of each document, for comparisons."""
        from calque.tables.compared import run_outcomes

        return run_outcomes(self, ledger)

    def view(self) -> TaskView:
        """Return the functions that show results of this task."""
        from calque.evaluation.view import TaskView
        from calque.tables import presentation, report_data

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
