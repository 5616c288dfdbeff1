"""A task: a frozen class whose fields are the Python keywords, the CLI flags and the signature at once."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from calque.base.arguments import renamed_arguments
from calque.base.errors import ConfigError, did_you_mean
from calque.base.short_repr import short_repr
from calque.evaluation.signature import Signature

if TYPE_CHECKING:
    # Tasks are built while the command line starts; numpy waits until there is something to score.
    from calque.base.columns import Table
    from calque.base.errors import Issue
    from calque.corpus.boxes import Corpus
    from calque.evaluation.document_sums import WeightedMetrics
    from calque.evaluation.item_outcomes import RunOutcomes
    from calque.evaluation.ledger import Ledger
    from calque.evaluation.measures import Measure, MeasureName
    from calque.evaluation.metrics import MetricTable
    from calque.evaluation.nothing_evaluated import DocumentCoverage
    from calque.evaluation.view import TaskView

BUILT_IN = {
    "detection": "calque.detection",
    "layout": "calque.layout",
    "fields": "calque.fields",
    "checks": "calque.checks.task",
    "words": "calque.words",
    "tables": "calque.tables",
    "order": "calque.order",
    "ceiling": "calque.ceiling",
}
"""The tasks that come with calque and the module that defines each."""


HEAD = ("task", "version", "signature")
"""The keys at the start of a result's JSON that are not numbers."""

Kind = Literal["number", "count", "numbers", "word", "words", "uses", "weights", "choice", "switch", "file", "path"]
"""What a setting holds. A ``count`` is a whole number, and ``uses`` are words that may hold commas. Of a ``file`` or a ``path``
(a file or folder) the content is the setting: it is read when the task is made, and where it stood is not kept."""


@dataclass(frozen=True, slots=True)
class Setting:
    """How a field of a task is shown to people."""

    help: str
    kind: Kind
    key: str
    """Its name in the signature."""
    flag: str
    """Its name on the command line."""
    choices: tuple[str, ...] = ()
    always: bool = False
    """Whether the signature shows it even at its default."""
    view: bool = False
    """Whether it only adds to what is shown: such a setting changes no number and is not in the signature."""
    metavar: str = ""
    """What stands for its value in the help."""
    words: tuple[str, ...] = ()
    """What a ``file`` or ``path`` may be instead: words that name no file."""
    bare: Any = None
    """The value of an option that is given without one."""
    spells: bool = False
    """Whether it only spells other settings: they take its place when the task is made, and are in the signature."""


def setting(
    default: Any,
    *,
    help: str,
    kind: Kind,
    key: str = "",
    flag: str = "",
    choices: tuple[str, ...] = (),
    always: bool = False,
    view: bool = False,
    metavar: str = "",
    words: tuple[str, ...] = (),
    bare: Any = None,
    spells: bool = False,
) -> Any:
    """A field of a task, with what the command line and the signature need to know of it."""
    note = Setting(
        help=help, kind=kind, key=key, flag=flag, choices=choices, always=always, view=view, metavar=metavar, words=words,
        bare=bare, spells=spells,
    )  # fmt: skip
    return dataclasses.field(default=default, metadata={"setting": note})


def settings(task: type[Any] | Task) -> dict[str, Setting]:
    """The settings of a task by field name: its own first, then those that it shares with other tasks."""
    return dict(_settings(task if isinstance(task, type) else type(task)))  # type: ignore[arg-type]  # classes are hashable


@functools.cache  # every signature asks, and so does every command
def _settings(task: type[Any]) -> Mapping[str, Setting]:
    own = inspect.get_annotations(task)
    return {
        field.name: replace(note, flag=note.flag or "--" + field.name.replace("_", "-"))
        for field in sorted(dataclasses.fields(task), key=lambda field: field.name not in own)
        if (note := field.metadata.get("setting")) is not None
    }


@functools.cache
def _spellings(task: type[Task]) -> Mapping[str, str]:
    """Return the name of a metric for its exact name, and for its name, its title and its aliases in lower case."""
    metrics = task.measures()
    folded = [(text.casefold(), metric.name) for metric in metrics for text in (metric.name, metric.title)]
    aliases = [(alias.casefold(), full) for alias, full in (*task.aliases.items(), *_declared_aliases(task))]
    exact = [(metric.name, metric.name) for metric in metrics]
    return dict([*reversed(folded), *aliases, *exact])


def _declared_aliases(task: type[Task]) -> list[tuple[str, str]]:
    table = task.metric_table()
    return [] if table is None else [(alias, metric.name) for metric in table.metrics for alias in metric.aliases]


