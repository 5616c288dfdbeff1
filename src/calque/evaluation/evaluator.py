"""The evaluator: collects the documents of one task. It is the only stateful class."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Literal, Self

from calque.base.arguments import check_type, renamed_arguments
from calque.base.errors import ContractError, Issue, MergeError, Severity, by_place, summarize
from calque.base.files import write_whole
from calque.base.short_repr import one_line
from calque.corpus.boxes import BoxCorpus, Corpus, Extent, UnitId, documents_to_come, in_canonical_order
from calque.engines import current_progress, is_portable, keep_workers, process_engine
from calque.evaluation.ledger import Ledger, check_disjoint, joint_units
from calque.evaluation.result import Result, Sources
from calque.evaluation.signature import Signature
from calque.evaluation.slices import SeenMetadata, with_slice_values
from calque.evaluation.storage.partitioned import MOST_BYTES, Part, PartCollector
from calque.evaluation.storage.state import Packed, TemporaryFile, pack, unpack, well_formed
from calque.evaluation.task import Task, names_a_file, settings, task_class
from calque.kernels.structs import TOO_TANGLED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    class KeptBatches(Protocol):
        """A store of scored batches."""

        def get(self, number: int, units: Callable[[], Sequence[UnitId]]) -> Ledger | Part | None:
            """Return the ledger of the batch with that number if it has exactly these documents."""

        def put(self, number: int, ledger: Ledger) -> Ledger | Part:
            """Store the ledger of a batch with its issues; return it, or the stored part."""


Keep = Literal["numbers", "outcomes"]
ROUNDS = 4
"""How many groups of documents each worker process gets: some groups take longer than others."""
CROWDED = 4096
"""The number of issues at which equal ones are summarized: a million small updates may find a million equal issues."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Scoring:
    """Scores a pair of corpora in any process."""

    task: Task

    def __call__(self, pair: tuple[Any, Any]) -> Ledger:
        return self.task.score(*pair)


