"""Baselines on every verb: what may be lost, what is significant, what is refused."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import Detection, Evaluator, compare
from tests.cli.conftest import BOXES as SUITE
from tests.cli.conftest import MadeOnce
from tests.cli.test_gates import LINES
from tests.conftest import Run
from tests.snapshots import BOX, predictions, truth, write

Calque = Callable[..., Run]
pytest_plugins = ["pytester"]

SECOND = (0.6, 0.6, 0.9, 0.9)
DOCUMENTS = [f"d{number:02}" for number in range(12)]


def found(*missing: str, documents: list[str] = DOCUMENTS) -> dict[str, Any]:
    """What a model found in twelve documents with a figure and a table each, when it misses some tables."""
    pages = {(name, 0): [("Figure", BOX, 0.9), *([] if name in missing else [("Table", SECOND, 0.8)])] for name in documents}
    return predictions(pages)


@pytest.fixture
def twelve(made_once: MadeOnce, calque: Calque, tmp_path: Path) -> Path:
    """The state of a model that misses one table of twelve, and of one that misses nothing."""
    return made_once(_make, calque, tmp_path)


def _make(calque: Calque, tmp_path: Path) -> None:
    write(tmp_path / "gt.json", truth({(name, 0): [("Figure", BOX), ("Table", SECOND)] for name in DOCUMENTS}))
    for name, model in (("all", found()), ("one", found("d00")), ("most", found(*DOCUMENTS[2:]))):
        write(tmp_path / f"{name}.json", model)
        assert calque("detect", "gt.json", f"{name}.json", "--save", f"{name}.state").code == 0


def against(calque: Calque, model: str, base: str, *options: str) -> Run:
    return calque("detect", "gt.json", f"{model}.json", "--baseline", f"{base}.state", "--format", "json", *options)


def test_a_primary_measure_that_is_significantly_worse_fails(calque: Calque, twelve: Path) -> None:
    worse = against(calque, "most", "all")
    assert worse.code == 1
    assert worse.err.startswith("gate: AP 0.")
    assert [line.split()[0] for line in worse.json["gate"]["failures"]] == ["AP", "f1@0.5"]
    assert all(line.endswith(": significantly worse") for line in worse.json["gate"]["failures"])
    chance = against(calque, "one", "all")
    assert (chance.code, chance.err, chance.json["gate"]["passed"]) == (0, "", True)
    assert chance.json["baseline"]["f1@0.5"]["value"] < 0


def test_what_few_documents_mean_is_said_below_though_most_measures_have_many(calque: Calque, tmp_path: Path) -> None:
    """A class of three of twelve documents."""
    pages = {(name, 0): [("Figure", BOX), *([("Table", SECOND)] if place < 3 else [])] for place, name in enumerate(DOCUMENTS)}
    write(tmp_path / "gt.json", truth(pages))
    write(tmp_path / "p.json", predictions({place: [(*each, 0.9) for each in boxes] for place, boxes in pages.items()}))
    assert calque("detect", "gt.json", "p.json", "--save", "p.state").code == 0
    shown = calque("detect", "gt.json", "p.json", "--baseline", "p.state", "--tolerance", "recall@0.5/Table=0.1").out
    assert "3 documents: too few for an interval" in shown.partition("Against p.state")[2]


def test_a_gain_never_fails(calque: Calque, twelve: Path) -> None:
    for options in ((), ("--tolerance", "AP=0"), ("--tolerance", "AP=significant", "--tolerance", "fn@0.5=0")):
        for model, base in (("all", "most"), ("one", "most"), ("all", "one"), ("all", "all")):
            done = against(calque, model, base, *options)
            assert (done.code, done.json["gate"]) == (0, {"passed": True, "failures": []})


def test_the_differences_are_those_of_a_comparison(calque: Calque, twelve: Path) -> None:
    told = against(calque, "most", "all").json["baseline"]
    compared = compare([Evaluator.load(twelve / f"{name}.state").compute() for name in ("all", "most")])
    assert told == json.loads(json.dumps({name: compared.delta(name).to_dict() for name in compared.measures}))
    assert told["AP"]["verdict"] == "worse"


@pytest.mark.parametrize(
    ("tolerance", "code"),
    [
        ("recall@0.5=0.5", 0),
        ("recall@0.5=0.4", 1),
        ("recall=0.4166666666666667", 0),  # 10 of 24 are lost
        ("recall=0.4166", 1),
        ("recall@0.5/Table=0.8333333333333334", 0),
        ("fn@0.5=10", 0),
        ("fn@0.5=9", 1),
        ("precision@0.5=0", 0),
        ("recall@0.5=significant", 1),
        ("precision@0.5=significant", 0),
    ],
)
def test_exactly_the_tolerance_passes_and_more_fails(calque: Calque, twelve: Path, tolerance: str, code: int) -> None:
    done = against(calque, "most", "all", "--tolerance", tolerance)
    assert (done.code, len(done.json["gate"]["failures"])) == (code, code)
    if code:
        assert done.err.startswith(f"gate: {tolerance.partition('=')[0]} ")


def test_decimal_differences_are_exact(calque: Calque, tmp_path: Path) -> None:
    """0.8 less 0.7 is a little more than 0.1 in binary; nobody who writes 0.1 means that."""
    names = [f"d{number}" for number in range(10)]
    write(tmp_path / "gt.json", truth({(name, 0): [("Figure", BOX)] for name in names}))
    for name, count in (("eight", 8), ("seven", 7), ("six", 6)):
        pages: dict[tuple[str, int], list[Any]] = {
            (at, 0): [("Figure", BOX, 0.9)] if n < count else [] for n, at in enumerate(names)
        }
        write(tmp_path / f"{name}.json", predictions(pages))
        assert calque("detect", "gt.json", f"{name}.json", "--save", f"{name}.state").code == 0
    assert 8 / 10 - 7 / 10 > 0.1
    assert against(calque, "seven", "eight", "--tolerance", "recall@0.5=0.1").code == 0
    assert against(calque, "six", "seven", "--tolerance", "recall@0.5=0.1").code == 0
    assert against(calque, "six", "eight", "--tolerance", "recall@0.5=0.1").code == 1


def test_a_loss_that_every_resample_shows_alike_is_significant(calque: Calque, twelve: Path) -> None:
    """A model that finds nothing any more: there is no spread, and nothing could be surer."""
    write(twelve / "none.json", predictions({(name, 0): [] for name in DOCUMENTS}))
    for options in ((), ("--tolerance", "recall@0.5=significant")):
        done = against(calque, "none", "all", *options)
        assert (done.code, done.json["baseline"]["recall@0.5"]["se"]) == (1, 0)
        assert done.json["gate"]["failures"][0].endswith("the same in every resample: significantly worse")
    calque("detect", "gt.json", "none.json", "--save", "none.state")
    assert against(calque, "all", "none").code == 0


def test_only_what_is_named_is_tolerated_and_judged(calque: Calque, twelve: Path) -> None:
    assert against(calque, "most", "all", "--tolerance", "precision@0.5=0.01").code == 0
    told = against(calque, "most", "all", "--tolerance", "AP=0.01", "--tolerance", "recall@0.75=0.01", "--fail-under", "AP=0.9")
    assert [line.split()[0] for line in told.json["gate"]["failures"]] == ["AP", "AP", "recall@0.75"]


def test_few_documents_are_never_significant(calque: Calque, tmp_path: Path) -> None:
    write(tmp_path / "gt.json", truth({(name, 0): [("Figure", BOX), ("Table", SECOND)] for name in DOCUMENTS[:4]}))
    for name, model in (("all", found(documents=DOCUMENTS[:4])), ("none", found(*DOCUMENTS, documents=DOCUMENTS[:4]))):
        write(tmp_path / f"{name}.json", model)
        calque("detect", "gt.json", f"{name}.json", "--save", f"{name}.state")
    done = calque("detect", "gt.json", "none.json", "--baseline", "all.state")
    assert (done.code, "whether that is chance cannot be told (4 documents: too few" in done.out) == (0, True)
    assert against(calque, "none", "all", "--tolerance", "AP=0.1").code == 1


REFUSED = {
    "no baseline": (("--tolerance", "AP=0.01"), "add --baseline STATE"),
    "a negative tolerance": (("--baseline", "all.state", "--tolerance", "AP=-0.01"), "must be a number from 0"),
    "no number": (("--baseline", "all.state", "--tolerance", "AP=much"), "neither a number nor 'significant'"),
    "not a number": (("--baseline", "all.state", "--tolerance", "AP=nan"), "must be a number from 0"),
    "no value": (("--baseline", "all.state", "--tolerance", "AP"), "write --tolerance MEASURE=VALUE"),
    "an unknown measure": (
        ("--baseline", "all.state", "--tolerance", "recal=0.1"),
        "the nearest are recall@0.5, recall@0.75, ",
    ),
    "a size": (("--baseline", "all.state", "--tolerance", "empty_pages.pages@0.5=1"), "neither more nor less is better"),
    "no state": (("--baseline", "gt.json"), "gt.json: this is not a calque state"),
    "no file": (("--baseline", "nowhere.state"), "nowhere.state: no such file or directory"),
    "other settings": (("--baseline", "all.state", "--iou", "0.5"), "iou: 0.5,0.75 and 0.5"),
    "another task": (("--baseline", "words.state"), "is a state of another task: words, not detection"),
    "other documents": (("--baseline", "fewer.state"), "only in this run: 'd11'"),
    "another truth": (("--baseline", "moved.state"), "another truth"),
    "an output": (("--baseline", "all.state", "--save", "all.state"), "all.state: is read by this command"),
    "a report": (("--baseline", "all.state", "-o", "all.state", "--format", "json"), "all.state: is read by this command"),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_held_against_each_other_is_refused(
    calque: Calque, twelve: Path, options: tuple[str, ...], message: str
) -> None:
    (twelve / "text.txt").write_text("to be")
    calque("words", "text.txt", "text.txt", "--save", "words.state")
    write(twelve / "fewer.json", truth({(name, 0): [("Figure", BOX), ("Table", SECOND)] for name in DOCUMENTS[:-1]}))
    write(twelve / "fewer-found.json", found(documents=DOCUMENTS[:-1]))
    calque("detect", "fewer.json", "fewer-found.json", "--save", "fewer.state")
    write(twelve / "moved.json", truth({(name, 0): [("Figure", BOX), ("Table", (0.5, 0.6, 0.9, 0.9))] for name in DOCUMENTS}))
    calque("detect", "moved.json", "all.json", "--save", "moved.state")
    before = {path.name: path.read_bytes() for path in twelve.iterdir()}
    done = calque("detect", "gt.json", "one.json", *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert {path.name: path.read_bytes() for path in twelve.iterdir()} == before


def test_a_measure_that_lost_its_value_fails(calque: Calque, twelve: Path) -> None:
    write(twelve / "none.json", predictions({(name, 0): [] for name in DOCUMENTS}))
    done = against(calque, "none", "all", "--tolerance", "precision@0.5=1")
    assert done.code == 1
    assert done.json["gate"]["failures"] == ["precision@0.5 has no value (no predictions); in all.state it was 1.0000"]
    calque("detect", "gt.json", "none.json", "--save", "none.state")
    for value, code in (("1", 1), ("significant", 1)):
        assert against(calque, "none", "none", "--tolerance", f"precision@0.5={value}").code == code
    assert against(calque, "none", "none").code == 0
    back = calque("detect", "gt.json", "all.json", "--baseline", "none.state", "--tolerance", "precision@0.5=0")
    assert (back.code, "precision@0.5 was undefined in none.state and is 1.0000" in back.out) == (0, True)


@pytest.mark.parametrize("verb", LINES)
def test_every_verb_is_held_against_itself(calque: Calque, here: Path, verb: str) -> None:
    files, higher, _, lower, _ = LINES[verb]
    if verb == "check":
        (here / "suite.yaml").write_text(SUITE.replace("0.25", "0.5"))
    assert calque(verb, *files, "--save", "base.state").code == 0
    done = calque(verb, *files, "--baseline", "base.state", "--format", "json")
    assert (done.code, done.json["gate"]) == (0, {"passed": True, "failures": []})
    assert {delta["value"] for delta in done.json["baseline"].values()} <= {0, None}
    assert done.json["baseline"]
    options = ("--tolerance", f"{higher}=0", *(("--tolerance", f"{lower}=significant") if lower else ()))
    assert calque(verb, *files, "--baseline", "base.state", *options).code == 0


def test_less_is_better_for_error_rates(calque: Calque, tmp_path: Path) -> None:
    for name, text in (("truth", "a b c d"), ("good", "a b c d"), ("bad", "a b c x")):
        (tmp_path / f"{name}.txt").write_text(text)
    calque("words", "truth.txt", "good.txt", "--save", "good.state")
    calque("words", "truth.txt", "bad.txt", "--save", "bad.state")
    line = ("words", "truth.txt", "bad.txt", "--baseline", "good.state", "--tolerance")
    assert calque(*line, "wer=0.25").code == 0
    failed = calque(*line, "wer=0.2")
    assert (failed.code, failed.err.startswith("gate: wer 0.2500 against 0.0000 in good.state: +0.25")) == (1, True)
    assert calque("words", "truth.txt", "good.txt", "--baseline", "bad.state", "--tolerance", "wer=0").code == 0


def test_incomplete_input_outranks_what_was_lost(calque: Calque, tmp_path: Path) -> None:
    for cases, code in (("", 1), ("  - {id: broken, output: {box: [0, 0, 2, 2]}, expected: {bxo: [1]}}\n", 3)):
        (tmp_path / "suite.yaml").write_text(SUITE + cases)
        calque("check", "suite.yaml", "--save", "base.state")
        worse = SUITE.replace("{id: good, output: {box: [0, 0, 2, 2]}", "{id: good, output: {box: [7, 7, 8, 8]}")
        (tmp_path / "suite.yaml").write_text(worse + cases)
        lost = calque("check", "suite.yaml", "--baseline", "base.state", "--tolerance", "score=0.1")
        assert (lost.code, lost.err.startswith("gate: score 0.0000 against 0.")) == (code, True)


def test_servers_and_people_are_told_the_same(calque: Calque, twelve: Path) -> None:
    line = ("detect", "gt.json", "most.json", "--baseline", "all.state", "--tolerance", "AP=0.01", "--brief")
    done = calque(*line, "-o", "comment.md", "-o", "gate.xml", "--annotations")
    failure = done.err.splitlines()[0].removeprefix("gate: ")
    assert done.code == 1
    assert done.out.startswith("::error title=calque.detection.gate%3A AP at most 0.01 worse than in all.state::AP ")
    comment = (twelve / "comment.md").read_text()
    assert comment.startswith("### Gate failed: AP ")
    assert "\n### Against all.state\n\n| measure | baseline | now | difference | low | high | p |\n" in comment
    tests = list(ET.parse(twelve / "gate.xml").getroot().iter("failure"))
    assert [test.get("message") for test in tests] == [failure]


PYTEST = """
import pytest
from calque import Detection, Evaluator
from calque.sample import sample

