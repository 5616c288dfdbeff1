"""Checks as a task: one row for each case and evaluator, so that states, merging and signatures work as everywhere."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from calque.base.arguments import checked_list, renamed_arguments
from calque.base.digests import digest
from calque.base.errors import Issue, Severity
from calque.evaluation.task import Task, normalize_settings, setting

if TYPE_CHECKING:
    from calque.base.columns import Table
    from calque.checks.suites.cases import CaseCorpus, Selection
    from calque.checks.suites.runner import Row
    from calque.corpus.boxes import Corpus, UnitId
    from calque.evaluation.document_sums import WeightedMetrics
    from calque.evaluation.item_outcomes import RunOutcomes
    from calque.evaluation.ledger import Ledger
    from calque.evaluation.measures import Measure, MeasureName
    from calque.evaluation.view import TaskView

TABLE = "checks"
VERDICTS = ("pass", "partial", "fail")
STATUSES = ("ok", "error")


@dataclass(frozen=True, repr=False, kw_only=True)
class Checks(Task):
    """Judges outputs case by case with the evaluators that it is given, each as JSON text.

    >>> from calque.evaluation.evaluator import Evaluator
    >>> from calque.checks.suites.cases import Case, CaseCorpus
    >>> settings = {"type": "iou_score", "bbox_path": "box", "expected_bbox_path": "box"}
    >>> cases = CaseCorpus(cases=(Case("one", {"box": [0, 0, 2, 2]}, {"box": [0, 0, 2, 1]}),))
    >>> result = Evaluator(Checks.of([settings])).update(cases, cases).compute()
    >>> result["score"], result["partial"]
    (0.5, 1)
    """

    name: ClassVar[str] = "checks"
    streams: ClassVar[bool] = True
    lower_is_better: ClassVar[frozenset[str]] = frozenset({"fail", "error", "partial_failed"})
    neutral: ClassVar[frozenset[str]] = frozenset({"cases", "partial"})

    evaluators: tuple[str, ...] = setting((), kind="words", key="evaluators", always=True, help="Evaluators, as JSON.")
    own: tuple[tuple[str, str], ...] = setting(
        (), kind="uses", key="own", flag="--evaluator", help="Evaluators of one's own, by name, and a digest of their code."
    )
    ids: tuple[str, ...] = setting(
        (), kind="uses", key="filter", flag="--filter", help="Only cases with these ids; * and ? stand for anything."
    )
    tags: tuple[str, ...] = setting((), kind="uses", key="tag", flag="--tag", help="Only cases with any of these tags.")
    only: Any = setting(  # a field, as all of them; it takes a file or a list and keeps a list
        None, kind="path", key="rerun-failed", flag="--rerun-failed", help="Run only cases that failed in an earlier result."
    )

    partial: Literal["fail", "pass"] = setting(
        "fail",
        kind="choice",
        choices=("fail", "pass"),
        key="partial",
        help="What a partial result is where a threshold was given.",
    )
    gate: str = setting("", kind="word", view=True, help="What must hold, as JSON. Default: no case may fail.")

    def __post_init__(self) -> None:
        normalize_settings(self)
        for name in ("own", "ids", "tags"):
            object.__setattr__(self, name, tuple(sorted(set(getattr(self, name)))))
        if self.only is not None:
            from calque.checks.suites.cases import failed_ids
            from calque.corpus.boxes import canonical

            if isinstance(self.only, str | os.PathLike):
                listed = set(failed_ids(self.only))
            else:
                listed = set(checked_list("Checks", "only", self.only, Hashable, "a list of ids"))
            object.__setattr__(self, "only", tuple(sorted(listed, key=canonical)))

    @classmethod
    def of(cls, configs: Iterable[Mapping[str, Any]], **settings: Any) -> Checks:
        """The task with evaluators from their settings."""
        texts = (json.dumps(config, sort_keys=True, ensure_ascii=False, separators=(",", ":")) for config in configs)
        return cls(evaluators=tuple(texts), **settings)

    def selection(self) -> Selection:
        """Which cases are judged."""
        from calque.checks.suites.cases import Selection

        return Selection(self.ids, self.tags, None if self.only is None else frozenset(self.only))

    def spelled(self, name: str) -> str:
        """A setting's value in the signature: long lists by their digest."""
        if name == "own":
            return ",".join(f"{name}={code}" for name, code in self.own) or "none"
        if name == "evaluators" and self.evaluators:
            listed = "\n".join(self.evaluators)
            return f"{len(self.evaluators)} ({digest(listed)})"
        if name != "only" or self.only is None:
            return super().spelled(name)
        return f"{len(self.only)} listed ({digest(json.dumps(self.only))})"

    @renamed_arguments(expected="truth", found="predictions")
    def batches(self, truth: Any, predictions: Any, *, jobs: int = 1) -> Iterator[tuple[Corpus, Corpus]]:  # noqa: ARG002  # they are read
        """The cases that are wanted. Both sides must be case corpora; they may be one and the same."""
        from calque.checks.suites.cases import CaseCorpus

        for side in (truth, predictions):
            if not isinstance(side, CaseCorpus):
                raise TypeError(f"checks take a CaseCorpus, as Suite.corpus() makes, not a {type(side).__name__}")
        wanted = self.selection()
        # A case is wanted for what the truth says of it; only one that the truth does not know speaks for itself.
        left_out = {case.id for case in truth.cases if not wanted.wants(case)}
        stray = {case.id for case in predictions.cases if not wanted.wants(case)} - set(truth.units())
        yield truth.without(left_out), predictions.without(left_out | stray)

    @renamed_arguments(expected="truth", found="predictions")
    def score(self, truth: CaseCorpus, predictions: CaseCorpus, *, jobs: int = 1) -> Ledger:
        """Every case under every evaluator. A case that one side lacks has no output, or nothing to expect."""
        from calque.checks.suites.runner import Bench, run

        outputs = {case.id: case for case in predictions.cases}
        truths = {case.id: case for case in truth.cases}
        cases = [replace(case, output=outputs[case.id].output if case.id in outputs else None) for case in truth.cases]
        cases += [replace(case, expected=None) for case in predictions.cases if case.id not in truths]
        bench = Bench([json.loads(text) for text in self.evaluators], file=truth.source, partial=self.partial)
        return ledger_of([row for judged in run(bench, cases, jobs) for row in judged.rows])

    def measure(self, ledger: Ledger, *, jobs: int = 1) -> dict[str, Any]:  # noqa: ARG002  # sums take no time
        """The summary, and the numbers of each evaluator."""
        from calque.checks.numbers import numbers

        return numbers(ledger)

    def _additions(self, ledger: Ledger) -> dict[str, Any]:
        """Every result, and whether the gate holds."""
        from calque.evaluation.measures import settle

        numbers = settle(self.measure(ledger))[0]
        failures, lost = self._failures(numbers), numbers["summary"]["error"]
        told = failures or ([f"{lost:,} case{'' if lost == 1 else 's'} could not be judged"] if lost else [])
        return {"results": list(results(ledger)), "gate": {"passed": not told, "failures": told}}

    def _failures(self, numbers: Mapping[str, Any]) -> list[str]:
        """What does not hold of the gate."""
        from calque.checks.suites.gate import Gate

        return Gate.from_text(self.gate).failures(numbers)

    def conflicts(self, other: Task, *, merging: bool = False) -> list[str]:  # noqa: ARG002  # both need one gate
        """Return whether the gates of the two suites differ."""
        return [] if self.gate == getattr(other, "gate", "") else ["the gates of their suites differ"]

    def issues(self, ledger: Ledger, numbers: Mapping[str, Any], known: tuple[Issue, ...]) -> tuple[Issue, ...]:  # noqa: ARG002  # other tasks need them
        """Cases that could not be judged."""
        broken = sorted(
            {
                str(ledger.units[unit])
                for rows in ledger.chunks(TABLE, "status")
                for unit in rows.array("unit")[rows.array("status") == STATUSES.index("error")].tolist()
            }
        )
        if not broken:
            return known
        named = ", ".join(broken[:5]) + (" …" if len(broken) > 5 else "")
        message = f"could not be judged: {named}"
        return (*known, Issue("case-error", message, help="see their reasoning", severity=Severity.LOSS, count=len(broken)))

    def address(self, name: MeasureName) -> tuple[str, ...]:
        """``score``, ``pass_rate``, ``pass`` …; of one evaluator ``score/NAME``."""
        return ("summary", name.name) if name.label is None else ("evaluators", name.label, name.name)

    def names(self, numbers: Mapping[str, Any]) -> list[str]:
        """The numbers of all cases, and those of each evaluator."""
        own = numbers["evaluators"].items()
        return [*numbers["summary"], *(f"{name}/{evaluator}" for evaluator, block in own for name in block)]

    def primary(self) -> tuple[str, ...]:
        """The mean score."""
        return ("score",)

    def outcomes(self, ledger: Ledger, *, threshold: float | None = None) -> Table:  # noqa: ARG002  # verdicts are settled
        """One row for each case and evaluator."""
        from calque.base.columns import Strings, Table

        table = ledger.table(TABLE)
        listed = list(results(ledger))
        texts = {
            key: [str(row.get(key, "")) for row in listed] for key in ("id", "evaluator", "verdict", "status", "reasoning")
        }
        columns: dict[str, Any] = {key: Strings.pack(values) for key, values in texts.items()}
        order = _order(table)
        return Table({**columns, "score": table.array("score")[order]})

    @classmethod
    def measures(cls) -> tuple[Measure, ...]:
        """Return the definitions that `calque explain` prints."""
        from calque.checks.numbers import MEASURES

        return MEASURES

    def resampled(self, ledger: Ledger) -> tuple[WeightedMetrics, ...]:
        """Return quick ways to the numbers of weighted documents."""
        from calque.checks.compared import resampled

        return resampled(self, ledger)

    def run_outcomes(self, ledger: Ledger) -> RunOutcomes:
        """Return the outcome of each ground-truth item and the score of each document, for comparisons."""
        from calque.checks.compared import run_outcomes

        return run_outcomes(self, ledger)

    def view(self) -> TaskView:
        """Return the functions that show results of this task."""
        from calque.checks import presentation, report_data
        from calque.evaluation.view import TaskView

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
            outcome_rows=results,
            additions=self._additions,
            failures=self._failures,
            test_cases=lambda ledger: presentation.tests(list(results(ledger)), self.name),
        )


