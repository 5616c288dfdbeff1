"""What views and numbers of detection list: which rows, how many at most, and in which order."""

from __future__ import annotations

import pytest

from calque import ConfigError, Corpus, Detection, Evaluator, Result, resample
from calque.detection.kinds import Limits

Named = list[tuple[str, str, int]]
"""Documents, labels, and the places that boxes stand at; boxes at one place coincide."""


def result(truth: Named, found: Named, task: Detection | None = None) -> Result:
    sides = [
        Corpus.from_arrays(
            [[20.0 * place, 0.0, 20.0 * place + 10, 10.0] for *_, place in side],
            [label for _, label, _ in side],
            documents=[document for document, *_ in side],
            label_names=("Figure", "Table"),
            **({"scores": [0.9] * len(side)} if side is found else {}),
        )
        for side in (truth, found)
    ]
    return Evaluator(task or Detection()).update(*sides).compute()


TRUTH: Named = [("a", "Table", 0), ("a", "Figure", 1), ("a", "Table", 2), ("b", "Figure", 0)]


def test_crops_are_told_for_each_class() -> None:
    view = result(TRUTH, TRUTH[:3], Detection(crops=True)).numbers["crops"]
    assert {name: block["pairs"] for name, block in view["per_class"].items()} == {"Figure": 1, "Table": 2}
    assert view["overall"]["pairs"] == 3


def test_the_worst_crops_are_listed_with_their_places() -> None:
    made = result(TRUTH, TRUTH[:3], Detection(crops=True))
    [worst] = [section for section in made.sections() if section.title == "Worst crops"]
    assert [row[:5] for row in worst.rows] == [("a", 0, label, 1.0, 1.0) for label in ("Table", "Figure", "Table")]
    assert "Worst crops" not in [section.title for section in result(TRUTH, [], Detection(crops=True)).sections()]


def test_average_precision_is_told_for_each_class_and_for_all() -> None:
    made = result(TRUTH, TRUTH)
    [table] = [section for section in made.sections() if section.title == "COCO average precision"]
    assert [tuple(row[1:4]) for row in table.rows] == [(1.0, 1.0, 1.0)] * 3
    assert [row[0] for row in table.rows[:2]] == ["Figure", "Table"]
    assert table.rule_before == 2


def test_ten_of_the_worst_documents_are_named() -> None:
    truth: Named = [(f"d{number:02}", "Table", place) for number in range(12) for place in range(1 + number % 3)]
    worst = result(truth, []).numbers["errors"]["worst_documents"]
    assert [entry["errors"] for entry in worst] == [3] * 4 + [2] * 4 + [1] * 2
    assert [entry["document"] for entry in worst[:4]] == ["d02", "d05", "d08", "d11"]


def test_the_background_may_begin_where_boxes_match_and_not_above() -> None:
    assert Limits.of((0.5, 0.5, 0.5, 0.7)).background == 0.5
    with pytest.raises(ConfigError, match="must not begin above the match"):
        Limits.of((0.5, 0.51, 0.5, 0.7))


def test_a_curve_of_many_scores_has_a_hundred_and_one_points_and_the_best() -> None:
    boxes = [[20.0 * place, 0.0, 20.0 * place + 10, 10.0] for place in range(400)]
    truth = Corpus.from_arrays(boxes, ["Table"] * 400)
    found = Corpus.from_arrays(boxes, ["Table"] * 400, scores=[place / 400 for place in range(400)])
    block = Evaluator(Detection(sweep=True)).update(truth, found).compute().numbers["sweep"]["overall"]
    assert block["points"] == 400
    assert len(block["curve"]["scores"]) == 101  # the best is the last of them
    assert block["best_f1"]["score"] == 0.0


def test_a_repair_is_worth_the_same_by_weights_as_by_copies() -> None:
    """A box under another label: if it were repaired, one more would be right, and one fewer wrong and missed."""
    once, twice = [("a", "Table", 0), ("b", "Table", 0)], [("a", "Figure", 0), ("b", "Table", 0)]
    made = result(once, twice)
    values = resample(made, [[1, 1], [3, 1], [0, 2]])
    copies = [(f"a{number}", "Table", 0) for number in range(3)] + [("b", "Table", 0)]
    many = result(copies, [(name, "Figure" if name != "b" else "Table", 0) for name, *_ in copies])
    names = [name for name in values if name.startswith("delta_f1/")]
    assert names
    for name in names:
        assert values[name][0] == made[name]
        assert values[name][1] == pytest.approx(many[name], abs=1e-12)
        assert values[name][2] == 0.0
    assert max(values[name][0] for name in names) == 0.5
