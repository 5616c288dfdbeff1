"""What is said of detections: the sentence, the headline and the findings, from numbers made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from calque import Corpus, Detection, Evaluator
from calque.detection.presentation import _errors, _remark, findings, flat, headline, models, nouns, one_sided, sentence
from calque.detection.views.beside import sections as side_by_side
from calque.evaluation.presentation.report_data import Phrase


def block(tp: int, fp: int, fn: int, *, classes: dict[str, Any] | None = None, empty: int = 0, **more: float) -> dict[str, Any]:
    found = {
        "tp": tp, "fp": fp, "fn": fn, "precision": tp / max(tp + fp, 1), "recall": tp / max(tp + fn, 1), "f1": 0.5,
        "mean_coverage": 0.95, "mean_purity": 0.95, **more,
    }  # fmt: skip
    return {"micro": found, "per_class": classes or {}, "empty_pages": {"pages": 1, "fp": empty, "pages_with_fp": 1}}


def numbers(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"metrics": dict(zip(("0.5", "0.75", "0.9"), blocks, strict=False)), **more}


HELD = "; its boxes hold 95 % of each found object"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ([block(0, 0, 0)], "There is nothing to evaluate: no truths and no predictions count."),
        ([block(0, 1, 0)], "There is nothing to find: no truths count, and the only prediction is wrong."),
        ([block(0, 2, 0)], "There is nothing to find: no truths count, and all 2 predictions are wrong."),
        ([block(0, 0, 1)], "Finds nothing of the only object: there are no predictions."),
        ([block(0, 0, 2)], "Finds none of 2 objects: there are no predictions."),
        ([block(0, 1, 2)], "Finds none of 2 objects at IoU 0.5; its only prediction is wrong."),
        ([block(0, 3, 2)], "Finds none of 2 objects at IoU 0.5; all 3 predictions are wrong."),
        ([block(1, 0, 0)], f"Finds the only object at IoU 0.5, and predicts nothing else{HELD}."),
        ([block(1, 1, 0)], f"Finds the only object at IoU 0.5, and 50 % of its predictions are right{HELD}."),
        ([block(2, 0, 0)], f"Finds all 2 objects at IoU 0.5, and all of its predictions are right{HELD}."),
        ([block(3, 1, 1)], f"Finds 75 % of 4 objects at IoU 0.5, and 75 % of its predictions are right{HELD}."),
        (
            [block(2, 0, 0), block(1, 1, 1), block(2, 0, 0)],
            f"Finds all 2 objects at IoU 0.5, and all of its predictions are right{HELD}, and at IoU 0.9 it finds as many.",
        ),
        (
            [block(2, 0, 0), block(0, 2, 2)],
            f"Finds all 2 objects at IoU 0.5, and all of its predictions are right{HELD}, and at IoU 0.75 it finds none.",
        ),
        (
            [block(2, 0, 0), block(1, 1, 1)],
            f"Finds all 2 objects at IoU 0.5, and all of its predictions are right{HELD}, and at IoU 0.75 it finds 50 %.",
        ),
    ],
)
def test_the_sentence(made: list[dict[str, Any]], said: str) -> None:
    assert sentence(numbers(*made)) == said


def plain(told: Any) -> str:
    return "".join(part if isinstance(part, str) else f"[{part.measure} {part.text} {part.tone}]" for part in told)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (block(0, 0, 0), "There is nothing to evaluate: [fn@0.5 0 ] truths and [fp@0.5 0 ] predictions count."),
        (block(0, 1, 0), "There is nothing to find, and [fp@0.5 1 ] prediction is wrong."),
        (block(0, 2, 0), "There is nothing to find, and [fp@0.5 2 ] predictions are wrong."),
        (block(0, 0, 1), "Finds none of [fn@0.5 1 ] object: there are no predictions."),
        (block(0, 0, 2), "Finds none of [fn@0.5 2 ] objects: there are no predictions."),
        (block(0, 2, 3), "Finds [recall@0.5 0 % bad] of objects: all [fp@0.5 2 bad] predictions are wrong."),
        (
            block(9, 1, 1),
            "Finds [recall@0.5 90 % good] of objects, and [precision@0.5 90 % good] of its predictions are right.",
        ),
        (block(8, 2, 2), "Finds [recall@0.5 80 % ] of objects, but only [precision@0.5 80 % ] of its predictions are right."),
        (
            block(7, 1, 3),
            "Finds [recall@0.5 70 % bad] of objects, and only [precision@0.5 88 % ] of its predictions are right.",
        ),
        (
            block(9, 0, 1, mean_coverage=0.7),
            "Finds [recall@0.5 90 % good] of objects, but its crops hold only [mean_coverage@0.5 70 % bad] of each.",
        ),
        (
            block(9, 0, 1, mean_purity=0.85),
            "Finds [recall@0.5 90 % good] of objects, but only [mean_purity@0.5 85 % ] of its crops is theirs.",
        ),
    ],
)
def test_the_headline(made: dict[str, Any], said: str) -> None:
    assert plain(headline(numbers(made))) == said


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("ABC", "as, bs and cs"),
        ("ABCD", "objects"),
        ((), "objects"),
        (("Text block",), "objects"),
        (("Überschrift",), "objects"),
    ],
)
def test_few_classes_are_named(names: Any, said: str) -> None:
    assert nouns({"per_class": {name: {"tp": 0, "fn": 1} for name in names}}) == said
    assert nouns({"per_class": {**{name: {"tp": 1, "fn": 0} for name in names}, "Z": {"tp": 0, "fn": 0}}}) == said


def crops(share: float, pairs: int = 4) -> dict[str, Any]:
    sides = {name: {"0.1": 0.0} for name in ("left", "top", "right", "bottom")}
    return {"overall": {"pairs": pairs, "cut": {**sides, "right": {"0.1": share}}}}


def texts(made: dict[str, Any]) -> list[str]:
    return [each.text for each in findings(made)]


def test_findings() -> None:
    classes = {
        "Table": {"tp": 1, "fn": 1, "f1": 0.5},
        "Figure": {"tp": 1, "fn": 0, "f1": 0.25},
        "Z": {"tp": 0, "fn": 0, "f1": None},
    }
    sweep = {"overall": {"best_f1": {"f1": 0.75, "score": 0.4}}}
    made = findings(numbers(block(2, 3, 1, classes=classes, empty=2), crops=crops(0.25), sweep=sweep))
    assert [(each.mark, each.text, dict(each.address)) for each in made] == [
        ("fn", "1 of 3 tables and figures is missed", {"outcome": "fn"}),
        ("fp", "3 of 5 predictions are false alarms, 2 of them on pages that have none", {"outcome": "fp"}),
        ("cut", "25 % of crops lose more than a tenth at the right", {"cut": "right"}),
        ("score", "Keeping only scores from 0.4 on would lift F1 from 0.500 to 0.750", {"score": "<0.4"}),
        ("class", "Weakest class: Figure, F1 0.250", {"class": "Figure"}),
    ]
    sound = {name: {"tp": 1, "fn": 0, "f1": 1.0} for name in ("Table", "Figure")}
    assert findings(numbers(block(2, 0, 0, classes=sound))) == []  # no class is weak


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (numbers(block(2, 0, 0)), []),
        (numbers(block(2, 0, 2)), ["2 of 4 objects are missed"]),
        (numbers(block(2, 1, 0)), ["1 of 3 predictions is a false alarm"]),
        (numbers(block(2, 1, 0, empty=1)), ["1 of 3 predictions is a false alarm, on a page that has none"]),
        (numbers(block(2, 2, 0, empty=2)), ["2 of 4 predictions are false alarms, all of them on pages that have none"]),
        (numbers(block(2, 0, 0), crops=crops(0.1)), ["10 % of crops lose more than a tenth at the right"]),
        (numbers(block(2, 0, 0), crops=crops(0.09)), []),
        (numbers(block(2, 0, 0), crops=crops(0.5, pairs=0)), []),
        (numbers(block(2, 0, 0), sweep={"overall": {"best_f1": {"f1": 0.504, "score": 0.4}}}), []),
        (numbers(block(2, 0, 0), sweep={"overall": {"best_f1": None}}), []),
        (numbers(block(2, 0, 0, classes={"A": {"tp": 1, "fn": 1, "f1": 0.5}})), []),
    ],
)
def test_only_what_is_worth_a_line(made: dict[str, Any], told: list[str]) -> None:
    assert texts(made) == told


def test_kinds_that_occur_have_a_row() -> None:
    errors = {
        "predictions": {"LOC": 2, "BKG": 0, "TP": 1}, "truth": {"MISS": 1, "LOC": 0},
        "impact": {"LOC": {"delta_f1": 0.1, "delta_ap": 0.2}},
        "area_share": {"predictions": {"LOC": 0.5, "TP": 0.5}, "truth": {"MISS": 1.0, "LOC": 0.0}},
        "subtypes": {"EMPTY_PAGE": 1, "OTHER": 0}, "flags": {"EDGE_CUT": 2},
    }  # fmt: skip
    made = _errors(errors)
    assert made.title == "Error kinds"
    assert made.rows == [
        ("LOC", 2, 0.5, 0, 0.0, 0.1, 0.2),
        ("TP", 1, 0.5, "", "", "", ""),
        ("MISS", "", "", 1, 1.0, "", ""),
    ]
    assert list(made.notes) == ["among them: 1 on an empty page, 2 edge cut"]
    del errors["subtypes"], errors["flags"]
    assert (_errors(errors).title, list(_errors(errors).notes)) == ("Error kinds (TIDE)", [])
    assert _remark("EMPTY_PAGE", 2) == "2 on empty pages"


def test_sides_and_documents_are_named() -> None:
    assert models([{"model": "", "file": "a/x.json"}, {"model": "m", "file": "b/x.json"}]) == "a/x.json, m"
    assert models([{"model": "", "file": ""}]) == ""
    assert one_sided({"only_truth": ["a"], "only_predictions": list("abcdefg")}) == [
        "1 document only in the truth: a",
        "7 documents only in the predictions: a, b, c, d, e and 2 more",
    ]
    assert one_sided({"only_truth": [], "only_predictions": []}) == []
    assert isinstance(headline(numbers(block(1, 0, 0)))[1], Phrase)


def one_box(task: Detection, document: str = "d") -> Evaluator:
    corpora = (Corpus.from_arrays([[0, 0, 4, 4]], ["x"], documents=[document], scores=scores) for scores in (None, [0.5]))
    return Evaluator(task).update(*corpora)


def test_without_kinds_nothing_is_told_of_errors() -> None:
    told = {}
    kinds: tuple[Any, ...] = ("none", "kinds")
    for errors in kinds:
        task = Detection(errors=errors)
        result = one_box(task).compute()
        drawn = task.view().report_data(result.ledger, task.view().report_numbers(result.ledger, result.numbers))
        assert drawn is not None
        columns = {name for name in drawn.columns if name.endswith(".kind")}
        told[errors] = columns, drawn.head["numbers"]["errors"] == [], "kind" in {row["scope"] for row in flat(result.numbers)}
    assert told == {"none": (set(), True, False), "kinds": ({"t.kind", "p.kind"}, False, True)}


def test_numbers_side_by_side() -> None:
    beside = {
        "on": ["masks", "boxes"],
        "measures": {"AP": {"masks": 0.25, "boxes": 0.5}, "f1@0.5": {"masks": None, "boxes": 1.0}},
    }
    (section,) = side_by_side(beside)
    assert (section.title, section.head) == ("Side by side", ("measure", "on masks", "on boxes"))
    assert section.rows == [("AP", 0.25, 0.5), ("f1@0.5", None, 1.0)]
    some = one_box(Detection(beside="shapes")).merge(one_box(Detection(), "e")).compute()
    assert some.undefined["beside"] == "some documents were scored without the other kind; evaluate them again with --beside"


def test_kinds_of_errors_are_measures_in_all_and_of_each_class() -> None:
    truth = Corpus.from_arrays([[0, 0, 10, 10], [20, 0, 30, 10], [80, 0, 90, 10]], ["x", "y", "x"])
    found = Corpus.from_arrays([[0, 0, 10, 10], [50, 50, 60, 60]], ["x", "x"], scores=[0.9, 0.8])
    result = Evaluator(Detection()).update(truth, found).compute()
    names = result.measures()
    assert {"BKG", "MISS", "BKG/x", "MISS/y", "delta_f1/MISS"} <= names.keys()
    told = [result[name] for name in ("BKG", "BKG/x", "BKG/y", "MISS", "MISS/x", "MISS/y")]
    assert told == [1, 1, 0, 2, 1, 1]