@dataclass(frozen=True, kw_only=True)
class Task(ABC):
    """What differs between tasks: how items pair up, and what is counted. Everything else is written once."""

    name: ClassVar[str]
    fixed: ClassVar[Mapping[str, str]] = {}
    """What the signature says beside the settings, such as how items are paired."""
    naming: ClassVar[str] = ""
    """What to try when the two sides name the same documents in different ways."""
    streams: ClassVar[bool] = False
    """Whether `measure` reads a ledger by `chunks` or `pieces`, so that one that is longer than memory can wait in a file."""
    memory_factor: ClassVar[int] = 1
    """How many times as much of a ledger as usual stays in memory first, because it is measured faster in one piece."""
    aliases: ClassVar[Mapping[str, str]] = {}
    """Other names of metrics, such as the headers of tables; titles of metrics need not be listed."""
    lower_is_better: ClassVar[frozenset[str]] = frozenset()
    """The names of measures of which less is better; of all others more is, but for those that are `neutral`."""
    neutral: ClassVar[frozenset[str]] = frozenset()
    """The names of numbers that tell how much there is, and not how good it is."""
    numbers_documents: ClassVar[bool] = False
    """Whether documents may come without ids and are numbered then. A merge gives new numbers to those that it adds."""
    long_columns: ClassVar[bool] = False
    """Whether the native scanner reads the JSON files of this task, as it does for boxes."""
    rows_are_named: ClassVar[bool] = False
    """Whether NDJSON, JSON lines and Parquet name their documents themselves, so that the name of the file is not used."""
    known: ClassVar[dict[str, type[Task]]] = {}
    """Every task class that was defined, by name, so that a state finds its own."""

    by: tuple[str, ...] = setting(
        (), kind="words", view=True, help="Add metrics for each value of these metadata columns (A,B)."
    )
    metadata: str = setting("", kind="file", view=True, help="CSV file with a column doc_id and more columns for --by.")

    __repr__ = short_repr

    def __new__(cls, *values: Any, **settings: Any) -> Self:
        """Refuse positional arguments, and suggest a name for a setting that does not exist."""
        if values:
            example = f"{cls.__name__}(SETTING={values[0]!r})"
            raise TypeError(f"{cls.__name__} takes keyword arguments only, got {values[0]!r}. Write {example}.")
        known = [field.name for field in dataclasses.fields(cls)]
        for name in settings:
            if name not in known:
                hint = did_you_mean(name, known) or f"It has {', '.join(known)}."
                raise TypeError(f"{cls.__name__} has no setting {name!r}. {hint}")
        return super().__new__(cls)

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        Task.known[cls.name] = cls

    @classmethod
    def metric_table(cls) -> MetricTable | None:
        """The declared metrics of this task: values, names, schema, CSV, gates and bootstrap replicates follow from them.

        ``None`` for a task that defines `measure` and everything else that its numbers need.
        """
        return None

    @classmethod
    def measures(cls) -> tuple[Measure, ...]:
        """What `calque explain` knows of this task."""
        table = cls.metric_table()
        return () if table is None else table.explained()

    @abstractmethod
    @renamed_arguments(expected="truth", found="predictions")
    def score(self, truth: Any, predictions: Any, *, jobs: int = 1) -> Ledger:
        """The outcome of every item of these whole documents. Pure; one document or twenty thousand."""

    def measure(self, ledger: Ledger, *, jobs: int = 1) -> dict[str, Any]:  # noqa: ARG002  # sums do not take long
        """The numbers of a ledger, as the tree that the JSON shows; what has no value is `Undefined`."""
        table = self.metric_table()
        if table is None:
            raise NotImplementedError(f"{type(self).__name__} must define measure or metric_table")
        return table.compute(self, ledger)

    @renamed_arguments(expected="truth", found="predictions")
    def resolved(self, truth: Any, predictions: Any = None) -> Task:  # noqa: ARG002  # most tasks leave nothing open
        """Return the task with the settings that it derives from its input, such as an inferred schema.

        The evaluator calls this before it reads. ``predictions`` is ``None`` when only the ground truth is known yet.
        """
        return self

    def own_code(self) -> tuple[str, ...]:
        """Return the names of code that does not come with calque and decides about numbers: its results are never reused."""
        kind = type(self)
        return () if f"{kind.__module__}.".startswith("calque.") else (f"{kind.__module__}:{kind.__qualname__}",)

    def numbers_only(self) -> Task:
        """The task for somebody who will not look at outcomes: the same numbers, with less written down."""
        return self

    def worth_processes(self) -> int:
        """From how many documents on `score` is shared among processes; 0 where threads of kernels do most of the work."""
        return 0

    @renamed_arguments(expected="truth", found="predictions")
    def batches(self, truth: Any, predictions: Any, *, jobs: int = 1) -> Iterator[tuple[Corpus, Corpus]]:  # noqa: ARG002  # here one
        """The two sides, read and checked against each other, some whole documents at a time; here boxes, all at once."""
        from calque.readers import read_pair

        yield read_pair(truth, predictions)

    @classmethod
    def full_name(cls, name: MeasureName) -> MeasureName:
        """Return the name in the JSON of the metric that a table's header or another alias means; unknown names stay.

        >>> from calque.evaluation.measures import MeasureName
        >>> from calque.detection.task import Detection
        >>> [str(Detection.full_name(MeasureName.parse(text))) for text in ("mean IoU@0.75/Table", "mAP", "recall")]
        ['mean_iou@0.75/Table', 'AP', 'recall']
        """
        spellings = _spellings(cls)
        full = spellings.get(name.name) or spellings.get(name.name.casefold())
        return replace(name, name=full) if full and full != name.name else name

    def address(self, name: MeasureName) -> tuple[str, ...]:
        """Where in the tree of numbers a measure stands."""
        table = self.metric_table()
        return (name.name,) if table is None else table.address(name, self)

    def names(self, numbers: Mapping[str, Any]) -> list[str]:
        """The names of all measures among these numbers, as `address` finds them."""
        table = self.metric_table()
        if table is not None:
            return table.names(numbers)
        return [key for key, value in numbers.items() if key not in HEAD and is_number(value)]

    def compared(self, numbers: Mapping[str, Any]) -> list[str]:
        """The measures that intervals and comparisons show when nobody names any; those that cost a lot are left out."""
        table = self.metric_table()
        return self.names(numbers) if table is None else table.names(numbers, requested=False)

    def primary(self) -> tuple[str, ...]:
        """The measures that a comparison tests when nobody names any."""
        return ()

    def resampled(self, ledger: Ledger) -> tuple[WeightedMetrics, ...]:
        """Quick ways to numbers of weighted documents: tallies with their ratios, and ranked measures.

        What is in `names` and in none of them is measured anew for every replicate: right, and slow.
        """
        table = self.metric_table()
        return () if table is None else table.weighted(self, ledger)

    def outcomes(self, ledger: Ledger, *, threshold: float | None = None) -> Table:  # noqa: ARG002  # most have none
        """One row for each item, with what happened to it."""
        from calque.base.columns import Strings, Table
        from calque.corpus.boxes import distinct_names
        from calque.evaluation.ledger import UNIT

        rows = next(iter(ledger.tables.values()))
        names = distinct_names(ledger.units)
        documents = Strings.pack(names[unit] for unit in rows.array(UNIT).tolist())
        return Table({"document": documents, **{name: column for name, column in rows.items() if name != UNIT}})

    def run_outcomes(self, ledger: Ledger) -> RunOutcomes | None:  # noqa: ARG002  # a task need not tell
        """What became of each truth and how well each document went, for whoever compares runs; ``None`` if that is unknown."""
        return None

    def coverage(self, ledger: Ledger) -> DocumentCoverage | None:
        """Which documents the two sides are about, by a table ``documents`` that says so; ``None`` where there is none."""
        if "documents" not in ledger.tables:
            return None
        import numpy as np

        from calque.evaluation.ledger import UNIT
        from calque.evaluation.nothing_evaluated import DocumentCoverage

        flags = {name: np.zeros(len(ledger.units), dtype=np.bool_) for name in ("in_truth", "in_found")}
        for rows in ledger.chunks("documents", *flags):
            for name, known in flags.items():
                known[rows.array(UNIT)] = rows.array(name)
        return DocumentCoverage(flags["in_truth"], flags["in_found"])

    def issues(self, ledger: Ledger, numbers: Mapping[str, Any], known: tuple[Issue, ...]) -> tuple[Issue, ...]:  # noqa: ARG002  # other tasks need them
        """Return the issues of a result: those that readers found (``known``), and those that only the outcomes show."""
        return known

    def conflicts(self, other: Task, *, merging: bool = False) -> list[str]:  # noqa: ARG002  # the signature has most settings
        """Return why two results with the same signature cannot be compared, or merged, with one another."""
        return []

    def view(self) -> TaskView:
        """Return the functions that show results of this task."""
        from calque.evaluation.view import plain_view

        return plain_view(self.name)

    def signature(self) -> Signature:
        """Every setting that can change a number."""
        shown: dict[str, str] = dict(self.fixed)
        quiet = set()
        defaults = {field.name: field.default for field in dataclasses.fields(self)}
        for name, note in settings(self).items():
            if note.view or note.spells:
                continue
            shown[note.key] = self.spelled(name)
            if getattr(self, name) == defaults[name] and not note.always:
                quiet.add(note.key)
        return Signature(self.name, shown, frozenset(quiet))

    def spelled(self, name: str) -> str:
        """A setting's value in the signature; long content is told by its digest."""
        return spell(getattr(self, name))