def ledger_of(rows: Sequence[Row]) -> Ledger:
    """The rows as columns, sorted by case."""
    import numpy as np

    from calque.base.columns import Strings, Table
    from calque.corpus.boxes import canonical
    from calque.evaluation.ledger import UNIT, Ledger

    units: tuple[UnitId, ...] = tuple(sorted({row.case.id for row in rows}, key=canonical))
    code = {unit: position for position, unit in enumerate(units)}
    ordered = sorted(rows, key=lambda row: code[row.case.id])
    names = tuple(sorted({row.evaluator for row in rows}))
    name_code = {name: position for position, name in enumerate(names)}
    details = [_written(_details(row)) for row in ordered]
    table = Table({
        UNIT: np.array([code[row.case.id] for row in ordered], dtype=np.int32),
        "evaluator": np.array([name_code[row.evaluator] for row in ordered], dtype=np.int32),
        "score": np.array([row.outcome.score for row in ordered], dtype=np.float64),
        "weight": np.array([row.weight for row in ordered], dtype=np.float64),
        "verdict": np.array([VERDICTS.index(row.outcome.verdict) for row in ordered], dtype=np.uint8),
        "status": np.array([STATUSES.index(row.outcome.status) for row in ordered], dtype=np.uint8),
        "failed_in_part": np.array([row.failed_in_part for row in ordered], dtype=np.bool_),
        "position": np.array([row.case.position for row in ordered], dtype=np.int64),
        "detail": Strings.pack(details),
    })  # fmt: skip
    return Ledger(units=units, tables={TABLE: table}, names={"evaluator": names}, details=frozenset({(TABLE, "detail")}))


