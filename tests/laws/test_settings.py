"""The law of settings: what can move a number is in the signature, and what is not in the signature moves none.

Each field of each task is changed to another value. A new setting joins by a value in its task's trial.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, find, given
from hypothesis import settings as tried
from hypothesis import strategies as st

from calque import Ceiling, Detection, Evaluator, Fields, Layout, MergeError, Order, Tables, Task, Words
from calque.base.errors import CalqueError
from calque.checks import Checks
from calque.corpus.words import Block, TextCorpus
from calque.evaluation.boxes.reading import BoxReading
from calque.evaluation.task import BUILT_IN, settings
from tests.examples import examples
from tests.laws import checks, fields, order, tables

Sources = tuple[Any, Any]


@dataclass(frozen=True)
class Trial:
    """A task, what it is tried on, and another value for each of its fields."""

    task: Task
    sources: st.SearchStrategy[Sources]
    others: Mapping[str, Any]
    given: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What else must be set for a setting to matter."""
    unmoved: Mapping[str, str] = field(default_factory=dict)
    """Settings that are in the signature and move nothing on these sources, with the reason."""

    def pair(self, name: str) -> tuple[Task, Task]:
        """The task without and with the change."""
        base = replace(self.task, **self.given.get(name, {}))
        return base, replace(base, **{name: self.others[name]})


# Boxes as plain lists: what their numbers mean is left open.

_entry = st.fixed_dictionaries({
    "doc_id": st.sampled_from(["a.pdf", "a.png", "b.pdf"]),
    "bbox": st.tuples(*[st.integers(1, 4)] * 2, *[st.integers(5, 9)] * 2).map(list),
    "label": st.sampled_from(["Table", "Figure"]),
    "score": st.sampled_from([0.2, 0.5, 0.9]),
})  # fmt: skip
BOXES = st.tuples(st.lists(_entry, min_size=1, max_size=5), st.lists(_entry, min_size=1, max_size=5))
SIZES = {"units": "percent", "page_size": (1000.0, 1000.0)}
READING: dict[str, Any] = {
    "document_key": "stem",
    "lenient": True,
    "strict": True,
    "from_truth": "plain",
    "from_pred": "plain",
    "boxes": "xywh",
    "on": "boxes",
    "units": "percent",
    "origin": "bottom_left",
    "page_size": (10.0, 2000.0),
    "class_map": {"Table": "Figure"},
    "class_map_truth": {"Table": "Figure"},
    "class_map_pred": {"Table": "Figure"},
}
OF_FILES = dict.fromkeys(("from_truth", "from_pred"), "the lists are taken for what they are anyway")
ALIKE = dict.fromkeys(("units", "origin", "page_size"), "both sides change alike, and layout measures no area")
LENIENT = {"lenient": "nothing is wrong with these lists", "on": "the lists hold upright boxes"}

DETECTION = Trial(
    Detection(),
    BOXES,
    READING
    | {
        "iou": (0.3, 0.9),
        "labels": ("Table",),
        "min_area": 12.0,
        "min_score": 0.4,
        "missing": "intersect",
        "class_weight": {"Table": 3.0},
        "max_detections": (1,),
        "errors": "tide",
        "error_limits": (0.6, 0.2, 0.5, 0.7),
        "allow_missing_scores": True,
        "crops": True,
        "confusion": True,
        "sweep": True,
        "recall_floor": 0.9,
        "precision_floor": 0.9,
        "page_view": True,
        "beside": "boxes",
        "by": ("kind",),
        "metadata": '{"columns": {"kind": {"a.pdf": "letter"}}, "file": ""}',
    },
    given={
        "units": {"page_size": (1000.0, 1000.0)},
        "page_size": SIZES,
        "origin": {"page_size": (1000.0, 1000.0), "crops": True},
        "by": {"metadata": '{"columns": {"kind": {"a.pdf": "report"}}, "file": ""}'},
    },
    unmoved=OF_FILES
    | LENIENT
    | {"page_size": "both sides are scaled alike", "allow_missing_scores": "all have scores; without, they would be refused"},
)

LAYOUT = Trial(
    Layout(),
    BOXES,
    READING | {"iou": 0.9, "boxes": "xyxy"},
    given={"units": {"page_size": (1000.0, 1000.0)}, "page_size": SIZES, "origin": {"page_size": (1000.0, 1000.0)}},
    unmoved=OF_FILES | LENIENT | ALIKE,
)