def is_number(value: Any) -> bool:
    """Whether a leaf of the tree of numbers is one, or would be if it were defined; truth values and texts are none."""
    return value is None or (isinstance(value, Real) and not isinstance(value, bool))


def normalize_settings(task: Any) -> None:
    """Bring what callers give into the form that a task keeps: one number or name for several; else say which is wrong.

    Called first in ``__post_init__``: what comes after can rely on it.
    """
    for field in dataclasses.fields(task):
        _take_in_field(task, field)
    if isinstance(task, Task):
        _read_metadata(task)


def _take_in_field(task: Any, field: dataclasses.Field[Any]) -> None:
    note, value = field.metadata.get("setting"), getattr(task, field.name)
    if value is field.default:
        return
    if note is None:
        if isinstance(field.default, bool) and not isinstance(value, bool):
            raise ConfigError(f"{field.name} must be {EXPECTED['switch'][1]}, not {value!r}")
        return
    if value is None or (note.kind in OF_DATA and not isinstance(value, str | os.PathLike | Iterable | type)):
        raise ConfigError(
            f"{field.name} must be {EXPECTED.get(note.kind, (object, 'a path, or the data itself'))[1]}, not {value!r}"
        )
    if note.kind == "choice" and not (isinstance(value, str) and value in note.choices):
        hint = did_you_mean(str(value), note.choices)
        raise ConfigError(f"{field.name} must be one of {', '.join(note.choices)}, not {value!r}{hint and f'; {hint}'}")
    if note.kind in MANY:
        alone = isinstance(value, str) or not isinstance(value, Iterable)
        value = (value,) if alone else tuple(value)
        object.__setattr__(task, field.name, value)
    if note.kind in EXPECTED:
        _check(field.name, note.kind, value)
    if note.kind == "number":
        object.__setattr__(task, field.name, _float(field.name, value))  # 1 and 1.0 are one setting


