"""Gates on every verb: limits, what servers are told, and which exit code wins."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from calque import ConfigError, Detection, Evaluator, gated
from calque.evaluation.metric_names import direction
from calque.evaluation.task import task_class
from calque.sample import sample
from tests.cli.conftest import BOXES as SUITE
from tests.conftest import Run
from tests.snapshots import BOX, predictions, write

Calque = Callable[..., Run]

pytest_plugins = ["pytester"]

LINES = {
    "detect": (("truth.json", "found.json"), "recall@0.5/Figure", 2 / 3, "fp@0.5", 1),
    "layout": (("truth.json", "found.json"), "layout_accuracy_over_total", 0.5, "", 0),
    "fields": (("truth.jsonl", "found.jsonl"), "cm_precision/total", 0.5, "fd", 1),
    "words": (("truth.txt", "found.txt"), "recall", 0.5, "wer", 0.5),
    "tables": (("truth.html", "found.html"), "cells_recall", 0.5, "", 0),
    "check": (("suite.yaml",), "score/box", 0.5, "fail", 1),
    "merge": (("one.state", "two.state"), "recall@0.5", 0.5, "fn@0.5", 2),
}
"""Each verb with numbers: what it reads, a measure of which more is better with its value, and one of which less is."""


@pytest.mark.parametrize("verb", LINES)
def test_the_value_itself_passes_and_a_little_more_fails(calque: Calque, here: Path, verb: str) -> None:
    files, higher, value, lower, most = LINES[verb]
    passed = calque(verb, *files, "--fail-under", f"{higher}={value!r}", "--format", "json")
    assert (passed.code, passed.json["gate"]) == (0, {"passed": True, "failures": []})
    failed = calque(verb, *files, "--fail-under", f"{higher}={value + 1e-9!r}", "--format", "json")
    assert failed.code == 1
    assert failed.err.startswith(f"gate: {higher} ")
    assert failed.json["gate"] == {"passed": False, "failures": [failed.err.removeprefix("gate: ").strip()]}
    if lower:
        assert calque(verb, *files, "--fail-over", f"{lower}={most}").code == 0
        assert calque(verb, *files, "--fail-over", f"{lower}={most - 0.25}").code == 1


@pytest.mark.parametrize("verb", LINES)
def test_the_wrong_one_of_the_two_names_the_other(calque: Calque, here: Path, verb: str) -> None:
    files, higher, _, lower, _ = LINES[verb]
    turned = calque(verb, *files, "--fail-over", f"{higher}=0.5", "--save", "not.state")
    assert (turned.code, turned.out) == (2, "")
    assert f"--fail-over {higher}: higher is better there; use --fail-under {higher}=0.5" in turned.err
    assert not (here / "not.state").exists()
    if lower:
        assert f"lower is better there; use --fail-over {lower}=3" in calque(verb, *files, "--fail-under", f"{lower}=3").err


WRONG = {
    "a mistyped measure": ("recal@0.5=0.9", "the nearest are recall@0.5, recall@0.75, "),
    "a mistyped class": ("recall@0.5/Figur=0.9", "the nearest are recall@0.5/Figure, "),
    "a threshold that was not asked for": ("recall@0.9=0.9", "the nearest are recall@0.5, recall@0.75, "),
    "a table": ("coco=0.9", "the nearest are "),
    "no value": ("recall@0.5", "write --fail-under MEASURE=VALUE"),
    "no measure": ("=0.5", "write --fail-under MEASURE=VALUE"),
    "no number": ("recall@0.5=most", "'most' is not a number"),
    "not a number": ("recall@0.5=nan", "is not a finite number"),
    "infinite": ("recall@0.5=inf", "is not a finite number"),
    "no name": ("!=0.5", "is not a measure name"),
}


@pytest.mark.parametrize(("gate", "hint"), WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("verb", ["detect", "merge"])
def test_what_no_result_could_be_held_to_is_refused(calque: Calque, here: Path, verb: str, gate: str, hint: str) -> None:
    done = calque(verb, *LINES[verb][0], "--fail-under", gate, "-o", "out.json")
    assert (done.code, done.out, (here / "out.json").exists()) == (2, "", False)
    assert hint in done.err


def test_an_undefined_measure_fails(calque: Calque, here: Path) -> None:
    write(here / "none.json", predictions({("a", 0): [], ("b", 0): []}))
    done = calque("detect", "truth.json", "none.json", "--fail-under", "precision@0.5=0", "--format", "json")
    assert done.code == 1
    assert done.json["gate"]["failures"] == ["precision@0.5 has no value (no predictions); it must be at least 0.0"]


def test_several_gates_are_all_told(calque: Calque, here: Path) -> None:
    gates = ("--fail-under", "recall@0.5=0.9", "--fail-under", "AP=0", "--fail-over", "fp@0.5=0")
    done = calque("detect", "truth.json", "found.json", *gates)
    assert done.code == 1
    assert done.err.splitlines() == ["gate: recall@0.5 0.5000 is below 0.9", "gate: fp@0.5 1 is above 0.0"]
    assert done.out.startswith("Gate failed: recall@0.5 0.5000 is below 0.9\nfp@0.5 1 is above 0.0\n\n")
    quiet = calque("detect", "truth.json", "found.json", *gates, "--quiet")
    assert (quiet.code, quiet.err, quiet.out) == (1, "", done.out)


def test_what_holds_stands_before_the_signature(calque: Calque, here: Path) -> None:
    done = calque("detect", "truth.json", "found.json", "--fail-under", "recall@0.50=0.25", "--brief")
    assert "\n\nGate: passed\nrecall@0.5 is 0.5000, at least 0.25\n\ncalque " in done.out


def test_neither_more_nor_less_of_a_size_is_better(calque: Calque, here: Path) -> None:
    sizes = ("--fail-under", "cases=2", "--fail-over", "cases=2")
    assert calque("check", "suite.yaml", *sizes).code == 0
    assert calque("check", "suite.yaml", "--fail-under", "cases=3").code == 1


def test_incomplete_input_outranks_a_failed_gate(calque: Calque, here: Path) -> None:
    broken = SUITE + "  - {id: broken, output: {box: [0, 0, 2, 2]}, expected: {bxo: [1]}}\n"
    (here / "suite.yaml").write_text(broken)
    done = calque("check", "suite.yaml", "--fail-under", "score=0.9")
    assert (done.code, done.err.splitlines()[0].startswith("gate: score 0.")) == (3, True)
    write(here / "other.json", predictions({("z", 0): [("Figure", BOX, 0.5)]}))
    apart = calque("detect", "truth.json", "other.json", "--fail-under", "recall@0.5/Nothing=0.9", "--format", "json")
    assert apart.code == 3
    assert apart.err.startswith("error: ")
    assert apart.json["gate"]["failures"] == [
        "recall@0.5/Nothing has no value (nothing was evaluated); it must be at least 0.9"
    ]


def test_the_gate_of_a_suite_and_options_hold_together(calque: Calque, here: Path) -> None:
    passed = calque("check", "suite.yaml", "--fail-under", "score=0.5")
    assert (passed.code, passed.out.count("Gate: passed")) == (0, 1)
    failed = calque("check", "suite.yaml", "--fail-under", "score=0.75")
    assert (failed.code, failed.out.count("Gate")) == (1, 1)
    assert failed.out.startswith("Gate failed: score 0.5000 is below 0.75\n\n")
    (here / "suite.yaml").write_text(SUITE.replace("0.25", "0.75"))
    both = calque("check", "suite.yaml", "--fail-under", "score=0.75", "--format", "json")
    assert both.json["gate"]["failures"] == ["score 0.5000 is below 0.75", "pass rate 0.5000 is below 0.75"]
    own = calque("check", "suite.yaml", "--fail-under", "score=0.25")
    assert (own.code, own.err) == (1, "gate: pass rate 0.5000 is below 0.75\n")


def test_several_readings_are_each_held_to_the_gates(calque: Calque, here: Path) -> None:
    (here / "other.txt").write_text("to be or not")
    line = ("words", "truth.txt", "found.txt", "other.txt", "--fail-over", "wer=0.25")
    failed = calque(*line, "--format", "json")
    assert (failed.code, failed.err) == (1, "gate: found.txt: wer 0.5000 is above 0.25\n")
    assert failed.json["gate"] == {"passed": False, "failures": ["found.txt: wer 0.5000 is above 0.25"]}
    assert [run["gate"]["passed"] for run in failed.json["runs"].values()] == [False, True]
    table = calque(*line).out
    assert table.startswith("Gate failed (found.txt): wer 0.5000 is above 0.25\n\n")
    assert calque(*line[:-1], "wer=0.5").code == 0
    tests = {test.get("name"): len(test) for test in ET.fromstring(calque(*line, "--format", "junit").out).iter("testcase")}
    assert tests == {
        "found.txt: wer <= 0.25": 1,
        "found.txt: everything was evaluated": 0,
        "other.txt: wer <= 0.25": 0,
        "other.txt: everything was evaluated": 0,
    }


@pytest.mark.parametrize(("verb", "show"), [("words", "truth"), ("tables", "truth")])
def test_gates_hold_where_one_document_is_shown(calque: Calque, here: Path, verb: str, show: str) -> None:
    files, higher, value, _, _ = LINES[verb]
    assert calque(verb, *files, "--show", show, "--fail-under", f"{higher}={value}").code == 0
    failed = calque(verb, *files, "--show", show, "--fail-under", f"{higher}=0.9")
    assert (failed.code, failed.err.split()[:2]) == (1, ["gate:", higher] if verb == "tables" else ["gate:", "found.txt:"])


# Servers.


@pytest.mark.parametrize("verb", LINES)
def test_junit_has_a_test_for_every_gate(calque: Calque, here: Path, verb: str) -> None:
    files, higher, value, _, _ = LINES[verb]
    gates = ("--fail-under", f"{higher}=0.1", "--fail-under", f"{higher}=0.99")
    done = calque(verb, *files, *gates, "-o", "gate.xml")
    assert (done.code, done.out) == (1, "")
    root = ET.parse(here / "gate.xml").getroot()
    told = {test.get("name"): [child.get("message") for child in test] for test in root.iter("testcase")}
    assert told[f"{higher} >= 0.1"] == []
    assert told[f"{higher} >= 0.99"] == [f"{higher} {value:.4f} is below 0.99"]
    assert root.get("failures") == str(sum(map(len, told.values())))


def test_junit_says_what_could_not_be_evaluated(calque: Calque, here: Path) -> None:
    whole = ET.fromstring(calque("detect", "truth.json", "found.json", "--format", "junit").out)
    assert [(test.get("name"), len(test)) for test in whole.iter("testcase")] == [("everything was evaluated", 0)]
    write(here / "other.json", predictions({("z", 0): [("Figure", BOX, 0.5)]}))
    lost = ET.fromstring(calque("detect", "truth.json", "other.json", "--format", "junit").out)
    (error,) = lost.iter("error")
    assert "the two sides have no document in common" in str(error.get("message"))


def test_states_of_checks_are_tests_case_by_case(calque: Calque, here: Path) -> None:
    calque("check", "suite.yaml", "--save", "checks.state")
    root = ET.fromstring(calque("merge", "checks.state", "--format", "junit", "--fail-under", "score=0.1").out)
    assert [(test.get("name"), len(test)) for test in root.iter("testcase")] == [("score >= 0.1", 0), ("good", 0), ("bad", 1)]


@pytest.mark.parametrize("verb", LINES)
def test_annotations_say_the_same(calque: Calque, here: Path, verb: str) -> None:
    files, higher, value, _, _ = LINES[verb]
    done = calque(verb, *files, "--fail-under", f"{higher}=0.99", "--format", "github")
    task = {"merge": "detection", "check": "checks", "detect": "detection"}.get(verb, verb)
    line = f"::error title=calque.{task}.gate%3A {higher} >= 0.99::{higher} {value:.4f} is below 0.99"
    assert (done.code, line in done.out.splitlines()) == (1, True)
    beside = calque(verb, *files, "--fail-under", f"{higher}=0.99", "--annotations", "-o", "out.json")
    assert line in beside.out.splitlines()
    if verb != "check":  # whose failing case has an annotation of its own
        assert calque(verb, *files, "--fail-under", f"{higher}=0.1", "--format", "github").out == ""


def test_markdown_begins_with_what_failed(calque: Calque, here: Path) -> None:
    done = calque("detect", "truth.json", "found.json", "--fail-under", "recall@0.5=0.9", "--brief", "-o", "comment.md")
    assert done.code == 1
    assert (here / "comment.md").read_text().startswith("### Gate failed: recall@0.5 0.5000 is below 0.9\n\nFinds 50 %")


# Trackers and pytest.


def test_measures_for_trackers() -> None:
    files = sample()
    result = Evaluator(Detection(iou=(0.5,))).update(files["truth"], files["finder"]).compute()
    flat = result.flat(prefix="val/")
    assert flat["val/recall@0.5"] == result["recall@0.5"]
    assert flat["val/AP50/Table"] == result["Table", "AP50"]
    assert "val/APs" not in flat  # it has no value here
    assert all(isinstance(value, int | float) for value in flat.values())
    assert result.flat() == {name.removeprefix("val/"): value for name, value in flat.items()}


LOWER = {
    "detection": {"fp", "fn", "delta_f1", "delta_ap"},
    "layout": set[str](),
    "fields": {"brier_score", "ece"},
    "checks": set[str](),
    "words": {"wer", "cer"},
}
"""Of the measures that are explained, those of which less is better, beside error kinds."""


@pytest.mark.parametrize("name", LOWER)
def test_the_direction_of_every_explained_measure(name: str) -> None:
    task = task_class(name)
    assert task is not None
    known = {measure.name for measure in task.measures()}
    kinds = {word for word in known if word.isupper() and not word.startswith(("AP", "AR"))}
    kinds |= {"Cls", "Loc", "Both", "Dupe", "Bkg", "Miss"} & known
    lower = {word for word in known if direction(task, word) < 0}
    assert lower == LOWER[name] | kinds
    assert direction(task, "layout_total_blocks") == (0 if name == "layout" else 1)


PYTEST = """
from calque import Corpus, Detection, Evaluator
from calque.sample import sample