# Records with two keys that could be ids.


@st.composite
def records(draw: st.DrawFn) -> Sources:
    keys = [draw(st.permutations(range(3))) for _ in range(2)]
    sides = [
        [{"doc_id": place, "key": key[place], **draw(fields.RECORDS)} for place in range(draw(st.integers(1, 3)))]
        for key in keys
    ]
    return sides[0], sides[1]


FIELDS = Trial(
    Fields(schema=fields.SCHEMA),
    records(),
    {
        "schema": {"fields": {"text": {"type": "str"}}},
        "id": "key",
        "accounting": "paired",
        "iou": (0.2,),
        "recall_with_fd": True,
        "missing": "intersect",
        "boxes": "xywh",
        "target_precision": 0.5,
        "strict": True,
        "keep_outcomes": False,
    },
    unmoved={"strict": "it refuses or changes nothing"},
)

# Texts in blocks, with what clean-up looks for.

_words = st.sampled_from(["the", "cat", "fine", "ﬁne", "soft\u00adly", "wi\u200bde", "( , )", "evalu-\nation", "x²", "end."])
_block = st.builds(
    lambda words, marks, lang: Block(" ".join(words), frozenset(marks), lang),
    st.lists(_words, min_size=1, max_size=5),
    st.sampled_from([(), ("table",)]),
    st.sampled_from([None, "en", "de"]),
)
_texts = st.dictionaries(st.sampled_from(["d1", "d2", "d3"]), st.lists(_block, min_size=1, max_size=3), min_size=1)
TEXTS = st.tuples(*[_texts.map(lambda texts: TextCorpus(texts={**texts}))] * 2)

WORDS = Trial(
    Words(),
    TEXTS,
    {
        "lattice": "built",
        "build_lattice": True,
        "holdout": ("d1",),
        "holdout_fraction": 0.5,
        "holdout_fold": "0/2",
        "seed": 1,
        "clean": ("drop=table", "fold=ligatures"),
        "page_text": {"d1": "the cat"},
        "tokenizer": "words-and-punctuation",
        "unicode": "NFKC",
        "fold": ("ligatures",),
        "drop_soft_hyphen": True,
        "drop_zero_width": True,
        "dehyphenate": "lines",
        "drop": ("table",),
        "keep_lang": ("en",),
        "min_block_recall": 0.9,
        "drop_empty_parens": True,
        "stop_words": ("the",),
        "level": "line",
        "cer": True,
        "characters": "graphemes",
        "separators": "lines",
        "ignore": ("punctuation",),
        "substitute": (("the", "cat"),),
        "from_truth": "text",
        "from_pred": "text",
        "table_columns": ("docid", "wordid", "word"),
        "stem_pattern": "*.txt",
        "source_separator": "letters",
        "page_regions": "ordered",
        "alto_hyphens": "printed",
        "profile": "dinglehopper",
        "errors": 3,
        "keep_unknown": False,
    },
    given={
        "seed": {"holdout_fraction": 0.5},
        "page_text": {"min_block_recall": 0.5},
        "keep_unknown": {"keep_lang": ("en",)},
        "separators": {"characters": "code-points"},
    },
    unmoved={
        "level": "only PAGE XML has levels",
        "page_regions": "only PAGE XML has regions and an order",
        "alto_hyphens": "only ALTO says which words a line end splits",
        "source_separator": "only tables of candidates name sources in one cell",
    }
    | dict.fromkeys(("from_truth", "from_pred", "table_columns", "stem_pattern"), "these texts are no files"),
)

CHECKS = Trial(
    checks.TASK,
    checks.CHECKS.documents.map(checks.CHECKS.corpora),
    {
        "evaluators": Checks.of([{"type": "iou_score", "bbox_path": "box", "expected_bbox_path": "box"}]).evaluators,
        "own": (("mine", "0123456789ab"),),
        "ids": ("a*",),
        "tags": ("none has it",),
        "only": ("a",),
        "partial": "pass",
        "gate": '{"pass_rate": 1.0}',
    },
    unmoved={
        "own": "only a suite can bring functions, and the digest tells which",
        "partial": "without a threshold nothing is partial against it",
    },
)

