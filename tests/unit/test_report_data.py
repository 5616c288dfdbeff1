"""Boxes and ids as the columns of a report: narrow numbers, shares of pages of any kind, rows counted on their pages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from calque import Corpus, Detection, Evaluator, Fields, Table, Tables
from calque.base.columns import Strings
from calque.detection.report_data import _errors
from calque.detection.views.columns import NO_PART, RIGHT
from calque.evaluation.boxes.overlay import NORMALIZED
from calque.evaluation.presentation.report_data import (
    NOWHERE,
    TALL,
    TP,
    Breakdown,
    Number,
    Overview,
    Part,
    box_columns,
    id_columns,
    narrow,
    on_page,
    packed,
    page_columns,
    page_scale,
    share_code,
    shares,
    text_columns,
)
from calque.fields.paged import with_pages
from calque.order import Order
from tests.report.made import MADE


@pytest.mark.parametrize(
    ("highest", "kind"), [(0, np.uint8), (254, np.uint8), (255, np.uint16), (65534, np.uint16), (65535, np.uint32)]
)
def test_the_smallest_type_that_leaves_room_for_nothing(highest: int, kind: Any) -> None:
    made = narrow(np.array([highest, -1]))
    assert made.dtype == kind
    assert made.tolist() == [highest, np.iinfo(kind).max]
    assert narrow(np.zeros(0, np.int64)).dtype == np.uint8


def test_shares_on_sixteen_bits() -> None:
    given = np.array([[-0.25, 0.0, 0.5, 1.25], [-9.0, 0.25, 1.0, 9.0], [0.0, 0.0, np.nan, 1.0]])
    codes = packed(given).reshape(-1, 4)
    assert codes.dtype == np.uint16
    assert codes[2].tolist() == [NOWHERE] * 4 == [65535] * 4
    assert codes[0].tolist() == [0, 10922, 32768, 65534]
    assert codes[1, [0, 3]].tolist() == [0, 65534]
    assert np.abs(codes[:2, 1:3] / NOWHERE * 1.5 - 0.25 - given[:2, 1:3]).max() < 1e-4
    assert share_code(np.array([-1.0, 0.5, 2.0, np.nan])).tolist() == [0, 32767, 65534, 65535]


def test_ids_are_steps_or_texts() -> None:
    def made(ids: Any) -> dict[str, Any]:
        return id_columns(Table({"id": ids}), "t")

    assert made(np.array([5, 7, 4]))["t.id_step"].tolist() == [5, 2, -3]
    assert made(np.array([2**31 - 1]))["t.id_step"].dtype == np.int32
    assert made(np.array([2**31]))["t.id_step"].dtype == np.float64
    texts = made(Strings.pack(["ab", "", "c"]))
    assert (bytes(texts["t.id"]), texts["t.id_size"].tolist()) == (b"abc", [2, 0, 1])
    assert id_columns(Table({"x": np.zeros(1)}), "t") == {}
    assert text_columns("n", Strings.pack(["é"]))["n_size"].tolist() == [2]


def ledger(sizes: Any = None, boxes: Any = ((0, 0, 50, 100), (50, 0, 100, 100), (0, 0, 10, 10))) -> Any:
    truth = Corpus.from_arrays(np.array(boxes, dtype=float), ["x"] * 3, documents=["a", "a", "b"], pages=[0, 1, 0])
    if sizes is not None:
        truth = replace(truth, page_sizes=np.array(sizes, dtype=float))
    found = Corpus.from_arrays([[0, 0, 50, 80]], ["x"], documents=["a"], pages=[1], scores=[0.5])
    return Detection().score(truth, found)


def test_boxes_are_shares_of_their_pages() -> None:
    known = ledger([[100, 200], [200, 100], [np.nan, np.nan]])
    scale = page_scale(known)
    assert scale[:2].tolist() == [[100, 200], [200, 100]]
    assert scale[2] == pytest.approx([10, 10 * TALL])  # a page around its boxes
    placed = shares(known, "truth", np.arange(3))
    assert placed[:2].tolist() == [[0, 0, 0.5, 0.5], [0.25, 0, 0.5, 1.0]]
    tall = page_scale(ledger(boxes=((0, 0, 10, 100), (0, 0, 10, 10), (0, 0, 0, 0))))
    assert tall[0] == pytest.approx([100 / TALL, 100])
    assert tall[1] == pytest.approx([max(50, 80 / TALL), max(50, 80 / TALL) * TALL])  # predictions take part
    assert tall[2] == pytest.approx([1, TALL])


def test_columns_of_pages_and_boxes() -> None:
    made = ledger([[100, 200], [200, 100], [np.nan, np.nan]])
    pages = page_columns(made)
    assert pages["page.document"].tolist() == [0, 0, 1]
    assert pages["page.index"].tolist() == [0, 1, 0]
    assert pages["page.width"].tolist() == [100, 200, 0]
    columns = box_columns(made, "truth", "t")
    assert columns["t.start"].tolist() == [0, 1, 2, 3]
    assert columns["t.label"].tolist() == [0, 0, 0]
    assert box_columns(made, "found", "f")["f.start"].tolist() == [0, 0, 1, 1]
    assert on_page(made, "truth", "found", np.array([-1, 0, -1])).tolist() == [255, 0, 255]
    assert on_page(made, "found", "truth", np.array([1])).tolist() == [0]


def test_an_overview_as_json() -> None:
    table = Breakdown(title="By class", of="class", columns=[("n", "n", "-")], marks=[(1, "tp")], rows=[("a", [1])], total=[1])
    made = Overview(
        line=["x"],
        parts=[Part("tp", 1, "found", "tp@0.5")],
        numbers=[Number("F1", "f1", 0.5, "", "")],
        breakdown=table,
        at={"kind": "counted"},
    )
    assert made.to_dict() == {
        "line": ["x"],
        "at": {"kind": "counted"},
        "parts": [["tp", 1, "found", "tp@0.5"]],
        "numbers": [["F1", "f1", 0.5, "", ""]],
        "table": {
            "title": "By class", "of": "class", "note": table.note, "columns": [["n", "n", "-"]], "marks": [[1, "tp"]],
            "rows": [["a", 1]], "total": [1],
        },
    }  # fmt: skip


def test_what_a_threshold_leaves_out_is_judged_for_the_curves_as_if_there_were_none() -> None:
    """Who moves the slider of scores in a report must see what the model would have had; what is too small stays out."""
    boxes = [[0, 0, 10, 10], [20, 0, 30, 10], [40, 0, 42, 2]]
    truth, found = Corpus.from_arrays(boxes, ["T"] * 3), Corpus.from_arrays(boxes, ["T"] * 3, scores=[0.9, 0.2, 0.1])
    swept = {}
    for least in (None, 0.5):
        task = Detection(min_score=least, min_area=50)
        ledger = Evaluator(task, keep="outcomes").update(truth, found).ledger()
        swept[least] = ledger.table("found").array("swept").tolist()
    assert swept[0.5] == swept[None]
    assert swept[None] == [RIGHT, RIGHT, NO_PART]


def test_kinds_of_errors_that_do_not_occur_are_not_drawn() -> None:
    errors = {
        "predictions": {"CLS": 2, "LOC": 0},
        "truth": {"CLS": 1, "LOC": 0, "MISS": 3},
        "impact": {"CLS": {"delta_f1": 0.5}},
    }
    assert [(each["kind"], each["predictions"], each["truths"], each["worth"]) for each in _errors(errors)] == [
        ("CLS", 2, 1, True), ("MISS", None, 3, False),
    ]  # fmt: skip
    assert _errors(None) == []


def test_one_value_with_a_box_is_enough_for_a_page() -> None:
    placed = {"_value": "x", "_bbox": [1, 1, 9, 9], "_page": 2}
    for truth, found in (((placed, "y"), ("x", "y")), (("x", "y"), (placed, "y"))):
        sides = ([{"id": 1, "a": first, "b": second}] for first, second in (truth, found))
        pages = with_pages(Evaluator(Fields()).update(*sides).compute().ledger).table("pages")
        assert pages.array("page_index").tolist() == [2]
    assert "pages" not in with_pages(Evaluator(Fields()).update(*[[{"id": 1, "a": "x"}]] * 2).compute().ledger).tables


@pytest.mark.parametrize("task", ["layout", "fields", "words", "order", "ceiling"])
def test_rows_begin_where_those_before_end(task: str) -> None:
    """As many beginnings as there are pages, or documents where there are none; then the end of all rows."""
    result = MADE[task]()
    made = result.task.view().report_data(result.ledger, result.numbers)
    assert made is not None
    held = len(made.columns.get("page.document", made.head["documents"]))
    starts = {name.removesuffix(".start"): each for name, each in made.columns.items() if name.endswith(".start")}
    assert starts
    for kind, start in starts.items():
        own = next(f"{kind}.{name}" for name in ("label", "field", "word") if f"{kind}.{name}" in made.columns)
        assert (len(start), start[0], start[-1]) == (held + 1, 0, len(made.columns[own]))
        assert (np.diff(start.astype(np.int64)) >= 0).all()


def test_tables_whose_measures_say_different_things_are_marked_as_the_numbers_list_them() -> None:
    """Every other row lost its first cell: as a tree hardly anything is wrong, as a grid a column."""
    rows = [[f"r{row}c{column}" for column in range(4)] for row in range(4)]

    def table(cells: list[list[str]]) -> str:
        return "".join(["<table>", *("<tr><td>" + "<td>".join(row) for row in cells), "</table>"])

    lost = table([row[1:] if place % 2 else row for place, row in enumerate(rows)])
    result = Evaluator(Tables()).update({"a": table(rows), "b": table(rows)}, {"a": lost, "b": table(rows)}).compute()
    made = result.task.view().report_data(result.ledger, result.numbers)
    assert made is not None
    marked = [case["id"] for case in made.head["cases"] if "apart" in case["kinds"]]
    assert marked == [f"{one['document']}#{one['truth']}" for one in result.numbers["apart"]] == ["a#0"]


def test_blocks_that_are_read_in_order_are_right_on_both_sides() -> None:
    """From the first block of each page to the last."""
    rows = [{"doc_id": "d", "page_index": page, "ids": ["a", "b", "c"], "order": ["a", "b", "c"]} for page in range(2)]
    boxes = {"boxes": [[0, 0, 9, 2], [0, 3, 9, 5], [0, 6, 9, 8]], "width": 10, "height": 10}
    result = Evaluator(Order()).update(*[[{**row, **boxes} for row in rows]] * 2).compute()
    made = result.task.view().report_data(result.ledger, result.numbers)
    assert made is not None
    assert {side: made.columns[f"{side}.outcome.0"].tolist() for side in "tp"} == {"t": [TP] * 6, "p": [TP] * 6}


def test_a_report_has_what_its_views_need_whatever_was_asked_for() -> None:
    """With any of the columns that scoring leaves out when nobody asks: the page is the same."""
    boxes = [[0, 0, 10, 10], [20, 0, 30, 10], [40, 0, 50, 10]]
    truth = Corpus.from_arrays(boxes, ["x", "y", "x"])
    found = Corpus.from_arrays([[0, 0, 10, 9], [20, 0, 30, 9], [60, 0, 70, 9]], ["x", "x", "y"], scores=[0.9, 0.5, 0.7])
    pages = []
    for asked in ({}, {"confusion": True}, {"sweep": True}, {"confusion": True, "sweep": True}):
        result = Evaluator(Detection(**asked)).update(truth, found).compute()
        made = result.task.view().report_data(result.ledger, result.task.view().report_numbers(result.ledger, result.numbers))
        assert made is not None
        pages.append({name: column.tobytes() for name, column in made.columns.items()})
    assert all(page == pages[0] for page in pages)


@pytest.mark.parametrize(
    ("boxes", "size", "normalized"),
    [
        pytest.param([[0, 0, 0.5, 0.5], [0, 0.5, 1, 1]], {}, True, id="shares"),
        pytest.param([[0, 0, 5, 5], [0, 5, 9, 9]], {}, False, id="beyond 1"),
        pytest.param([[0, 0, 0.5, 0.5], [0, 0.5, 1, 1]], {"width": 10, "height": 10}, False, id="a known size"),
        pytest.param(None, {}, True, id="names alone"),
        pytest.param([[0, 0, 0, 0], [0, 0, 0, 0]], {}, False, id="nothing beyond 0"),
    ],
)
def test_pages_of_an_order_are_drawn_on_the_scale_of_their_boxes(boxes: Any, size: Any, normalized: bool) -> None:
    """What is drawn one below the other for want of boxes is in shares of the page, too."""
    row = {"doc_id": "d", "ids": ["a", "b"], "order": ["a", "b"], **size, **({} if boxes is None else {"boxes": boxes})}
    pages = Order().view().with_pages(Evaluator(Order(pair="id")).update([row], [row]).compute().ledger).table("pages")
    assert pages.array("spelling").tolist() == [NORMALIZED if normalized else 0]
    assert pages.array("bare").tolist() == [boxes is None]