FILES = sample()
EVALUATOR = Evaluator(Detection()).update(FILES["truth"], FILES["finder"])

def test_passes(calque_gate):
    result = calque_gate(EVALUATOR, fail_under={"recall@0.5": 0.9}, fail_over={"fp": 4})
    assert result["AP"] > 0.4

def test_fails(calque_gate):
    calque_gate(EVALUATOR.compute(), fail_under={"recall@0.5": 0.95, "recall@0.75": 0.4, "AP": 0.5})

def test_saved(calque_gate, tmp_path):
    EVALUATOR.save(tmp_path / "finder.state")
    calque_gate(tmp_path / "finder.state", fail_under={"recall@0.5": 0.9})

def test_incomplete(calque_gate):
    other = Corpus.from_arrays([[0, 0, 1, 1]], ["Table"], documents=["z"], scores=[1], extent="normalized")
    calque_gate(Evaluator(Detection()).update(FILES["truth"], other))
"""


def test_pytest_holds_results_to_gates(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(PYTEST)
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    done.assert_outcomes(passed=2, failed=2)
    done.stdout.fnmatch_lines(["recall@0.5 0.9412 is below 0.95", "AP 0.4555 is below 0.5", "*no document in common*"])
    assert "Traceback" not in done.stdout.str()


def test_gates_in_python_refuse_what_options_refuse() -> None:
    files = sample()
    result = Evaluator(Detection()).update(files["truth"], files["finder"]).compute()
    assert gated(result, fail_under={"recall": 0.9}).failures == []
    assert gated(result).verdict.to_dict([]) == {}
    for wrong in (float("nan"), True, "0.9"):
        with pytest.raises(ConfigError, match="is not a finite number"):
            gated(result, fail_under={"recall": wrong})  # type: ignore[dict-item]  # on purpose


# Blessing.


def test_blessing_copies_a_state_and_tells_what_changed(calque: Calque, here: Path) -> None:
    for name in ("finder", "cropper"):
        write(here / f"{name}.json", sample()[name])
        write(here / "sample.json", sample()["truth"])
        assert calque("detect", "sample.json", f"{name}.json", "--save", f"{name}.state").code == 0
    first = calque("bless", "finder.state", "-o", "base.state")
    assert (first.code, first.err) == (0, "wrote base.state\n")
    assert first.out.startswith("Baseline base.state\n8 documents\nthere was no baseline before\n")
    assert (here / "base.state").read_bytes() == (here / "finder.state").read_bytes()
    second = calque("bless", "cropper.state", "-o", "base.state", "--format", "json")
    assert second.json["measures"]["fp@0.5"] == {"old": 4, "new": 0, "difference": -4}
    assert second.json["replaced"] is True
    assert Counter(row["change"] for row in second.json["changed"]) == {"broken": 20, "fixed": 4}
    assert (here / "base.state").read_bytes() == (here / "cropper.state").read_bytes()
    same = calque("bless", "cropper.state", "-o", "base.state", "--quiet")
    assert (same.err, "no number changed" in same.out) == ("", True)
    back = calque("bless", "finder.state", "-o", "base.state", "--format", "markdown").out
    assert "| recall@0.5 | 0.7059 | 0.9412 | 0.2353 |" in back
    assert "### Items: 4 broken, 20 fixed, 0 changed\n\n- broken: " in back


def test_blessing_says_what_else_is_different(calque: Calque, here: Path) -> None:
    calque("detect", "truth.json", "found.json", "--iou", "0.6", "--save", "six.state")
    calque("bless", "one.state", "-o", "base.state")
    told = calque("bless", "six.state", "-o", "base.state").out
    assert (
        "cannot be compared item by item: the old baseline and the new one were made with different settings: iou: 0.5,0.75"
        in told
    )
    calque("words", "truth.txt", "found.txt", "--save", "words.state")
    assert "it is of another task: detection" in calque("bless", "words.state", "-o", "base.state").out


def test_only_states_are_blessed_and_only_states_replaced(calque: Calque, here: Path) -> None:
    for name in ("truth.json", "one.state"):
        before = (here / name).read_bytes()
        source = "one.state" if name == "truth.json" else "truth.json"
        assert calque("bless", source, "-o", name).code == 2
        assert (here / name).read_bytes() == before
    assert "name the file that is to be the baseline" in calque("bless", "one.state", "-o", "-").err
    assert calque("bless", "one.state").code == 2
    (here / "base.state").write_bytes((here / "one.state").read_bytes()[:200])
    told = calque("bless", "one.state", "-o", "base.state")
    assert (told.code, "cannot be compared item by item: base.state: the state is cut off" in told.out) == (0, True)


def test_a_state_in_which_nothing_was_evaluated_is_not_blessed(calque: Calque, here: Path) -> None:
    write(here / "other.json", predictions({("z", 0): [("Figure", BOX, 0.5)]}))
    assert calque("detect", "truth.json", "other.json", "--save", "none.state").code == 3
    done = calque("bless", "none.state", "-o", "base.state")
    assert (done.code, (here / "base.state").exists()) == (2, False)
    broken = SUITE + "  - {id: broken, output: {box: [0, 0, 2, 2]}, expected: {bxo: [1]}}\n"
    (here / "suite.yaml").write_text(broken)
    calque("check", "suite.yaml", "--save", "part.state")
    assert calque("bless", "part.state", "-o", "base.state").code == 3
    assert json.loads(calque("bless", "part.state", "-o", "base.state", "--format", "json").out)["measures"] == {}