TABLES = Trial(
    Tables(),
    tables.TABLES.documents.map(tables.TABLES.corpora),
    {
        "compat": "pubtabnet",
        "adjacency": "2019",
        "adjacency_blanks": "ignore",
        "only": ("teds",),
        "unicode": "NFKC",
        "fold": ("dashes",),
        "ignore_case": True,
        "lenient": True,
    },
    unmoved={"lenient": "nothing is wrong with these cells"},
)

_WAY = {"doc_id": "d", "boxes": [[0, 0, 9, 1], [0, 2, 9, 5], [0, 6, 9, 9]], "labels": ["header", "text", "text"]}
_READ = {**_WAY, "boxes": [[0, 0, 9, 1], [0, 2, 9, 4], [0, 6, 9, 9]], "order": [1, 2, 0]}
ORDER = Trial(
    Order(),
    st.one_of(order.ORDER.documents.map(order.ORDER.corpora), st.just(([_WAY], [_READ]))),
    {"pair": "iou", "iou": 0.9, "furniture": ()},
    given={"iou": {"pair": "iou"}},
)

CEILING = Trial(
    Ceiling(),
    st.tuples(
        st.lists(_entry, min_size=1, max_size=5), st.lists(st.lists(_entry, min_size=1, max_size=5), min_size=2, max_size=2)
    ),
    READING
    | {
        "kind": "layout",
        "systems": ("finder", "cropper"),
        "iou": (0.3, 0.9),
        "labels": ("Table",),
        "min_score": 0.4,
        "missing": "intersect",
        "fuse_iou": 0.1,
        "splits": 3,
        "seed": 5,
        "by": ("kind",),
        "metadata": '{"columns": {"kind": {"a.pdf": "letter"}}, "file": ""}',
        "schema": {"fields": {"text": {"type": "str"}}},
        "id": "key",
        "suspects": 5,
    },
    given={
        "units": {"page_size": (1000.0, 1000.0)},
        "page_size": SIZES,
        "origin": {"page_size": (1000.0, 1000.0)},
        "by": {"metadata": '{"columns": {"kind": {"a.pdf": "report"}}, "file": ""}'},
    },
    unmoved=OF_FILES
    | LENIENT
    | {"page_size": "both sides are scaled alike", "origin": "suspects have their boxes where pages begin"}
    | dict.fromkeys(("schema", "id"), "these are boxes, and no records"),
)


def sliced(trial: Trial) -> Trial:
    """The trial with the settings of slices, which every task has."""
    others = {"by": ("kind",), "metadata": '{"columns": {"kind": {"1": "letter"}}, "file": ""}'}
    given = {"by": {"metadata": '{"columns": {"kind": {"1": "report"}}, "file": ""}'}}
    return replace(trial, others=others | dict(trial.others), given=given | dict(trial.given))


TRIALS = {trial.task.name: trial for trial in map(sliced, (DETECTION, LAYOUT, FIELDS, WORDS, CHECKS, TABLES, ORDER, CEILING))}

ENGINE = {("fields", "keep_outcomes"): "whether outcomes are listed: Evaluator says so"}
"""Fields of tasks that are neither settings nor told: they change what is written down, and no number."""
NAMES = {("ceiling", "systems"): "what the systems are called, in the JSON too"}
"""Views that change names, and no number."""
TOLD = {("words", "keep_unknown")}
"""Fields that are no option of their own, and in the signature all the same."""


def silent(task: Task, name: str) -> bool:
    """Whether the signature does not tell a field."""
    note = settings(task).get(name)
    return (task.name, name) in ENGINE or (note is not None and note.view)


def numbers(task: Task, sources: Sources) -> Mapping[str, Any] | None:
    """The numbers, or nothing where the sources are refused."""
    try:
        return Evaluator(task, keep="numbers").update(*sources).compute().numbers
    except CalqueError:
        return None