def _details(row: Row) -> dict[str, Any]:
    said = row.outcome
    kept = {
        "hits": said.hits,
        "misses": said.misses,
        "reasoning": said.reasoning,
        "metadata": said.metadata,
        "place": row.case.place,
    }
    return kept | {"shapes": row.shapes} if row.shapes else kept


def _written(details: Mapping[str, Any]) -> str:
    """JSON text, in a fraction of the time that the usual way takes; what only that can write is left to it."""
    import msgspec

    try:
        return msgspec.json.encode(details).decode()
    except (TypeError, ValueError, UnicodeError):  # half of a surrogate pair, whole numbers of hundreds of digits
        return json.dumps(details, ensure_ascii=False, allow_nan=False)


def _read(text: str) -> dict[str, Any]:
    import msgspec

    try:
        told: dict[str, Any] = msgspec.json.decode(text)
    except (ValueError, UnicodeError):
        told = json.loads(text)
    return told


def _order(table: Table) -> Any:
    """Rows as they stood in their file; where shards have the same position, by case."""
    import numpy as np

    return np.argsort(table.array("position"), kind="stable")


def results(ledger: Ledger) -> Iterator[dict[str, Any]]:
    """Every row of a ledger in its JSON form, in the order of the file."""
    table = ledger.table(TABLE)
    names = ledger.names["evaluator"]
    columns = {key: table.array(key).tolist() for key in ("unit", "evaluator", "score", "verdict", "status")}
    details = table.get("detail")
    short = table.array("failed_in_part").tolist() if "failed_in_part" in table else [False] * table.height
    for row in _order(table).tolist():
        told = _read(details[row]) if details is not None else {}
        for key in ("place", "shapes"):
            told.pop(key, None)
        yield {
            "id": ledger.units[columns["unit"][row]],
            "evaluator": names[columns["evaluator"][row]],
            "score": columns["score"][row],
            "verdict": VERDICTS[columns["verdict"][row]],
            **told,
            "status": STATUSES[columns["status"][row]],
            **({"failed": True} if short[row] else {}),
        }