class Evaluator:
    """Score documents of one task and add them up.

    The documents may come in one call or in many, in one process or in shards that are merged. The metrics are the same to
    the last bit.

    Args:
        task: The task and its settings, such as ``Detection(iou=0.5)``.
        keep: ``"outcomes"`` keeps the outcome of every item. ``"numbers"`` drops boxes and ids once a document is scored,
            which needs less memory; outcome lists are then empty.
        jobs: The number of processes or threads.

    Raises:
        TypeError: ``task`` is not a task.
        ValueError: ``keep`` or ``jobs`` has a value that is not allowed.

    >>> from calque import Evaluator, Words
    >>> result = Evaluator(Words()).update({"page 1": "the cat sat"}, {"page 1": "the cat sit"}).compute()
    >>> result["recall"], result["precision"]
    (0.6666666666666666, 0.6666666666666666)
    """

    def __init__(self, task: Task, *, keep: Keep = "outcomes", jobs: int = 1) -> None:
        if not isinstance(task, Task):
            if isinstance(task, type):
                raise TypeError(f"task must be a task, got the class {task.__name__}. Write {task.__name__}().")
            raise TypeError(f"task must be a task, got {task!r}. Pass for example calque.Detection().")
        if keep not in ("numbers", "outcomes"):
            raise ValueError(f"keep must be 'numbers' or 'outcomes', not {keep!r}")
        if not isinstance(jobs, int) or jobs < 1:
            raise ValueError(f"jobs must be a whole number from 1, not {jobs!r}")
        self.task = task
        self._keep = keep
        self._jobs = jobs
        self._file = TemporaryFile()
        """Holds the rows that are too many for memory."""
        self._parts = self._no_parts()
        self._units: set[UnitId] = set()
        """All documents, filled at the second update: a single update of millions needs no set."""
        self._free = 0
        """The next free document number."""
        self._issues: list[Issue] = []
        self._crowded = CROWDED
        self._sources = Sources()
        self._extent = ""
        """The unit of boxes; empty without boxes."""
        self._state = ""
        """The name of the state that this evaluator was loaded from, for error messages."""

    def __dir__(self) -> list[str]:
        """Return the names that completion offers: those that the reference describes."""
        return ["compute", "from_state", "issues", "load", "merge", "save", "sources", "state", "task", "update"]

    def __repr__(self) -> str:
        count = self._count()
        return one_line(f"<Evaluator {self.task.signature()}: {count:,} document{'' if count == 1 else 's'}>")

    def _count(self) -> int:
        return sum(map(len, self._parts.units()))

    @renamed_arguments(expected="truth", found="predictions")
    def update(self, truth: Any, predictions: Any, *, known: KeptBatches | None = None) -> Self:
        """Score whole documents and add them to those of earlier calls. A call that fails adds nothing.

        The first call also fixes the settings that the task takes from the data, such as an inferred schema of fields.

        Args:
            truth: The ground truth: a path, a corpus, or any other source that the task reads.
            predictions: The predictions for the same documents, in the same forms.
            known: A store of batches that earlier runs scored. The evaluator reads from it and adds to it.

        Returns:
            The evaluator itself, so that calls can be chained.

        Raises:
            ContractError: A file breaks its contract. The error lists every problem.
            MergeError: A document was added before, or boxes have other units than those of earlier calls.

        >>> from calque import Evaluator, Words
        >>> evaluator = Evaluator(Words()).update({"page 1": "the cat sat"}, {"page 1": "the cat sit"})
        >>> evaluator.update({"page 2": "on the mat"}, {"page 2": "on the mat"}).compute()["recall"]
        0.8333333333333334
        """
        parts = self._no_parts()
        issues: list[Issue] = []
        sources = Sources()
        extent = ""
        progress = current_progress()
        before, done = progress.done, 0
        task = self.task.resolved(truth, predictions)
        scoring = task if self._keep == "outcomes" else task.numbers_only()
        metadata = SeenMetadata(scoring)
        with keep_workers(self._jobs):
            pairs = scoring.batches(truth, predictions, jobs=self._jobs)
            to_come = documents_to_come(pairs)
            for number, (true, predicted) in enumerate(pairs):
                # Where the total is unknown, these may be all.
                progress.expect(before + max(to_come(), done + max(len(true.units()), len(predicted.units()))))
                metadata.observe(true, predicted)
                for ledger in self._scored_or_known(scoring, true, predicted, number, known):
                    parts.add(ledger)
                    issues += ledger.issues
                    done += len(ledger.units)
                    progress.set(before + done)
                issues += [*true.issues, *predicted.issues]
                sources |= Sources(true.origins(), predicted.origins())
                extent = extent or _extent_of(true, predicted)
        issues += metadata.finish()
        self._add(self._numbered_on(parts, issues), extent)
        self.task = task
        self._noticed(summarize(by_place(issues)))
        self._sources |= sources
        return self

    def _scored_or_known(
        self, task: Task, truth: Corpus, predictions: Corpus, number: int, known: KeptBatches | None
    ) -> Iterator[Ledger | Part]:
        """Yield the ledgers of a batch: scored now, or known from an earlier run."""
        if known is None:
            for ledger in self._scored(task, truth, predictions):
                yield self._kept(ledger, truth, predictions)
            return
        before = known.get(number, lambda: in_canonical_order({*truth.units(), *predictions.units()}))
        if before is None:
            made = [self._kept(ledger, truth, predictions) for ledger in self._scored(task, truth, predictions)]
            issues = tuple(issue for ledger in made for issue in ledger.issues)
            before = known.put(number, dataclasses.replace(Ledger.concat(made), issues=issues, verify=False))
        yield before

    def _scored(self, task: Task, truth: Corpus, predictions: Corpus) -> Iterator[Ledger]:
        """Yield the ledgers of a batch: one, or several from processes where that is faster."""
        least = task.worth_processes()
        if least and self._jobs > 1:
            units = in_canonical_order({*truth.units(), *predictions.units()})
            if len(units) >= least and is_portable(task):
                size = max(1, -(-len(units) // (ROUNDS * self._jobs)))
                groups = (units[start : start + size] for start in range(0, len(units), size))
                pairs = ((truth.select(group), predictions.select(group)) for group in groups)
                yield from process_engine(self._jobs).map(_Scoring(task), pairs)
                return
        try:
            yield task.score(truth, predictions, jobs=self._jobs)
        except ValueError as error:
            if str(error) != TOO_TANGLED:
                raise
            raise _too_tangled(truth, predictions) from error

    def _noticed(self, issues: Iterable[Issue]) -> None:
        """Add issues. A long list is summarized."""
        self._issues += issues
        if len(self._issues) > self._crowded:
            self._issues = list(self.issues())
            self._crowded = max(CROWDED, 2 * len(self._issues))

    def add(self, ledger: Ledger, *, issues: Iterable[Issue] = (), sources: Sources | None = None) -> Self:
        """Add documents that were scored elsewhere under this task."""
        metadata = SeenMetadata(self.task)
        metadata.observe_ledger(ledger)
        self._add(self._alone(self._kept(ledger)))
        self._noticed(summarize([*issues, *ledger.issues, *metadata.finish()]))
        self._sources |= sources or Sources()
        return self

    def _no_parts(self) -> PartCollector:
        in_memory = self._keep == "outcomes" or not self.task.streams
        return PartCollector(None if in_memory else MOST_BYTES * self.task.memory_factor, self._file)

    def _all_parts(self) -> PartCollector:
        """Return all documents as parts that another evaluator can add."""
        return self._parts

    def _alone(self, ledger: Ledger) -> PartCollector:
        parts = self._no_parts()
        parts.add(ledger)
        return parts

    def _kept(self, ledger: Ledger, truth: Corpus | None = None, *predictions: Corpus) -> Ledger:
        ledger = with_slice_values(self.task, ledger, *(() if truth is None else (truth, *predictions)))
        if self._keep == "numbers":
            return ledger.without_details()
        if truth is None:
            return ledger
        from calque.evaluation.ledger import with_digests

        return with_digests(ledger, truth, truth.digests())

    def merge(self, other: Evaluator) -> Self:
        """Add the documents of another evaluator that has the same task and settings.

        Args:
            other: The other evaluator. It stays as it is.

        Returns:
            The evaluator itself, so that calls can be chained.

        Raises:
            MergeError: The two evaluators have different tasks or settings, or a document is in both.
            TypeError: ``other`` is not an evaluator.

        >>> from calque import Evaluator, Words
        >>> shards = [Evaluator(Words()).update({name: "a b"}, {name: "a"}) for name in ("page 1", "page 2")]
        >>> shards[0].merge(shards[1]).compute()["recall"]
        0.5
        """
        if not isinstance(other, Evaluator):
            raise TypeError(f"merge: other must be an Evaluator, got {other!r}. Merge evaluators before you call compute().")
        theirs = other.task
        apart = [*self.task.signature().differences(theirs.signature()), *self.task.conflicts(theirs, merging=True)]
        if apart:
            raise MergeError("the two states were made with different settings: " + "; ".join(apart))
        issues = list(other._issues)
        parts = other._all_parts()
        if parts:
            self._add(self._numbered_on(parts, issues), other._extent)
        self._noticed(issues)
        self._sources |= other._sources
        self._state = ", ".join(filter(None, (self._state, other._state)))
        return self

    def _numbered_on(self, parts: PartCollector, issues: list[Issue]) -> PartCollector:
        """Return the parts with numbered documents renumbered from the next free number."""
        if not self.task.numbers_documents or not self._parts or not parts:
            return parts
        ledger = parts.ledger()
        appended = ledger.renumbered(self._free)
        if appended is ledger:
            return parts
        issues.append(NUMBERED_ON)
        return self._alone(appended)

    def _add(self, parts: PartCollector, extent: str = "") -> None:
        if extent and self._extent and extent != self._extent:
            raise MergeError(
                f"boxes are {_MEASURED[self._extent]} on one side and {_MEASURED[extent]} on the other; "
                "evaluate both in one unit (--units, --page-size)"
            )
        self._check_new(parts)
        for units in parts.units():
            # In canonical order, numbers come first.
            highest = next((unit for unit in reversed(units) if isinstance(unit, int)), -1)
            self._free = max(self._free, highest + 1)
        self._parts.extend(parts)
        self._extent = self._extent or extent

    def _check_new(self, parts: PartCollector) -> None:
        """Raise `MergeError` for documents that were added before."""
        if not self._parts:
            joint_units(list(parts.units()))
            return
        if not self._units:
            self._units.update(*self._parts.units())
        check_disjoint(parts.units(), self._units)
        self._units.update(*parts.units())

    @property
    def sources(self) -> Sources:
        """The files and models that were evaluated."""
        return self._sources

    @property
    def extent(self) -> str:
        """The unit of boxes; empty without boxes."""
        return self._extent

    def ledger(self) -> Ledger:
        """Return the outcomes of all documents."""
        if not self._parts:
            raise ValueError("nothing was evaluated yet: call update() first")
        return self._parts.ledger()

    def issues(self) -> tuple[Issue, ...]:
        """Return the issues in the data so far, one entry for each kind and file."""
        return summarize(by_place(self._issues))

    def compute(self) -> Result:
        """Compute the metrics of all documents that were added so far. You can add more documents afterwards.

        Returns:
            The result.

        Raises:
            ValueError: No document was added yet.
        """
        with well_formed(self._state) if self._state else nullcontext():
            return Result.of(self.task, self.ledger(), self.issues(), self._sources, jobs=self._jobs)

    def rename(self, files: Mapping[str, str]) -> None:
        """Rename files in sources and issues: users do not know the name of a temporary copy."""
        if files:
            self._sources = self._sources.renamed(files)
            self._issues = [issue.renamed(files) for issue in self._issues]

    def state(self) -> bytes:
        """Return the state of the evaluation as bytes. `from_state` restores the evaluator from them.

        Returns:
            The settings and the outcomes of all documents that were added so far.

        Raises:
            ValueError: No document was added yet.
        """
        return pack(self.header(), self.ledger())

    def header(self) -> dict[str, Any]:
        """Return everything of a state but the ledger."""
        return {
            "signature": self.task.signature().to_dict(),
            "fields": dataclasses.asdict(self.task),
            "keep": self._keep,
            "extent": self._extent,
            "issues": [issue.to_dict() for issue in self.issues()],
            "sources": self._sources.to_dict(),
        }

    @classmethod
    def from_state(cls, data: bytes, *, file: str = "") -> Evaluator:
        """Restore the evaluator whose `state` this is. It takes further documents and merges with others.

        Args:
            data: The bytes that `state` returned.
            file: The name that error messages use for the data.

        Returns:
            The evaluator.

        Raises:
            ContractError: The bytes are not a state, or are damaged.
            MergeError: Another version of calque wrote the state, and its numbers differ.

        >>> from calque import Evaluator, Words
        >>> evaluator = Evaluator(Words()).update({"page 1": "a b"}, {"page 1": "a"})
        >>> Evaluator.from_state(evaluator.state()).compute()["recall"]
        0.5
        """
        check_type("from_state", "data", data, bytes | bytearray | memoryview, "bytes")
        header, ledger = unpack(data, file)
        return cls.of_header(header, [ledger], file)

    @classmethod
    def of_header(cls, header: dict[str, Any], ledgers: Iterable[Ledger | Part], file: str) -> Evaluator:
        """Return the evaluator that had this `header`, with its documents in some ledgers."""
        with well_formed(file):
            evaluator = cls(_task_of(header, file), keep=header["keep"])
            extent = header.get("extent", "")
            parts = evaluator._no_parts()
            for ledger in ledgers:
                parts.add(ledger)
            evaluator._add(parts, extent if extent in _MEASURED else "")
            evaluator._issues = [Issue.from_dict(issue) for issue in header["issues"]]
            evaluator._sources = Sources.from_dict(header["sources"])
            evaluator._state = file or "a state"
        return evaluator

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file. A write that fails leaves an existing file as it was.

        Args:
            path: The file to write.

        Raises:
            ValueError: No document was added yet.
            OSError: The file cannot be written.
        """
        check_type("save", "path", path, str | os.PathLike, "a path")
        packed = Packed(self.header(), self.ledger())
        write_whole(path, packed)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Evaluator:
        """Restore the evaluator that `save` wrote.

        Args:
            path: The file to read.

        Returns:
            The evaluator.

        Raises:
            ContractError: The file is not a state, or is damaged.
            OSError: The file cannot be read.
        """
        check_type("load", "path", path, str | os.PathLike, "a path")
        with open(path, "rb") as file:
            return cls.from_state(file.read(), file=os.fspath(path))


NUMBERED_ON = Issue(
    "numbered-on",
    "documents without ids are counted on, in the order in which they were added",
    help="give them ids (--id) if the same documents may come twice",
    severity=Severity.NOTE,
)

_MEASURED = {Extent.PIXELS.value: "in pixels", Extent.NORMALIZED.value: "in shares of the page"}


def _too_tangled(truth: Corpus, predictions: Corpus) -> ContractError:
    files = " and ".join(dict.fromkeys(filter(None, (truth.source, predictions.source))))
    return ContractError.single("too-tangled", TOO_TANGLED, file=files, help="evaluate the boxes around them: --on boxes")


def _extent_of(truth: Corpus, predictions: Corpus) -> str:
    """Return the unit of the boxes of two corpora; empty without boxes."""
    boxes = isinstance(truth, BoxCorpus) and isinstance(predictions, BoxCorpus) and (len(truth) or len(predictions))
    return truth.extent.value if boxes and isinstance(truth, BoxCorpus) else ""


def _task_of(header: dict[str, Any], file: str) -> Task:
    stored = header["signature"]
    known = task_class(stored["task"])
    if known is None:
        raise ContractError.single("unknown-task", f"no task is named {stored['task']!r} here", file=file)
    for name, note in settings(known).items():
        value = header["fields"].get(name)
        if names_a_file(note, value):
            text = f"the setting {name} is {value!r}, which would have to be looked up; a state holds data, and runs nothing"
            raise ContractError.single("state-names-a-file", text, file=file, help="make it again with --save")
    task = known(**{name: _frozen(value) for name, value in header["fields"].items()})
    then = Signature(stored["task"], stored["settings"], version=stored["version"], numbers=stored["numbers"])
    apart = task.signature().differences(then)
    if apart:
        raise MergeError(f"{file}: the state of calque {then.version} cannot go on here: " + "; ".join(apart))
    return task


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