def kept(before: Any, after: Any) -> Any:
    """What there is after a change of that which was there before it; views add, and ``by`` may name other columns."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return after
    return {key: before[key] if key == "by" else kept(before[key], after[key]) for key in before if key in after}


def cases(wanted: Callable[[Trial, str], bool]) -> list[Any]:
    """The fields of all tasks that are wanted, for pytest."""
    every = [(task, trial, name) for task, trial in TRIALS.items() for name in trial.others]
    return [pytest.param(trial, name, id=f"{task}: {name}") for task, trial, name in every if wanted(trial, name)]


def moving(trial: Trial, name: str) -> bool:
    """Whether a field is told, and moves numbers on these sources."""
    return not silent(trial.task, name) and name not in trial.unmoved


def test_every_task_and_every_field_is_tried() -> None:
    assert TRIALS.keys() == BUILT_IN.keys()
    for task, trial in TRIALS.items():
        names = {each.name for each in dataclasses.fields(trial.task)}
        assert trial.others.keys() == names
        assert names == {*settings(trial.task), *(name for owner, name in {*ENGINE, *TOLD} if owner == task)}
        assert trial.unmoved.keys() <= names
    assert {each.name for each in dataclasses.fields(BoxReading)} == READING.keys()


@pytest.mark.parametrize("task", TRIALS)
def test_a_whole_number_is_the_same_setting_as_a_float(task: str) -> None:
    """What one side writes as 1 and the other as 1.0 is merged and compared; numbers of NumPy are as good."""
    base = TRIALS[task].task
    for name, note in settings(base).items():
        if note.kind in ("number", "numbers"):
            many = {"page_size": 2, "error_limits": 4}.get(name, 1)
            forms = [one if note.kind == "number" else (one,) * many for one in (1, 1.0, np.float32(1))]
            several = [replace(base, **{name: one}) for one in forms]
            assert len({str(each.signature()) for each in several}) == len({repr(each) for each in several}) == 1, name
            Evaluator(several[0]).merge(Evaluator(several[1]))


QUOTED = {
    ("detection", "max_detections"): "maxdets",
    ("detection", "allow_missing_scores"): "missing-scores",
    ("words", "holdout_fold"): "holdout-fold",
    ("words", "fold"): "fold",
    ("words", "drop_soft_hyphen"): "soft-hyphen-dropped",
    ("words", "drop_zero_width"): "zero-width-dropped",
    ("words", "drop_empty_parens"): "empty-parens-dropped",
    ("checks", "own"): "own",
    ("ceiling", "kind"): "kind",
    # These stand for others, which are told.
    **dict.fromkeys([("words", name) for name in ("build_lattice", "clean", "cer", "profile")], ""),
}
"""What signatures, which people quote, call otherwise than the command line does."""


@pytest.mark.parametrize("task", TRIALS)
def test_signatures_call_settings_as_the_command_line_does(task: str) -> None:
    for name, note in settings(TRIALS[task].task).items():
        assert note.key == ("" if note.view else QUOTED.get((task, name), note.flag.removeprefix("--"))), name


@pytest.mark.parametrize(("trial", "name"), cases(lambda *_: True))
def test_a_change_moves_the_signature_unless_it_is_a_view(trial: Trial, name: str) -> None:
    base, changed = trial.pair(name)
    assert base != changed
    apart = base.signature().differences(changed.signature())
    assert bool(apart) != silent(base, name)
    if apart:
        with pytest.raises(MergeError):
            Evaluator(base).merge(Evaluator(changed))


@pytest.mark.parametrize(
    ("trial", "name"), cases(lambda trial, name: silent(trial.task, name) and (trial.task.name, name) not in NAMES)
)
@examples(15, phases=set(Phase) - {Phase.explain})
@given(data=st.data())
def test_a_view_moves_no_number(trial: Trial, name: str, data: st.DataObject) -> None:
    sources = data.draw(trial.sources)
    base, changed = trial.pair(name)
    before, after = numbers(base, sources), numbers(changed, sources)
    if before is not None and after is not None:
        assert kept(before, after) == before


@pytest.mark.no_cover  # most of it is looking for what moves
@pytest.mark.parametrize(("trial", "name"), cases(moving))
def test_a_setting_moves_numbers_somewhere(trial: Trial, name: str) -> None:
    base, changed = trial.pair(name)

    def moves(sources: Sources) -> bool:
        before, after = numbers(base, sources), numbers(changed, sources)
        return before is not None and after is not None and before != after

    quickly = tried(max_examples=400, phases=(Phase.generate,), suppress_health_check=list(HealthCheck), database=None)
    assert moves(find(trial.sources, moves, settings=quickly))