def _read_metadata(task: Task) -> None:
    """Keep the content of the metadata file, and each column of slices once."""
    object.__setattr__(task, "by", tuple(dict.fromkeys(task.by)))
    if task.metadata:
        from calque.readers.sides.metadata import metadata_text

        object.__setattr__(task, "metadata", metadata_text(task.metadata))


def _check(name: str, kind: str, value: Any) -> None:
    """Refuse a value that is not of its setting's kind."""
    wanted, words = EXPECTED[kind]
    if not all(_is(one, wanted) for one in (value if kind in MANY else (value,))):
        raise ConfigError(f"{name} must be {words}, not {list(value) if kind in MANY else value!r}")


def _float(name: str, value: Real) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ConfigError(f"{name} must be a number that a float can hold, not {value!r}") from None


def _is(value: Any, kind: type | tuple[type, ...]) -> bool:
    """Whether a value is of a kind; truth values are no numbers."""
    return isinstance(value, kind) and isinstance(value, bool) is (kind is bool)


MANY = ("numbers", "words", "uses")
"""Kinds of settings that hold several; one alone may stand for itself."""
EXPECTED: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "number": (Real, "a number"),
    "count": (Integral, "a whole number"),
    "numbers": (Real, "a number or several"),
    "word": (str, "a text"),
    "words": (str, "a name or several"),
    "uses": ((str, tuple), "a name or several"),
    "switch": (bool, "True or False"),
}
"""What each kind of setting is made of."""
OF_DATA = ("weights", "file", "path")
"""Kinds that are given as a file, or as what could be in it."""


def names_a_file(note: Setting, value: Any) -> bool:
    """Whether the value of a setting still has to be looked up: the path of a file, or the name of a class.

    What a task keeps of a file is data: pairs, a list of words, or JSON text.

    >>> schema = Setting(help="", kind="file", key="schema", flag="--schema")
    >>> names_a_file(schema, "invoice.json"), names_a_file(schema, "models:Invoice"), names_a_file(schema, '{"fields": {}}')
    (True, True, False)
    """
    return note.kind in ("file", "path") and isinstance(value, str) and not (value in ("", *note.words) or value[0] in "[{")


def task_class(name: str) -> type[Task] | None:
    """The task of that name, if there is one."""
    if name in BUILT_IN:
        importlib.import_module(BUILT_IN[name])
    return Task.known.get(name)


def spell(value: Any) -> str:
    """A setting's value in a signature.

    >>> spell((0.5, 0.75)), spell(None), spell(True), spell((("Table", 2.0),))
    ('0.5,0.75', 'none', 'yes', 'Table=2.0')
    """
    if value in (None, (), ""):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ",".join(f"{item[0]}={item[1]!r}" if isinstance(item, tuple) else spell(item) for item in value)
    return str(value)
