"""Results, signatures, presentation, settings, errors and the public names."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import calque
from calque import Corpus, Detection, Evaluator, Issue, Result, Task
from calque.base.columns import Table
from calque.base.errors import ContractError, IssueLog, MissingExtra, Severity, did_you_mean, summarize
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.measures import MeasureName
from calque.evaluation.presentation.result_schema import result_of
from calque.evaluation.presentation.sections import (
    Section,
    cell,
    pad,
    printable,
    printable_lines,
    to_html,
    to_markdown,
    to_text,
    width,
)
from calque.evaluation.result import strict_json
from calque.evaluation.signature import Signature
from calque.evaluation.task import setting, settings, spell, task_class
from tests.snapshots import BOX, predictions, truth, valid_predictions, valid_truth


@pytest.mark.parametrize("value", [0.1, -0.0, 1e-05, 1e16, 5e-324, 2**70, -3, True, None, np.float64(0.3), [0.5, None, 2], "a"])
def test_values_are_written_as_json_writes_them(value: Any) -> None:
    assert strict_json(value) == json.dumps(value)
    assert json.loads(strict_json({"value": value})) == {"value": value}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")], np.float64("nan")])
def test_what_is_no_number_is_not_written(value: Any) -> None:
    with pytest.raises(ValueError, match="Out of range"):
        strict_json({"value": value})


@pytest.fixture
def result() -> Result:
    return Evaluator(Detection()).update(valid_truth(), valid_predictions()).compute()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("recall@0.5", 0.5),
        ("recall", 0.5),
        ("recall@0.50", 0.5),
        ("micro.recall@0.5", 0.5),
        ("recall@0.5/Figure", 1.0),
        ("micro.recall@0.5/Figure", 1.0),
        (("Figure", "recall@0.75"), 1.0),
        (("Table", "mean_iou@0.5"), None),
        ("macro_documents.precision@0.5", 0.5),
        ("tp@0.5", 1),
    ],
)
def test_results_are_indexed_by_measure_or_by_class_and_measure(result: Result, key: Any, value: float | None) -> None:
    assert result[key] == value


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("recal@0.5", "there is no 'recal' among tp, fp, fn, precision"),
        ("recall@0.6", r"there is no '0\.6' among 0\.5, 0\.75"),
        ("recall@0.5/Stamp", "there is no 'Stamp' among Figure, Table"),
        ("per_class.Figure@0.5", "is a table, not a number"),
        ("macro_documents.recall@0.5/Table", "there is no 'Table' among precision"),
        (("Figure", "nothing.recall"), "there is no 'nothing'"),
        ("micro.recall@0.5/Figure/more", "there is no 'Figure/more'"),
    ],
)
def test_what_is_not_there_is_a_key_error_that_says_what_is(result: Result, key: Any, message: str) -> None:
    with pytest.raises(KeyError, match=message):
        result[key]


def test_outcomes_are_a_table_an_iterator_and_frames(result: Result) -> None:
    table = result.outcomes()
    assert [(row["side"], row["outcome"]) for row in table.rows()] == [
        ("truth", "tp"),
        ("truth", "fn"),
        ("prediction", "tp"),
        ("prediction", "fp"),
    ]
    assert table.to_pandas()["outcome"].tolist() == ["tp", "fn", "tp", "fp"]
    assert table.to_polars()["page"].to_list() == [0, 0, 0, 3]


def test_outcomes_without_ids_number_the_rows() -> None:
    boxes = [[0, 0, 4, 4], [10, 10, 14, 14]]
    found = Corpus.from_arrays(boxes[::-1], ["a", "a"], scores=[0.5, 0.5])
    rows = list(Evaluator(Detection()).update(Corpus.from_arrays(boxes, ["a", "a"]), found).compute().outcomes().rows())
    assert [(row["id"], row["partner"], row["document"]) for row in rows] == [
        ("0", "1", "0"),
        ("1", "0", "0"),
        ("0", "1", "0"),
        ("1", "0", "0"),
    ]


def test_a_result_prints_itself(result: Result) -> None:
    sentence, empty, heading, sizes, *_ = str(result).splitlines()
    assert (sentence, empty) == (result.task.view().message(result.to_dict()), "")
    assert heading == "Detection: model-a against human annotation"
    assert sizes == "2 documents, 2 pages, 2 truths, 2 predictions"
    assert str(result).splitlines()[-1] == str(result.signature)
    assert json.loads(result.to_json()) == result.to_dict()


def test_html_shows_labels_as_text() -> None:
    nasty = "<script>alert(1)</script>"
    boxes = [[0, 0, 4, 4]]
    result = (
        Evaluator(Detection())
        .update(Corpus.from_arrays(boxes, [nasty]), Corpus.from_arrays(boxes, [nasty], scores=[0.5]))
        .compute()
    )
    html = result._repr_html_() + result.outcomes()._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_long_lists_of_names_are_cut() -> None:
    names = [f"d{k}" for k in range(8)]
    result = (
        Evaluator(Detection())
        .update(truth({(name, 0): [("Figure", BOX)] for name in names}), predictions({("d0", 0): []}))
        .compute()
    )
    assert "7 documents only in the truth: d1, d2, d3, d4, d5 and 2 more" in str(result)


def test_dots_in_labels_do_not_confuse_the_reasons() -> None:
    result = (
        Evaluator(Detection())
        .update(Corpus.from_arrays([[0, 0, 1, 1]], ["v1.micro.x"]), Corpus.from_arrays([], [], all_documents=[0]))
        .compute()
    )
    assert "– precision: no predictions [v1.micro.x, all (micro)]" in str(result)


# Signatures.


def test_the_signature_names_what_differs() -> None:
    one = Signature("detection", {"iou": "0.5", "old": "1"})
    other = Signature("detection", {"iou": "0.6", "new": "2"}, numbers="0.9")
    assert one.differences(Signature("layout", {"iou": "0.6"}, numbers="0.9")) == ["task: detection and layout"]
    assert one.differences(other) == [
        "calque: numbers of 0.1 and of 0.9",
        "iou: 0.5 and 0.6",
        "old: 1 and (not set)",
        "new: (not set) and 2",
    ]
    assert one.differences(Signature("detection", {"old": "1", "iou": "0.5"}, version="7")) == []


@pytest.mark.parametrize("field", [name for name, note in settings(Detection).items() if not note.view])
def test_every_setting_is_in_the_signature(field: str) -> None:
    other: dict[str, Any] = {
        "iou": (0.6,),
        "labels": ("a",),
        "min_area": 1.0,
        "min_score": 0.1,
        "missing": "intersect",
        "class_weight": (("a", 2.0),),
        "max_detections": (7,),
        "errors": "tide",
        "error_limits": (0.6, 0.1, 0.5, 0.7),
        "document_key": "file_name",
        "from_truth": "coco",
        "from_pred": "coco",
        "boxes": "xywh",
        "on": "masks",
        "units": "percent",
        "origin": "bottom_left",
        "page_size": (10.0, 20.0),
        "class_map": (("a", "b"),),
        "class_map_truth": (("a", "b"),),
        "class_map_pred": (("a", "b"),),
        "allow_missing_scores": True,
        "lenient": True,
        "recall_floor": 0.9,
        "precision_floor": 0.9,
    }
    changed = Detection(**{field: other[field]})
    key = settings(Detection)[field].key
    assert [line.partition(":")[0] for line in Detection().signature().differences(changed.signature())] == [key]
    assert f"{key}:" in str(changed.signature())


# Presentation.


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (True, "yes"), (False, "no"), (1234567, "1,234,567"), (0.5, "0.5000"), (1e-9, "0.0000"), ("a\nb", "a\\nb")],
)
def test_cells(value: Any, text: str) -> None:
    assert cell(value) == text


def test_text_is_made_harmless_and_measured_in_terminal_cells() -> None:
    assert printable("a\x1b[0m\u202eb\ud800") == "a\\x1b[0m\\u202eb\\ud800"
    assert printable_lines("a\x07\nb") == "a\\x07\nb"
    assert [width(text) for text in ("abc", "図表", "e\u0301")] == [3, 4, 1]
    assert pad("図", 4, left=False) == "  図"
    assert pad("図", 4, left=True) == "図  "


SECTION = Section(
    title="Ti|tle <b>",
    head=("class", "value"),
    rows=[("図", 0.5), ("a_b", None), ("all", 1)],
    notes=["a *note*"],
    rule_before=2,
)


def test_sections_as_text() -> None:
    assert to_text([SECTION, Section(title="", notes=["end"])]) == (
        "Ti|tle <b>\nclass   value\n図     0.5000\na_b         –\n─────────────\nall         1\na *note*\n\nend"
    )


def test_sections_as_markdown() -> None:
    assert to_markdown([SECTION]) == (
        "### Ti\\|tle \\<b\\>\n\n| class | value |\n| :--- | ---: |\n"
        "| 図 | 0.5000 |\n| a\\_b | – |\n| all | 1 |\n\n- a \\*note\\*\n"
    )


def test_sections_as_html() -> None:
    assert to_html([SECTION]).startswith('<h4>Ti|tle &lt;b&gt;</h4><table><thead><tr><th class="left">class</th>')
    assert to_html([Section(title="", notes=["x & y"])]) == "<p>x &amp; y</p>"


# A task of a few lines inherits everything else.


@dataclass(frozen=True, kw_only=True)
class Exact(Task):
    """The share of documents in which both sides have as many boxes."""

    name: ClassVar[str] = "exact-for-test"
    strict: bool = setting(True, kind="switch", key="strict", help="As many boxes, or at least one.")

    def score(self, expected: Any, found: Any, *, jobs: int = 1) -> Ledger:
        units = expected.units()
        sizes = [[len(corpus.select([unit])) for corpus in (expected, found)] for unit in units]
        hit = np.array([a == b if self.strict else a > 0 < b for a, b in sizes])
        return Ledger(units=units, tables={"units": Table({UNIT: np.arange(len(units), dtype=np.int32), "hit": hit})})

    def measure(self, ledger: Ledger, *, jobs: int = 1) -> dict[str, Any]:
        return {"share": float(ledger.table("units").array("hit").mean())}


def test_a_new_task_is_a_dataclass_with_a_score_and_a_measure() -> None:
    truth_side = Corpus.from_arrays([[0, 0, 1, 1]] * 3, ["a"] * 3, documents=["x", "y", "y"])
    found_side = Corpus.from_arrays([[0, 0, 1, 1]] * 2, ["a"] * 2, documents=["x", "y"])
    result = Evaluator(Exact()).update(truth_side, found_side).compute()
    assert result["share"] == 0.5
    assert str(result) == f"exact-for-test\nmeasure   value\nshare    0.5000\n\ncalque {calque.__version__} | exact-for-test"
    assert [row["hit"] for row in result.outcomes().rows()] == [True, False]
    assert result.task.view().rows(result.numbers) == [{"measure": "share", "value": 0.5}]
    assert result.template() == []
    assert result.task.view().message(result.to_dict()) == ""
    assert [section.title for section in result.brief()] == ["exact-for-test", ""]
    assert Exact.measures() == ()
    assert Exact().view().columns == {"measure": "The name of a number.", "value": "The number."}
    assert Exact().view().schema() == result_of("exact-for-test", {})
    assert result.ledger.renumbered(7) is result.ledger
    assert task_class("exact-for-test") is Exact
    shards = [Evaluator(Exact()).update(truth_side.select([u]), found_side.select([u])) for u in ("y", "x")]
    assert shards[0].merge(Evaluator.from_state(shards[1].state())).compute()["share"] == 0.5
    with pytest.raises(ValueError, match="is not a"):
        result["a.b.c"]


def test_flags_come_from_field_names() -> None:
    assert settings(Exact)["strict"].flag == "--strict"
    assert settings(Detection)["allow_missing_scores"].flag == "--allow-missing-scores"
    assert spell(0.5) == "0.5"


def test_unknown_tasks_are_none() -> None:
    assert task_class("nonsense") is None


def test_measures_explain_themselves() -> None:
    for measure in Detection.measures():
        assert MeasureName.parse(measure.name).name == measure.name
        assert all(getattr(measure, field) for field in ("title", "definition", "formula", "source", "undefined"))


# Errors.


def test_issues_say_what_where_and_what_to_do() -> None:
    issue = Issue("code", "odd", "f.json", "/a", "mend it", Severity.NOTE, 1234)
    assert str(issue) == "f.json: /a: odd (1,234 times); mend it"
    assert str(Issue("code", "odd")) == "odd"
    assert Issue.from_dict(json.loads(json.dumps(issue.to_dict()))) == issue


def test_issues_of_a_kind_are_counted() -> None:
    issues = [Issue("a", "1", "f"), Issue("b", "2", "f"), Issue("a", "3", "f", count=4), Issue("a", "5", "g")]
    assert [(i.file, i.code, i.message, i.count) for i in summarize(issues)] == [
        ("f", "a", "1", 5),
        ("f", "b", "2", 1),
        ("g", "a", "5", 1),
    ]


def test_a_log_keeps_issues_in_order_and_raises_only_for_errors() -> None:
    log = IssueLog("f")
    log.add("note", "/a", "odd", severity=Severity.NOTE)
    log.raise_errors()
    log.add("bad", "/b", "wrong", help="mend it")
    log.hint("looks like pixels")
    with pytest.raises(ContractError) as caught:
        log.raise_errors()
    assert str(caught.value) == "f: /b: wrong; mend it\nf: /a: odd\nhint: looks like pixels"
    assert [issue.code for issue in caught.value.issues] == ["note", "bad"]


def test_issues_beyond_those_that_are_kept_are_counted_by_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calque.base.errors.KEPT", 60)
    log = IssueLog("f")
    for number in range(100):
        log.add("box", f"/{number}", "odd box")
        log.add("score", f"/{number}", "odd score")
        log.add("clipped", f"/{number}", "clipped", severity=Severity.NOTE)
    with pytest.raises(ContractError) as caught:
        log.raise_errors()
    assert caught.value.total == 300
    assert sum(issue.count for issue in caught.value.issues) == 300
    lines = str(caught.value).splitlines()
    assert sorted(line.split() for line in lines[-3:]) == [
        ["100", "×", "box"],
        ["100", "×", "clipped"],
        ["100", "×", "score"],
    ]


def test_suggestions_and_missing_extras() -> None:
    assert did_you_mean("recal", ["recall", "precision"]) == "did you mean 'recall'?"
    assert did_you_mean("xyz", ["recall"]) == ""
    assert str(MissingExtra("shapely", "geometry", "repairing polygons")) == (
        "repairing polygons needs shapely, which is not installed: pip install 'calque-eval[geometry]'"
    )


# Public names.


def test_every_public_name_is_there_and_documented() -> None:
    for name in calque.__all__:
        value = getattr(calque, name)
        assert name == "__version__" or value.__doc__
    assert {*calque.__all__, "words", "tables", "coco"} <= set(dir(calque))
    assert calque.read is importlib.import_module("calque.readers").read


def test_no_name_that_is_offered_turns_into_a_module_of_that_name() -> None:
    """Importing a module puts it into its package under its name, in the place of what was lazily there."""
    packages = ["calque", *(found.name for found in pkgutil.walk_packages(calque.__path__, "calque.") if found.ispkg)]
    for package in map(importlib.import_module, packages):
        inside = {module.name for module in pkgutil.iter_modules(package.__path__)}
        for name in inside.intersection(getattr(package, "__all__", ())):
            assert getattr(package, name) is importlib.import_module(f"{package.__name__}.{name}")


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="module 'calque' has no attribute 'nonsense'"):
        calque.nonsense  # noqa: B018
    assert isinstance(Detection.fixed, Mapping)