FILES = sample()
FINDER, CROPPER = (Evaluator(Detection()).update(FILES["truth"], FILES[name]) for name in ("finder", "cropper"))

def test_passes(calque_gate, tmp_path):
    FINDER.save(tmp_path / "finder.state")
    result = calque_gate(CROPPER, baseline=tmp_path / "finder.state", tolerance={"AP": 0, "recall@0.5": 0.25})
    assert result.to_dict()["baseline"]["AP"]["value"] > 0

def test_fails(calque_gate):
    calque_gate(CROPPER, baseline=FINDER, tolerance={"recall@0.5": "significant"})
"""


def test_pytest_holds_results_against_baselines(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(PYTEST)
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["recall@0.5 0.7059 against 0.9412 in the baseline: -0.2353 *: significantly worse"])


# Nothing broken.


def test_broken_items_are_listed(calque: Calque, twelve: Path) -> None:
    done = against(calque, "one", "all", "--no-broken")
    assert done.code == 1
    assert done.json["gate"]["failures"] == [
        "1 item that all.state had right is broken",
        "broken: d00, page 0, Table, d00:0:1: TP → MISS",
    ]
    assert done.err.splitlines()[0] == "gate: 1 item that all.state had right is broken"
    assert against(calque, "all", "one", "--no-broken").code == 0


@pytest.mark.parametrize(
    ("places", "count"),
    [(("Table",), 1), (("Figure",), 0), (("d00",), 1), (("d01",), 0), (("Figure", "d01"), 0), (("Figure", "d00", "Table"), 2)],
)
def test_a_class_or_a_document_must_not_be_broken(calque: Calque, twelve: Path, places: tuple[str, ...], count: int) -> None:
    options = [part for place in places for part in ("--no-broken", place)]
    done = against(calque, "one", "all", *options)
    assert (done.code, len(done.json["gate"]["failures"])) == (int(count > 0), 2 * count)


def test_another_kind_of_error_is_not_broken(calque: Calque, twelve: Path) -> None:
    assert against(calque, "one", "one", "--no-broken").code == 0
    moved = found()
    moved["predictions"][0]["objects"][1]["bbox"] = [0.5, 0.6, 0.75, 0.9]  # where it overlaps its truth a little
    write(twelve / "moved.json", moved)
    done = against(calque, "moved", "one", "--no-broken")
    assert (done.code, done.json["gate"]["passed"]) == (0, True)


def test_what_can_not_be_broken_is_refused(calque: Calque, twelve: Path) -> None:
    done = against(calque, "one", "all", "--no-broken", "Tabel")
    assert (done.code, done.out) == (2, "")
    assert "--no-broken Tabel: is no class, field or document here; the nearest are Table, " in done.err
    assert "add --baseline STATE" in calque("detect", "gt.json", "one.json", "--no-broken").err
    assert "add --baseline STATE" in calque("detect", "gt.json", "one.json", "--primary", "AP").err
    Evaluator(Detection(), keep="numbers").update(str(twelve / "gt.json"), str(twelve / "all.json")).save(twelve / "slim.state")
    assert "slim.state has numbers only" in against(calque, "one", "slim", "--no-broken").err
    assert against(calque, "one", "slim").code == 0


def test_fields_are_named_by_their_paths(calque: Calque, tmp_path: Path) -> None:
    records = {
        "truth": [{"id": "a", "vendor": {"name": "Acme"}, "items": [{"sku": "x", "price": 5}]}],
        "good": [{"id": "a", "vendor": {"name": "Acme"}, "items": [{"sku": "x", "price": 5}]}],
        "bad": [{"id": "a", "vendor": {"name": "Acme"}, "items": [{"sku": "x", "price": 6}]}],
    }
    for name, lines in records.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert calque("fields", "truth.jsonl", "good.jsonl", "--save", "good.state").code == 0
    for place, code in (("items.price", 1), ("items", 1), ("vendor", 0), ("vendor.name", 0), ("a", 1), ("prices", 2)):
        done = calque("fields", "truth.jsonl", "bad.jsonl", "--baseline", "good.state", "--no-broken", place)
        assert (place, done.code) == (place, code)


def test_words_and_cases_are_not_broken_either(calque: Calque, tmp_path: Path) -> None:
    for name, text in (("truth", "a b c d"), ("good", "a b c d"), ("bad", "a b c x")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "doc.txt").write_text(text)
    assert calque("words", "truth", "good", "--save", "good.state").code == 0
    for place, code in (("doc", 1), ("dog", 2)):
        assert calque("words", "truth", "bad", "--baseline", "good.state", "--no-broken", place).code == code
    (tmp_path / "suite.yaml").write_text(SUITE)
    assert calque("check", "suite.yaml", "--save", "checks.state").code == 0
    (tmp_path / "suite.yaml").write_text(SUITE.replace("good, output: {box: [0, 0,", "good, output: {box: [1, 1,"))
    for place, code in (("good", 1), ("box", 1), ("bad", 0), ("stamp", 2)):
        done = calque("check", "suite.yaml", "--baseline", "checks.state", "--no-broken", place, "--tolerance", "pass_rate=1")
        gate = calque("check", "suite.yaml").code
        assert (place, done.code) == (place, max(code, gate if code != 2 else 0))


# How documents are resampled.


def test_resampling_is_told_and_heeded(calque: Calque, twelve: Path) -> None:
    usual = against(calque, "one", "all").json
    assert usual["signature"].endswith("| intervals:bc-t | confidence:0.95 | replicates:2000 | resample-seed:0")
    few = against(calque, "one", "all", "--replicates", "100", "--resample-seed", "3", "--confidence", "0.5")
    assert few.json["settings"]["replicates"] == "100"
    assert few.json["baseline"]["AP"]["se"] != usual["baseline"]["AP"]["se"]
    assert against(calque, "one", "all", "--replicates", "99").code == 2
    assert against(calque, "one", "all", "--confidence", "1").code == 2
    named = against(calque, "most", "all", "--primary", "precision@0.5")
    assert (named.code, named.json["baseline"]["precision@0.5"]["verdict"]) == (0, "equal")


# On runs of a comparison.


def test_runs_are_held_against_the_first(calque: Calque, twelve: Path) -> None:
    for line in (("gt.json", "all.json", "most.json"), ("all.state", "most.state")):
        assert calque("compare", *line).code == 0
        assert calque("compare", *line, "--tolerance", "AP=1", "--no-broken", "Figure", "--fail-under", "recall=0.5").code == 0
        for gate in (
            ("--tolerance", "AP=0.1"),
            ("--tolerance", "AP=significant"),
            ("--no-broken",),
            ("--fail-under", "AP=0.9"),
        ):
            done = calque("compare", *line, *gate, "--format", "json")
            assert (done.code, done.json["gate"]["passed"]) == (1, False)
            assert done.err.startswith("gate: ")
        table = calque("compare", *line, "--fail-under", "AP=0.9").out
        assert table.startswith("Gate failed: AP 0.")
    assert (
        calque("compare", "most.state", "all.state", "--tolerance", "AP=0", "--no-broken", "--fail-under", "AP=0.9").code == 0
    )


def test_every_run_but_the_first_is_named(calque: Calque, twelve: Path) -> None:
    done = calque("compare", "one.state", "all.state", "most.state", "--fail-under", "recall@0.5=0.9", "--format", "json")
    assert (done.code, done.json["gate"]["failures"]) == (1, ["most: recall@0.5 0.5833 is below 0.9"])
    xml = calque("compare", "one.state", "all.state", "most.state", "--fail-under", "recall@0.5=0.9", "--format", "junit").out
    tests = [(test.get("name"), len(test)) for test in ET.fromstring(xml).iter("testcase")]
    assert tests[:2] == [("all: recall@0.5 >= 0.9", 0), ("most: recall@0.5 >= 0.9", 1)]
    marks = calque("compare", "all.state", "most.state", "--fail-under", "recall=0.9", "-o", "x.md", "--annotations").out
    assert marks == "::error title=calque.compare.gate%3A recall >= 0.9::recall 0.5833 is below 0.9\n"


def test_a_comparison_with_a_baseline_is_held_to_it(calque: Calque, twelve: Path) -> None:
    assert calque("compare", "most.state", "--baseline", "all.state").code == 1
    assert calque("compare", "one.state", "--baseline", "all.state").code == 0
    assert calque("compare", "one.state", "--baseline", "all.state", "--no-broken").code == 1
    assert calque("compare", "gt.json", "one.json", "--baseline", "all.state").code == 2


@pytest.mark.parametrize(
    "options",
    [("--fail-over", "AP=0.5"), ("--fail-under", "recal=1"), ("--tolerance", "recal=1"), ("--no-broken", "Tabel")],
)
def test_a_comparison_refuses_what_verbs_refuse(calque: Calque, twelve: Path, options: tuple[str, ...]) -> None:
    done = calque("compare", "all.state", "one.state", *options)
    assert (done.code, done.out) == (2, "")
