"""What layout says in words, in tables and to the report, for blocks that anybody can count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calque import Corpus, Evaluator, Layout, Result
from calque.evaluation.presentation import report_data as columns
from calque.evaluation.presentation.report_data import Finding, Phrase, spoken
from calque.layout import presentation
from calque.layout.presentation import sections

Named = list[tuple[str, int]]
"""Labels of blocks, and the places that they stand at; blocks at one place coincide."""


def result(truth: Named, found: Named, *, documents: tuple[str, str] = ("d", "d")) -> Result:
    sides = [
        Corpus.from_arrays(
            [[20.0 * place, 0.0, 20.0 * place + 10, 10.0] for _, place in side],
            [label for label, _ in side],
            documents=[document] * len(side),
            label_names=sorted({label for label, _ in (*truth, *found)}),
            all_documents=[document],
        )
        for document, side in zip(documents, (truth, found), strict=True)
    ]
    return Evaluator(Layout()).update(*sides).compute()


FOUR: Named = [("text", 0), ("text", 1), ("image", 2), ("image", 3)]


@pytest.mark.parametrize(
    ("truth", "found", "told"),
    [
        ([], [("text", 0)], "There is nothing to find: no true blocks count, against 1 prediction."),
        ([("text", 0)], [("text", 5)], "Finds nothing of the only block, with 1 prediction."),
        (FOUR, [], "Finds none of 4 blocks, with 0 predictions."),
        (FOUR, FOUR, "Finds all 4 blocks, all with the right name."),
        ([("text", 0)], [("text", 0)], "Finds the only block, with the right name."),
        (FOUR, [("text", 0), ("image", 1)], "Finds 50 % of 4 blocks, 50 % of those with the right name."),
        (FOUR, [("image", 1)], "Finds 25 % of 4 blocks, none of those with the right name."),
        (FOUR, [("text", 1)], "Finds 25 % of 4 blocks, with the right name."),
    ],
)
def test_headline_as_text(truth: Named, found: Named, told: str) -> None:
    made = result(truth, found)
    assert made.task.view().message(made.numbers) == told == spoken(presentation.headline(made.numbers))


def test_headline_names_its_metrics_with_their_tone() -> None:
    def headline(found: Named) -> list[Any]:
        return list(presentation.headline(result(FOUR, found).numbers))

    assert headline([])[1] == Phrase("layout_matched_blocks", "none", "bad")
    whole = Phrase("layout_matched_blocks", "all 4 blocks", "good")
    right = Phrase("layout_classification_accuracy", "all with", "good")
    assert headline(FOUR) == ["Finds ", whole, ", ", right, " the right name."]
    assert headline([*FOUR[:3], ("text", 3)])[3] == Phrase("layout_classification_accuracy", "75 %", "bad")
    assert headline([("image", 1)])[1:4:2] == [
        Phrase("layout_matched_blocks", "25 %", "bad"),
        Phrase("layout_total_blocks", "4"),
    ]
    nothing = presentation.headline(result([], []).numbers)
    assert nothing[1] == Phrase("layout_total_blocks", "no")


@pytest.mark.parametrize(("right", "tone"), [(9, "good"), (8, ""), (7, "bad")])
def test_fraction_of_nine_tenths_is_good_and_below_eight_tenths_is_bad(right: int, tone: str) -> None:
    truth: Named = [("text", place) for place in range(10)]
    found: Named = [("text" if place < right else "image", place) for place in range(10)]
    assert presentation.headline(result(truth, found).numbers)[3] == Phrase(
        "layout_classification_accuracy", f"{right}0 %", tone
    )
    half: Named = truth[:right]
    assert presentation.headline(result(truth, half).numbers)[1] == Phrase("layout_matched_blocks", f"{right}0 %", tone)


def test_findings_lead_to_what_is_missing_misnamed_and_weakest() -> None:
    found: Named = [("image", 0), ("image", 1), ("text", 2)]
    assert presentation.findings(result(FOUR, found).numbers) == [
        Finding("fn", "1 of 4 blocks is not found", {"outcome": "fn"}, 1),
        Finding("wrong", "3 blocks found under another name", {"outcome": "wrong"}, 3),
        Finding("class", "text is taken for image 2 times", {"cell": "1>0"}, 2),
        Finding("class", "Weakest class: image, 0 % found and named right", {"class": "image"}),
    ]
    assert presentation.findings(result(FOUR[:2], FOUR[:2]).numbers) == []
    assert presentation.findings(result(FOUR, FOUR).numbers) == []  # no class is weak
    assert presentation.findings(result(FOUR[:1], [("image", 0)]).numbers)[1].text == "text is taken for image once"


@pytest.mark.parametrize(("labels", "title"), [(11, "truth → taken for"), (12, "most frequent confusions")])
def test_many_labels_are_listed_and_few_are_a_matrix(labels: int, title: str) -> None:
    """The column of what is not found is one of twelve."""
    truth: Named = [(f"l{number:02}", number) for number in range(labels + 1)]
    found: Named = [("l00", 1), *((f"l{number:02}", number) for number in range(labels))]
    made = result(truth, found[1:]).numbers
    assert len({name for row in made["confusion"].values() for name in row}) == labels + 1
    assert sections(made)[-1].title == title
    if labels == 12:
        assert list(sections(made)[-1].rows) == [("l12 → (unmatched)", 1)]


def test_documents_of_one_side_are_named_in_the_notes() -> None:
    made = result(FOUR[:1], FOUR[:1], documents=("a", "b")).numbers
    assert (made["only_truth"], made["only_predictions"]) == (["a"], ["b"])
    assert sections(made)[1].notes == ["1 document only in the truth: a", "1 document only in the predictions: b"]
    assert sections(result(FOUR, FOUR).numbers)[1].notes == []


def test_what_a_report_is_given() -> None:
    """A block that is found and right, one under another name, one that is not found, and a prediction that nothing takes."""
    truth: Named = [("image", 0), ("text", 1), ("text", 2)]
    made = result(truth, [("image", 0), ("image", 1), ("text", 9)])
    drawn = made.task.view().report_data(made.ledger, made.numbers)
    assert drawn is not None
    outcomes = {name: drawn.columns[name].tolist() for name in ("t.outcome.0", "p.outcome.0", "t.cell")}
    assert outcomes == {
        "t.outcome.0": [columns.TP, columns.WRONG, columns.FN],
        "p.outcome.0": [columns.TP, columns.WRONG, columns.FP],
        "t.cell": [0, 0, 2],  # taken for the first label twice; the cell behind the labels is for what is not found
    }
    overview = drawn.head["numbers"]["overviews"][0]
    assert [part[:2] for part in overview["parts"]] == [["tp", 1], ["wrong", 1], ["fn", 1], ["fp", 1]]
    assert {number[1]: number[2] for number in overview["numbers"]} == {
        "layout_classification_accuracy": 0.5,
        "layout_accuracy_over_total": 1 / 3,
        "layout_total_blocks": 3,
        "layout_matched_blocks": 2,
        "layout_correct_blocks": 1,
    }
    table = overview["table"]
    assert table["rows"] == [["image", 1, 1, 1, 1.0, 1.0, 0, 0], ["text", 2, 1, 0, 0.0, 0.0, 1, 1]]
    assert table["total"] == [3, 2, 1, 0.5, 1 / 3, 1, 1]
    assert {outcome: table["columns"][place][2] for place, outcome in table["marks"]} == {
        "tp": "tp",
        "wrong": "wrong",
        "fn": "fn",
    }
    assert drawn.head["numbers"]["confusion"] == {
        "labels": ["image", "text", "(unmatched)"],
        "matrix": [[1, 0, 0], [1, 0, 1], [0, 0, 0]],
    }


def test_a_block_that_cannot_be_compared_is_in_no_cell() -> None:
    made = Evaluator(Layout()).update(
        [{"bbox": [0, 0, 9, 9], "category": "image"}, {"bbox": [5, 5, -3, 4], "category": "text"}],
        [{"bbox": [0, 0, 9, 9], "category": "image"}],
    )
    result = made.compute()
    drawn = result.task.view().report_data(result.ledger, result.numbers)
    assert drawn is not None
    assert drawn.columns["t.outcome.0"].tolist() == [columns.TP, columns.INVALID]
    cell = drawn.columns["t.cell"]
    assert cell.astype(np.int8).tolist() == [0, -1], "the last of its type, which stands for none"
