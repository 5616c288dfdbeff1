"""A result: numbers, tables, outcomes and the signature, ready to be printed, exported and compared."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from calque.base.columns import Table
from calque.base.errors import Issue, Severity, summarize
from calque.base.short_repr import one_line
from calque.evaluation.ledger import Ledger
from calque.evaluation.measures import MeasureName, settle
from calque.evaluation.metric_names import metric_path, metric_value
from calque.evaluation.nothing_evaluated import CODES, NO_COMMON_DOCUMENT, NO_COMMON_PAGE, unevaluated
from calque.evaluation.presentation.sections import Section, to_html, to_text, with_reasons
from calque.evaluation.signature import Signature
from calque.evaluation.slices import measure_slices
from calque.evaluation.task import Task
from calque.evaluation.verdict import NO_VERDICT, Verdict

if TYPE_CHECKING:
    from calque.evaluation.presentation.ci_servers import CiTestCase


def strict_json(value: Any, margin: str = "") -> str:
    """JSON that any reader takes, with each key of an object on a line of its own.

    >>> print(strict_json({"recall": [0.5, None], "undefined": {}}))
    {
      "recall": [0.5, null],
      "undefined": {}
    }
    """
    if not value or not (type(value) is dict or isinstance(value, Mapping)):
        return on_one_line(value)
    inner = margin + "  "
    # Most of a result are numbers: `repr` spells them as the encoder does, ten times as fast.
    lines = [
        f"{inner}{_text(str(key))}: "
        f"{repr(item) if type(item) is int or (type(item) is float and isfinite(item)) else strict_json(item, inner)}"
        for key, item in value.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n" + margin + "}"


_text = json.encoder.encode_basestring
on_one_line = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
"""Made once: `json.dumps` makes an encoder for every value, and a result has one number for each document."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Which files and models the two sides came from, for headings."""

    truth: tuple[tuple[str, str], ...] = ()
    """Pairs of file and model, sorted."""
    predictions: tuple[tuple[str, str], ...] = ()

    def __or__(self, other: Sources) -> Sources:
        return Sources(
            tuple(sorted({*self.truth, *other.truth})),
            tuple(sorted({*self.predictions, *other.predictions})),
        )

    def renamed(self, files: Mapping[str, str]) -> Sources:
        """The same with other names for these files."""
        truth, predictions = (
            tuple(sorted((files.get(file, file), model) for file, model in side)) for side in (self.truth, self.predictions)
        )
        return Sources(truth, predictions)

    def to_dict(self) -> dict[str, list[dict[str, str]]]:
        """The JSON form."""
        return {
            side: [{"file": file, "model": model} for file, model in getattr(self, side)] for side in ("truth", "predictions")
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Sources:
        """The sources that `to_dict` wrote."""
        return cls(**{side: tuple((entry["file"], entry["model"]) for entry in entries) for side, entries in data.items()})


@dataclass(frozen=True, slots=True, eq=False)
class Addition:
    """What was found out about a result besides its numbers: intervals, say."""

    key: str
    """Its place in the JSON."""
    tree: Mapping[str, Any]
    sections: Sequence[Section] = ()
    brief: Sequence[Section] = ()
    rows: Sequence[Mapping[str, Any]] = ()
    """For spreadsheets."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """What the signature says of it."""


NO_SOURCES = Sources()


def _nothing(task: Task, ledger: Ledger, sources: Sources) -> Issue | None:
    """Why nothing was evaluated, if nothing was."""
    coverage = task.coverage(ledger)
    if coverage is None:
        return None
    truth, found = (side[0][0] if len(side) == 1 else "" for side in (sources.truth, sources.predictions))
    only_both = getattr(task, "missing", "") == "intersect"
    images = hasattr(task, "document_key")
    return unevaluated(coverage, ledger.units, truth, found, naming=task.naming, intersect=only_both, coco=images)


def _told(text: str) -> list[Section]:
    return [Section(title="", notes=[text])] if text else []


RESULT_NAMES = (
    "brief", "failures", "flat", "incomplete", "issues", "measures", "numbers", "outcomes", "plot", "report", "signature",
    "sources", "spreadsheet", "task", "template", "to_dict", "to_json", "undefined", "unevaluated", "verdict", "why_undefined",
)  # fmt: skip
"""The attributes and methods of a result that are for users; the others serve the command line and the report."""


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """The metrics, the outcomes and the signature of an evaluation. `Evaluator.compute` returns it.

    Index it by the name of a metric: ``result["recall@0.5"]``, ``result["recall@0.5/Table"]`` or
    ``result["Table", "recall@0.5"]``. A metric without a value is ``None``; `why_undefined` gives the reason.

    >>> from calque import Evaluator, Words
    >>> result = Evaluator(Words()).update({"page 1": "a b"}, {"page 1": "a"}).compute()
    >>> result["recall"], result["precision"], result.outcomes().height
    (0.5, 1.0, 3)
    """

    task: Task
    ledger: Ledger
    numbers: Mapping[str, Any]
    undefined: Mapping[str, str]
    """Why numbers are ``None``, by their dotted path in the JSON."""
    issues: tuple[Issue, ...] = ()
    sources: Sources = NO_SOURCES
    additions: tuple[Addition, ...] = ()
    verdict: Verdict = NO_VERDICT
    """What gates say of it, where there are some."""

    @classmethod
    def of(
        cls, task: Task, ledger: Ledger, issues: tuple[Issue, ...] = (), sources: Sources = NO_SOURCES, *, jobs: int = 1
    ) -> Result:
        """The result of a ledger under its task."""
        numbers, undefined = settle({**task.measure(ledger, jobs=jobs), **measure_slices(task, ledger)})
        nothing = _nothing(task, ledger, sources)
        if nothing is not None:
            # Said once, and first: what readers noticed of it is in there.
            issues = (nothing, *(issue for issue in issues if issue.code != nothing.code))
            if nothing.code in (NO_COMMON_DOCUMENT, NO_COMMON_PAGE):  # "no predictions" would be untrue
                undefined = dict.fromkeys(undefined, "nothing was evaluated")
        return cls(task, ledger, numbers, undefined, task.issues(ledger, numbers, issues), sources)

    @property
    def signature(self) -> Signature:
        """The task, the version of calque and every setting that can change a metric."""
        signature = self.task.signature()
        added = {key: value for addition in self.additions for key, value in addition.settings.items()}
        return replace(signature, settings={**signature.settings, **added}) if added else signature

    def adding(self, addition: Addition) -> Result:
        """The same result with what was found out about it."""
        return replace(self, additions=(*self.additions, addition))

    @property
    def incomplete(self) -> bool:
        """Whether some items could not be evaluated."""
        return any(issue.severity is Severity.LOSS for issue in self.issues)

    @property
    def unevaluated(self) -> Issue | None:
        """Why calque evaluated nothing, such as no common document or an empty ground truth; else ``None``."""
        return next((issue for issue in self.issues if issue.code in CODES and issue.severity is Severity.LOSS), None)

    @property
    def failures(self) -> list[str]:
        """The gates that failed, one line each. `gated` sets gates; a suite of checks has its own."""
        return [*self.verdict.failures, *self.task.view().failures(self.numbers)]

    def __getitem__(self, key: str | tuple[str, str]) -> float | None:
        label, text = key if isinstance(key, tuple) and len(key) == 2 else (None, key)
        if not isinstance(text, str) or not isinstance(label, str | None):
            raise TypeError(f"a result is indexed by the name of a metric, got {key!r}. Write result['recall'], for example.")
        name = MeasureName.parse(text if label is None else f"{text}/{label}")
        return metric_value(self.task, self.numbers, name)  # type: ignore[no-any-return]  # the tree is plain JSON

    def measures(self) -> dict[str, float | None]:
        """Return every metric that has a name, by its name. A metric without a value is ``None``."""
        return {name: self[name] for name in self.task.names(self.numbers)}

    def why_undefined(self, name: str) -> str:
        """Return the reason why a metric is ``None``.

        Args:
            name: The name of the metric, as in `measures`.

        Returns:
            The reason, or an empty string if the metric has a value.
        """
        path = metric_path(self.task, MeasureName.parse(name))
        return self.undefined.get(".".join(map(str, path)), "")

    def to_dict(self) -> dict[str, Any]:
        """Return the result without its outcomes, as plain JSON values."""
        signature = self.signature
        return {
            "task": self.task.name,
            "version": signature.version,
            "signature": str(signature),
            "settings": dict(signature.settings),
            "sources": self.sources.to_dict(),
            **self.numbers,
            **self.task.view().additions(self.ledger),
            **{addition.key: addition.tree for addition in self.additions},
            **self.verdict.to_dict(self.failures if self.verdict else ()),
            "undefined": dict(self.undefined),
            "issues": [issue.to_dict() for issue in summarize(self.issues)],
        }

    def to_json(self) -> str:
        """Return the result without its outcomes as strict JSON, without NaN and Infinity."""
        return strict_json(self.to_dict())

    def outcomes(self, *, threshold: float | None = None) -> Table:
        """Return one row for each ground-truth item and each predicted item, with its outcome.

        Args:
            threshold: The IoU threshold at which to decide, for tasks that have several. By default the lowest.

        Returns:
            The table. ``rows()`` iterates over its rows, ``to_pandas()`` and ``to_polars()`` make a frame of it.
        """
        return self.task.outcomes(self.ledger, threshold=threshold)

    def listed(self) -> Iterator[dict[str, Any]]:
        """The outcomes one by one, as JSONL prints them."""
        rows = self.task.view().outcome_rows
        return self.task.outcomes(self.ledger).rows() if rows is None else rows(self.ledger)

    def sections(self) -> list[Section]:
        """The main thing in a sentence, the numbers as a person reads them, what was noticed in the data, the signature."""
        from calque.evaluation.presentation.sections import noticed

        if self.unevaluated is not None:
            return self._without_numbers()
        tree = self.to_dict()
        return [
            *self.warning(),
            *_told(self.task.view().message(tree)),
            *self.task.view().sections(with_reasons(tree)),
            *(section for addition in self.additions for section in addition.sections),
            *noticed(issue for issue in self.issues if issue != self.unevaluated),
            *self.verdict.sections(),
            *_told(str(self.signature)),
        ]

    def brief(self) -> list[Section]:
        """Return the main finding, the main metrics and the signature, as a notebook and ``--brief`` show them."""
        if self.unevaluated is not None:
            return self._without_numbers()
        tree = self.to_dict()
        told = [*self.warning(), *_told(self.task.view().message(tree))]
        added = [section for addition in self.additions for section in addition.brief]
        return [
            *told,
            *self.task.view().brief(with_reasons(tree)),
            *added,
            *self.verdict.sections(),
            *_told(str(self.signature)),
        ]

    def template(self) -> list[Section]:
        """Return the metrics in the reporting template of the task's source document; empty if it has none."""
        if self.unevaluated is not None:
            return self._without_numbers()
        template = self.task.view().template
        filled = [] if template is None else template(with_reasons(self.to_dict()))
        return [*self.warning(), *filled]

    def _without_numbers(self) -> list[Section]:
        """Return why nothing was evaluated, and the signature: tables of zeros would mislead."""
        return [Section(title="Nothing was evaluated", notes=[str(self.unevaluated)]), *_told(str(self.signature))]

    def flat(self, prefix: str = "") -> dict[str, float]:
        """Return every metric that has a value, for experiment trackers.

        Args:
            prefix: A text to put before each name, such as ``"eval/"``.

        Returns:
            The value of each metric by its name.
        """
        return {prefix + name: value for name, value in self.measures().items() if value is not None}

    def spreadsheet(self) -> list[dict[str, Any]]:
        """Return the metrics as rows of one table, each with the signature."""
        view, numbers = self.task.view(), with_reasons(self.to_dict())
        rows = [
            *view.rows(numbers),
            *(view.slices.rows(numbers) if view.slices is not None else ()),
            *(row for addition in self.additions for row in addition.rows),
        ]
        return [{**row, "signature": str(self.signature)} for row in rows]

    def tests(self) -> list[CiTestCase]:
        """The result as a server shows it: what gates say, whether everything was evaluated, what was judged one by one."""
        return [*self.gate_tests(), *(self.task.view().test_cases(self.ledger) or [self.whole()])]

    def whole(self) -> CiTestCase:
        """Whether everything was evaluated, as a test."""
        from calque.evaluation.presentation.ci_servers import CiTestCase

        group, name = f"calque.{self.task.name}", "everything was evaluated"
        losses = [str(issue) for issue in summarize(self.issues) if issue.severity is Severity.LOSS]
        return CiTestCase(group, name, "error", losses[0], losses[1:]) if losses else CiTestCase(group, name)

    def gate_tests(self) -> list[CiTestCase]:
        """What gates say, each condition as a test."""
        return self.verdict.tests(f"calque.{self.task.name}.gate")

    def report(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write an HTML report with the metrics, the pages and every object. It opens without a network connection.

        Args:
            path: The file to write; its name ends in ``.html``.
            options: ``images`` is a folder with images of the pages. ``sidecar=True`` stores them next to the report instead
                of in it. ``size`` limits the bytes of images in the report. ``jobs`` is the number of workers.

        Raises:
            ConfigError: The name does not end in ``.html``, or the evaluator did not keep the outcomes.
        """
        # The report stands above results, which know nothing of files.
        importlib.import_module("calque.report").write(self, path, **options)

    def plot(self, kind: str = "", *, ax: Any = None) -> Any:
        """Draw a plot with matplotlib. A notebook displays it, with or without ``%matplotlib inline``.

        Args:
            kind: ``"pr"``, ``"errors"``, ``"crops"``, ``"classes"`` or ``"calibration"``. By default the first of them that the
                result has.
            ax: The axes to draw into. By default calque makes a figure of its own.

        Returns:
            The figure, or ``ax`` if it was given. ``result.plot("pr").savefig("pr.pdf")`` writes a file.

        Raises:
            ConfigError: The result does not have this plot.
            MissingExtra: matplotlib is not installed.
        """
        return importlib.import_module("calque.report.plots").figure(self, kind, ax)

    def warning(self) -> list[Section]:
        """What stands before all numbers: that nothing was evaluated, or what gates do not let pass."""
        nothing = [Section(title="Nothing was evaluated", notes=[str(self.unevaluated)])] if self.unevaluated else []
        return [*nothing, *self.verdict.failure_sections(self.failures if self.verdict else ())]

    def __dir__(self) -> list[str]:
        """Return the names that completion offers: those that the reference describes."""
        return list(RESULT_NAMES)

    def __str__(self) -> str:
        return to_text(self.sections())

    def __repr__(self) -> str:
        count = len(self.ledger.units)
        state = ", nothing evaluated" if self.unevaluated else ", incomplete" if self.incomplete else ""
        return one_line(f"<Result {self.signature}: {count:,} document{'' if count == 1 else 's'}{state}>")

    def _repr_html_(self) -> str:
        from calque.base.style import to_notebook

        return to_notebook(to_html(self.brief()))
