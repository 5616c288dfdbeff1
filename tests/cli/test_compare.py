"""``calque compare`` and ``--intervals``: what is told, in every format, and what is refused by name."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import Detection, Evaluator
from calque.sample import sample
from tests.conftest import Run
from tests.snapshots import BOX, predictions, truth, write

Calque = Callable[..., Run]
SECOND = (0.6, 0.6, 0.9, 0.9)
FEW = ("--replicates", "100")


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """The files of the demo, and the states of both models."""
    files = sample()
    for name, content in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    for name in ("finder", "cropper"):
        Evaluator(Detection()).update(files["truth"], files[name]).save(tmp_path / f"{name}.state")
    return tmp_path


def test_the_table(calque: Calque, demo: Path) -> None:
    done = calque("compare", "truth.json", "finder.json", "cropper.json")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "Compare: cropper against finder, 8 documents, 2,000 resamples of documents"
    assert lines[1] == "8 documents are few: intervals are unreliable"
    head = next(line for line in lines if line.startswith("measure"))
    assert head.split() == ["measure", "finder", "cropper", "difference", "p", "(Holm)"]
    assert any(line.startswith("AP *") and "+0.241 [" in line and line.endswith("undecided") for line in lines)
    assert any(line.startswith("recall@0.5 ") and "−0.235 [" in line for line in lines)
    assert "20 truths broken, 4 fixed, 0 false alarms new, 4 gone · by document 0 better, 2 equal, 6 worse" in lines
    assert "* tested, corrected for 2 tests; the others are shown, not tested" in lines
    assert done.out.rstrip().endswith("| intervals:bc-t | confidence:0.95 | replicates:2000 | resample-seed:0")


def test_the_json(calque: Calque, demo: Path) -> None:
    told = calque("compare", "truth.json", "finder.json", "cropper.json", *FEW, "--resample-seed", "7", "--format", "json").json
    assert {"task", "signature", "runs", "resampling", "measures", "documents", "changed", "undefined", "issues"} <= told.keys()
    assert list(told)[-2:] == ["undefined", "issues"]
    assert [run["name"] for run in told["runs"]] == ["finder", "cropper"]
    assert told["resampling"] == {"replicates": 100, "seed": 7, "confidence": 0.95, "documents": 8}
    plain = {name: calque("detect", "truth.json", f"{name}.json", "--format", "json").json for name in ("finder", "cropper")}
    entry = told["measures"]["AP"]
    assert {name: entry[name]["value"] for name in plain} == {name: plain[name]["coco"]["AP"] for name in plain}
    assert entry["delta"] == entry["cropper"]["delta"]
    assert entry["delta"]["value"] == entry["cropper"]["value"] - entry["finder"]["value"]
    assert {"p_adjusted", "verdict"} <= entry["delta"].keys()
    assert not {"p_adjusted", "verdict"} & told["measures"]["recall@0.5"]["delta"].keys()
    assert "unreliable" in entry["finder"]["note"]
    assert told["undefined"]["measures.APs.finder.value"].startswith("sizes are in pixels")
    changes = {(row["change"], row["to"] == "TP") for row in told["changed"]}
    assert changes == {("broken", False), ("fixed", True)}
    assert told["false_alarms"] == {"cropper": {"new": 0, "gone": 4}}
    documents = told["documents"]["runs"]["cropper"]
    assert (documents["better"], documents["equal"], documents["worse"], len(documents["listed"])) == (0, 2, 6, 6)


def test_states_tell_what_files_tell(calque: Calque, demo: Path) -> None:
    options = (*FEW, "--format", "json")
    from_files = calque("compare", "truth.json", "finder.json", "cropper.json", *options).json
    from_states = calque("compare", "finder.state", "cropper.state", *options).json
    for part in ("signature", "measures", "documents", "changed", "false_alarms", "resampling"):
        assert from_states[part] == from_files[part]


def test_every_format(calque: Calque, demo: Path) -> None:
    files = ("finder.state", "cropper.state", *FEW)
    rows = [json.loads(line) for line in calque("compare", *files, "--format", "jsonl").out.splitlines()]
    assert rows == calque("compare", *files, "--format", "json").json["changed"]
    assert list(rows[0]) == ["run", "document", "page", "id", "label", "change", "from", "to"]
    table = list(csv.DictReader(calque("compare", *files, "--format", "csv").out.splitlines()))
    assert {(row["measure"], row["run"]) for row in table} >= {("AP", "finder"), ("AP", "cropper"), ("AP/Figure", "cropper")}
    assert calque("compare", *files, "--format", "markdown").out.startswith("### Compare: cropper against finder")
    assert "\\begin{tabular}" in calque("compare", *files, "--format", "latex").out
    brief = calque("compare", *files, "--brief").out
    assert "AP *" in brief
    assert "recall@0.5" not in brief


def test_three_runs_are_held_against_the_first(calque: Calque, demo: Path) -> None:
    told = calque(
        "compare", "truth.json", "finder.json", "cropper.json", "finder.json", *FEW, "--names", "a,b,c", "--format", "json"
    ).json
    entry = told["measures"]["f1@0.5"]
    assert "delta" not in entry
    assert "delta" not in entry["a"]
    assert (entry["c"]["delta"]["value"], entry["c"]["delta"]["p"], entry["c"]["delta"]["verdict"]) == (0.0, 1.0, "equal")
    assert entry["b"]["delta"]["p_adjusted"] >= entry["b"]["delta"]["p"]
    assert {row["run"] for row in told["changed"]} == {"b"}
    text = calque("compare", "truth.json", "finder.json", "cropper.json", "finder.json", *FEW, "--names", "a,b,c").out
    assert "Compare: b against a" in text
    assert "Compare: c against a" in text


def test_the_primary_measures_are_chosen(calque: Calque, demo: Path) -> None:
    done = calque(
        "compare", "finder.state", "cropper.state", *FEW, "--primary", "recall", "--primary", "AP/Table", "--format", "json"
    ).json
    tested = {name for name, entry in done["measures"].items() if "verdict" in entry["delta"]}
    assert tested == {"recall@0.5", "AP/Table"}


REFUSED = {
    "one run": (("truth.json", "finder.json"), "a comparison needs two runs or more, and finder.json is alone"),
    "one state": (("finder.state",), "a comparison needs two runs or more, and finder.state is alone"),
    "a state beside a file": (("finder.state", "finder.json"), "finder.state is a state and finder.json is none"),
    "an unknown measure": (
        ("finder.state", "cropper.state", "--primary", "recal@0.5"),
        "there is no measure 'recal@0.5'; the nearest are recall@0.5, recall@0.75, recall@0.5/Table",
    ),
    "no replicates": (
        ("finder.state", "cropper.state", "--replicates", "0"),
        "replicates must be a whole number from 100, not 0",
    ),
    "few replicates": (("finder.state", "cropper.state", "--replicates", "99"), "from 100, not 99"),
    "no confidence": (("finder.state", "cropper.state", "--confidence", "0"), "confidence must be between 0 and 1"),
    "full confidence": (("finder.state", "cropper.state", "--confidence", "1"), "confidence must be between 0 and 1"),
    "no number": (("finder.state", "cropper.state", "--confidence", "nan"), "confidence must be between 0 and 1"),
    "a negative seed": (("finder.state", "cropper.state", "--resample-seed", "-1"), "must be a whole number from 0"),
    "settings of states": (("finder.state", "cropper.state", "--iou", "0.5"), "states have the settings"),
    "too few names": (("finder.state", "cropper.state", "--names", "a"), "there are 2 runs and 1 name"),
    "the same name twice": (("finder.state", "cropper.state", "--names", "a,a"), "each run needs a name of its own"),
    "a file that is not there": (("finder.state", "gone.state"), "gone.state: does not exist"),
    "no difference": (("finder.state", "cropper.state", "--difference", "0"), "--difference must be above 0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(calque: Calque, demo: Path, case: str) -> None:
    arguments, message = REFUSED[case]
    done = calque("compare", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def _state(calque: Calque, folder: Path, name: str, pages: dict[Any, Any], found: dict[Any, Any], *options: str) -> str:
    write(folder / "t.json", truth(pages))
    write(folder / "p.json", predictions(found))
    assert calque("detect", "t.json", "p.json", "--save", f"{name}.state", *options).code == 0
    return f"{name}.state"


def test_other_settings_documents_and_truths_are_refused(calque: Calque, tmp_path: Path) -> None:
    pages = {(f"d{number}", 0): [("Figure", BOX), ("Table", SECOND)] for number in range(6)}
    found = {page: [("Figure", BOX, 0.9)] for page in pages}
    base = _state(calque, tmp_path, "base", pages, found)
    other = _state(calque, tmp_path, "other", pages, found, "--iou", "0.6")
    assert "different settings: iou: 0.5,0.75 and 0.6" in calque("compare", base, other, *FEW).err
    fewer = _state(calque, tmp_path, "fewer", dict(list(pages.items())[:5]), dict(list(found.items())[:5]))
    refused = calque("compare", base, fewer, *FEW)
    assert refused.code == 2
    assert "base and fewer are about other documents: only in base: 'd5'; --shared-documents" in refused.err
    shared = calque("compare", base, fewer, *FEW, "--shared-documents", "--format", "json").json
    assert shared["resampling"]["documents"] == 5
    assert shared["measures"]["AP"]["delta"]["value"] == 0
    moved = {**pages, ("d3", 0): [("Figure", (0.1, 0.1, 0.45, 0.5)), ("Table", SECOND)]}
    elsewhere = _state(calque, tmp_path, "elsewhere", moved, found)
    refused = calque("compare", base, elsewhere, *FEW)
    assert refused.code == 2
    assert "base and elsewhere were evaluated against another truth, which differs in 1 document: 'd3'" in refused.err
    apart = _state(calque, tmp_path, "apart", {("x", 0): [("Figure", BOX)]}, {("x", 0): [("Figure", BOX, 0.9)]})
    assert "no document in common" in calque("compare", base, apart, *FEW).err
    assert "no document in common" in calque("compare", base, apart, *FEW, "--shared-documents").err


def test_a_document_that_a_run_made_up_exists_for_the_others(calque: Calque, tmp_path: Path) -> None:
    pages = {(f"d{number}", 0): [("Figure", BOX)] for number in range(6)}
    found = {page: [("Figure", BOX, 0.9)] for page in pages}
    plain = _state(calque, tmp_path, "plain", pages, found)
    more = _state(calque, tmp_path, "more", pages, {**found, ("made-up", 0): [("Figure", BOX, 0.8)]})
    told = calque("compare", plain, more, *FEW, "--format", "json").json
    assert told["resampling"]["documents"] == 7
    entry = told["measures"]["f1@0.5"]
    assert (entry["plain"]["documents"], entry["more"]["documents"], entry["delta"]["documents"]) == (6, 7, 7)
    assert told["documents"]["runs"]["more"] == {
        "better": 0, "equal": 6, "worse": 1, "listed": [{"document": "made-up", "change": "worse", "from": None, "to": 0.0}],
    }  # fmt: skip


@pytest.mark.parametrize("documents", [1, 4, 9, 12])
def test_few_documents(calque: Calque, tmp_path: Path, documents: int) -> None:
    pages = {(f"d{number}", 0): [("Figure", BOX), ("Figure", SECOND)] for number in range(documents)}
    some = {page: [("Figure", BOX, 0.9), ("Figure", SECOND, 0.8)][: 1 + place % 2] for place, page in enumerate(pages)}
    states = [
        _state(calque, tmp_path, "a", pages, some),
        _state(calque, tmp_path, "b", pages, {page: [("Figure", BOX, 0.9)] for page in pages}),
    ]
    entry = calque("compare", *states, *FEW, "--format", "json").json["measures"]["recall@0.5"]
    interval = entry["a"]["low"] is not None
    assert interval is (documents >= 5)
    assert (entry["delta"]["p"] is not None) is (documents >= 5)
    notes = {1: "1 document: too few", 4: "4 documents: too few", 9: "9 documents: unreliable", 12: ""}
    assert entry["a"]["note"].startswith(notes[documents])
    assert bool(entry["a"]["note"]) is (documents < 10)


TASKS = {
    "fields": (("--task", "fields"), "truth.jsonl", "found.jsonl", "cm_f1"),
    "fields by an option": (("--accounting", "paired"), "truth.jsonl", "found.jsonl", "cm_f1"),
    "words": (("--task", "words"), "truth.txt", "found.txt", "recall"),
    "words by an option": (("--cer",), "truth.txt", "found.txt", "recall"),
}


@pytest.mark.parametrize("case", TASKS)
def test_other_tasks(calque: Calque, here: Path, case: str) -> None:
    options, expected, found, primary = TASKS[case]
    done = calque("compare", expected, found, expected, *options, *FEW, "--names", "a,b", "--format", "json")
    assert done.code == 0, done.err
    assert done.json["measures"][primary]["b"]["value"] == 1
    assert "verdict" in done.json["measures"][primary]["delta"]
    assert {row["change"] for row in done.json["changed"]} <= {"fixed"}


def test_layout(calque: Calque, here: Path) -> None:
    done = calque(
        "compare", "--task", "layout", "truth.json", "found.json", "found.json", *FEW, "--names", "a,b", "--format", "json"
    )
    assert done.json["measures"]["layout_classification_accuracy"]["delta"]["verdict"] == "equal"
    assert (done.json["changed"], done.json["false_alarms"]) == ([], {"b": {"new": 0, "gone": 0}})


def test_a_suite_and_files_with_its_cases(calque: Calque, here: Path) -> None:
    for name, right in (("old", 1), ("new", 3)):
        rows = [
            {
                "id": f"c{number}",
                "output": {"box": [0, 0, 2, 2]},
                "expected": {"box": [0, 0, 2, 2] if number < right else [5, 5, 6, 6]},
            }
            for number in range(4)
        ]
        if name == "new":
            rows = [
                {**row, "expected": {"box": [0, 0, 2, 2] if number < 1 else [5, 5, 6, 6]}} for number, row in enumerate(rows)
            ]
            rows = [{**row, "output": row["expected"] if number < right else row["output"]} for number, row in enumerate(rows)]
        (here / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = calque("compare", "suite.yaml", "old.jsonl", "new.jsonl", *FEW, "--format", "json").json
    assert (told["task"], told["measures"]["score"]["old"]["value"], told["measures"]["score"]["new"]["value"]) == (
        "checks",
        0.25,
        0.75,
    )
    assert [(row["document"], row["id"], row["change"], row["from"], row["to"]) for row in told["changed"]] == [
        ("c1", "box", "fixed", "fail", "pass"),
        ("c2", "box", "fixed", "fail", "pass"),
    ]
    alone = calque("check", "suite.yaml", "--data", "new.jsonl", "--format", "json").json
    assert alone["summary"]["score"] == 0.75
    changed = [json.loads(line) for line in (here / "new.jsonl").read_text().splitlines()]
    changed[0]["expected"] = {"box": [1, 1, 2, 2]}
    (here / "new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in changed))
    assert (
        "another truth, which differs in 1 document: 'c0'"
        in calque("compare", "suite.yaml", "old.jsonl", "new.jsonl", *FEW).err
    )


VERBS = {
    "detect": (("truth.json", "found.json"), "f1@0.5"),
    "layout": (("truth.json", "found.json"), "layout_classification_accuracy"),
    "fields": (("truth.jsonl", "found.jsonl"), "cm_f1"),
    "words": (("truth.txt", "found.txt"), "wer"),
    "check": (("suite.yaml",), "score/box"),
    "merge": (("one.state", "two.state"), "recall@0.5"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_intervals_on_every_verb(calque: Calque, here: Path, verb: str) -> None:
    files, name = VERBS[verb]
    plain = calque(verb, *files, "--format", "json").json
    done = calque(verb, *files, "--intervals", *FEW, "--format", "json")
    assert done.code == calque(verb, *files).code
    entry = done.json["intervals"]["measures"][name]
    assert list(entry) == ["value", "low", "high", "se", "documents", "note"]
    assert entry["low"] is None
    assert "too few" in entry["note"]
    assert done.json["settings"]["replicates"] == "100"
    assert (
        done.json["signature"] == plain["signature"] + " | intervals:bc-t | confidence:0.95 | replicates:100 | resample-seed:0"
    )
    same = {key: value for key, value in done.json.items() if key not in ("intervals", "signature", "settings")}
    assert same == {key: value for key, value in plain.items() if key not in ("signature", "settings")}
    assert "Intervals of 95 %" in calque(verb, *files, "--intervals", *FEW).out
    rows = list(csv.DictReader(calque(verb, *files, "--intervals", *FEW, "--format", "csv").out.splitlines()))
    assert any(row.get("measure") == name and row["se"] for row in rows)
    assert "Intervals of 95" in calque(verb, *files, "--intervals", *FEW, "--format", "latex").out
    assert "is about --intervals" in calque(verb, *files, "--replicates", "200").err


def test_intervals_are_those_of_a_comparison(calque: Calque, demo: Path) -> None:
    alone = calque("detect", "truth.json", "finder.json", "--intervals", *FEW, "--format", "json").json["intervals"]["measures"]
    beside = calque("compare", "finder.state", "cropper.state", *FEW, "--format", "json").json["measures"]
    assert alone == {name: {key: value for key, value in beside[name]["finder"].items() if key != "delta"} for name in alone}
