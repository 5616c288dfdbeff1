"""The confusion matrix against a plain greedy pairing that does not look at labels."""

from __future__ import annotations

from hypothesis import given

from calque import Detection, Evaluator
from calque.detection.report_data import _made_up, _truth_cells
from calque.detection.views.confusion import BACKGROUND
from tests.views.plain import LABELS, Box, boxes, evaluate, iou


def by_hand(truths: list[Box], found: list[Box], threshold: float) -> list[list[int]]:
    names = [*LABELS, BACKGROUND]
    matrix = [[0] * len(names) for _ in names]
    candidates = sorted(
        (-iou(t, p), -p.score, j, i)
        for i, t in enumerate(truths)
        for j, p in enumerate(found)
        if (t.document, t.page) == (p.document, p.page) and iou(t, p) >= threshold
    )
    free_truths, free_found = set(range(len(truths))), set(range(len(found)))
    for _, _, j, i in candidates:
        if i in free_truths and j in free_found:
            free_truths.remove(i)
            free_found.remove(j)
            matrix[names.index(truths[i].label)][names.index(found[j].label)] += 1
    for i in free_truths:
        matrix[names.index(truths[i].label)][-1] += 1
    for j in free_found:
        matrix[-1][names.index(found[j].label)] += 1
    return matrix


@given(truths=boxes, found=boxes)
def test_matrix(truths: list[Box], found: list[Box]) -> None:
    view = evaluate(truths, found, Detection(confusion=True, iou=(0.3, 0.5))).numbers["confusion"]
    assert view["labels"] == [*LABELS, BACKGROUND]
    assert view["threshold"] == 0.3
    assert view["matrix"] == by_hand(truths, found, 0.3)


def test_only_the_labels_asked_for() -> None:
    truths = [Box("a", 0, "Table", 0, 0, 1, 1), Box("a", 0, "Figure", 5, 5, 6, 6)]
    view = evaluate(truths, truths, Detection(confusion=True, labels=("Table",))).numbers["confusion"]
    assert view["labels"] == ["Table", BACKGROUND]
    assert view["matrix"] == [[1, 0], [0, 0]]


def test_each_object_of_a_report_stands_in_its_cell() -> None:
    """Whoever follows a count finds as many objects: two right, one taken for another, one missed, one excused."""
    places = [[20 * number, 0, 20 * number + 8, 8] for number in range(6)]
    truth = [{"image": "p", "category": label, "bbox": box} for label, box in zip("xyyxx", places, strict=False)]
    truth[4]["ignore"] = 1
    found = [
        {"image": "p", "category": label, "bbox": places[at], "score": 0.5}
        for label, at in zip("xyxy", (0, 1, 2, 5), strict=True)
    ]
    result = Evaluator(Detection(confusion=True, boxes="xyxy", units="pixels")).update(truth, found).compute()
    assert result.numbers["confusion"]["matrix"] == [[1, 0, 1], [1, 1, 0], [0, 1, 0]]
    assert _truth_cells(result.ledger).tolist() == [0, 1, 0, 2, 255]  # the last in none, as eight bits without a sign have it
    assert _made_up(result.task, result.ledger).tolist() == [False, False, False, True]
