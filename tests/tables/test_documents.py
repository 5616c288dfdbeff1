"""Tables of documents: which go together, what means and totals are made of, and what is shown of them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import ConfigError, ContractError, Evaluator, Result, Tables
from calque.corpus.tables import CellTable
from calque.tables import compare, parse, teds
from calque.tables.other_tools.trees import html_tree
from calque.tables.reading import read_sides
from calque.tables.views import _drawn
from tests.conftest import Run

A, B, C = (
    f"<table><tr><td>{letter}1</td><td>{letter}2</td></tr><tr><td>{letter}3</td><td>{letter}4</td></tr></table>"
    for letter in "abc"
)
pytestmark = pytest.mark.usefixtures("kernels")


def cell(text: str, **more: Any) -> dict[str, Any]:
    return {"cells": [{"row": 0, "column": 0, "text": text}], **more}


def evaluated(truth: Any, found: Any, **settings: Any) -> Result:
    return Evaluator(Tables(**settings)).update({"d": truth}, {"d": found}).compute()


def pairs(result: Result) -> Any:
    return result.numbers["documents"]["d"]["pairs"]


def test_tables_pair_by_id_whatever_they_hold() -> None:
    truth, found = [cell("x", id="1"), cell("y", id="2")], [cell("y", id="1"), cell("z", id="3")]
    assert pairs(evaluated(truth, found)) == [[0, 0]]
    assert pairs(evaluated(truth, [cell("y"), cell("x", id="1")])) == [[0, 1], [1, 0]]  # one has none: by content


def test_tables_pair_by_page_and_box() -> None:
    truth = [cell("x", page=1, box=[0, 0, 10, 10]), cell("x", page=2, box=[0, 0, 10, 10])]
    found = [cell("q", page=2, box=[0, 0, 10, 9]), cell("x", page=1, box=[6, 0, 16, 10])]
    assert pairs(evaluated(truth, found)) == [[1, 0]]  # the other overlaps by a quarter
    assert pairs(evaluated(truth, [{**found[0], "box": [0, 0, 10, 5]}])) == [[1, 0]]  # 0.5 is enough


def test_tables_pair_by_content_to_the_largest_sum() -> None:
    assert pairs(evaluated(A + B + C, C + A)) == [[0, 1], [2, 0]]
    assert pairs(evaluated(A + A, A + A)) == [[0, 0], [1, 1]]
    assert pairs(evaluated("<table><tr><td>abc</table>", "<table><tr><td>xyz<td>uvw<td>rst</table>")) == [[0, 0]]
    nothing = evaluated(
        "<table><tr><td>" + "</td><td>".join("abcdefghij") + "</td></tr></table>",
        "<table>" + "".join(f"<tr><td>{number}</td></tr>" for number in range(6)) + "</table>",
    )
    assert pairs(nothing) == []  # TEDS is 0
    assert nothing.numbers["counts"] | {"missed": 1, "spurious": 1, "clamped": 0} == nothing.numbers["counts"]


def test_means_totals_and_pages() -> None:
    truth = [cell("x", page=1), cell("y", page=1), cell("z", page=2)]
    result = evaluated(truth, [cell("x"), cell("z"), cell("q")])
    numbers = result.numbers
    assert numbers["mean"]["teds"] == pytest.approx((1 + 0.5 + 1) / 3)  # y and q: a row, and a cell that is misread
    assert numbers["pages"]["teds"] == pytest.approx((0.75 + 1) / 2)
    assert result["teds"] == numbers["mean"]["teds"]
    assert result["pages.teds"] == numbers["pages"]["teds"]
    assert result["cells_f1"] == pytest.approx(2 / 3)
    alone = evaluated(A, A + B + C)
    assert (alone["teds"], alone["with_spurious.teds"]) == (1.0, pytest.approx(1 / 3))
    missed = evaluated(A + B, A)
    assert missed.numbers["errors"]["table_missed"] == {"count": 1, "cost": 6.0, "loss": 0.5}
    assert missed["table_missed.loss"] == 0.5
    assert math.fsum(block["loss"] for block in missed.numbers["errors"].values()) == pytest.approx(1 - missed["teds"])


def test_tables_with_spans_are_counted_apart() -> None:
    spanned = "<table><tr><td colspan=2>a</td></tr><tr><td>1</td><td>2</td></tr></table>"
    result = evaluated(A + spanned, A)
    assert (result["simple.teds"], result["complex.teds"]) == (1.0, 0.0)
    assert (result.numbers["simple"]["tables"], result.numbers["complex"]["tables"]) == (1, 1)


def test_nothing_to_find_and_nothing_in_tables() -> None:
    result = evaluated("no tables", A)
    assert result["teds"] is None
    assert result.undefined["mean.teds"] == "the truth has no tables"
    empty = evaluated("<table></table>", "<table></table>")
    assert empty["teds"] is None
    assert empty.numbers["counts"]["undefined"] == 1


def test_values_under_the_wrong_headings_are_listed() -> None:
    truth = "<table><tr>" + "".join(f"<td>{text}</td>" for text in ["k", "", *"12345678"]) + "</tr></table>"
    found = "<table><tr>" + "".join(f"<td>{text}</td>" for text in ["k", *"12345678"]) + "</tr></table>"
    rows = "<tr>" + "".join(f"<td>h{number}</td>" for number in range(10)) + "</tr>"
    result = evaluated(truth.replace("<table>", "<table>" + rows), found.replace("<table>", "<table>" + rows))
    assert [entry["document"] for entry in result.numbers["apart"]] == ["d"]
    assert compare(truth, found)["errors"].keys() == {"shift"}


def test_slices(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("doc_id,kind\na,letter\nb,memo\n")
    task = Tables(by=("kind",), metadata=str(tmp_path / "m.csv"))
    result = Evaluator(task).update({"a": A, "b": B, "c": C}, {"a": A, "b": "", "c": C}).compute()
    tree = result.numbers["slices"]["kind"]
    assert {value: block["mean"]["teds"] for value, block in tree["values"].items()} == {"letter": 1.0, "memo": 0.0}
    assert list(tree["values"]) == ["letter", "memo"]
    assert tree["macro_slices"]["teds"] == 0.5
    assert tree["without_value"]["documents"] == 1
    assert Tables(by=("kind", "page", "kind"), metadata=str(tmp_path / "m.csv")).by == ("kind", "page")
    later = Evaluator(task).update({"a": A}, {"a": A}).merge(Evaluator(Tables()).update({"b": B}, {"b": B})).compute()
    assert later.undefined["slices.kind"] == "some documents were scored without slices; evaluate them again with --by kind"
    with pytest.raises(ConfigError, match="no document has 'knd'"):
        Evaluator(Tables(by=("knd",), metadata=str(tmp_path / "m.csv"))).update({"a": A}, {"a": A})


def test_texts_are_made_alike_as_the_settings_say() -> None:
    pair = "<table><tr><td>ﬁne – X²</td></tr></table>", "<table><tr><td>fine - x2</td></tr></table>"
    assert teds(*pair) < 1
    assert compare(*pair, unicode="NFKC", fold=("dashes",), ignore_case=True)["teds"] == 1
    for settings in ({"unicode": "NFKC"}, {"fold": ("dashes",)}, {"ignore_case": True}):
        with pytest.raises(ConfigError, match="has text rules of its own"):
            Tables(compat="pubtabnet", **settings)
    for settings in ({"only": ("tds",)}, {"compat": "pubtab"}, {"compat": "pubtabnet", "only": ("grits",)}, {"fold": ("x",)}):
        with pytest.raises(ConfigError):
            Tables(**settings)


def test_a_mode_has_only_the_measures_of_its_tool() -> None:
    found = compare(A, B, compat="pubtabnet")
    assert not {"grits_top", "cells", "adjacency", "errors", "exact"} & found.to_dict().keys()
    assert not {"teds", "cells", "adjacency", "errors"} & compare(A, B, compat="table-transformer").to_dict().keys()
    with pytest.raises(ConfigError, match="table-transformer has no teds"):
        teds(A, B, compat="table-transformer")
    ragged = "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>"
    assert [issue["code"] for issue in compare(A, ragged, compat="table-transformer")["issues"]] == [
        "ragged",
        "compat-own-reading",
    ]
    odd = "<table><tr><td colspan='x'>a</td></tr></table>"
    assert teds(A, odd, compat="pubtabnet") is None
    assert "compat-unclosed" in [issue["code"] for issue in compare(A, "<table><tr><td>a", compat="omnidocbench")["issues"]]


def test_tables_beyond_measure_are_refused() -> None:
    with pytest.raises(ContractError, match="at most 4,000,000 slots"):
        parse({"cells": [{"row": 3_000_000, "column": 5}]})


def test_both_grids_are_shown(calque: Any, tmp_path: Path) -> None:
    (tmp_path / "t.html").write_text(A + B)
    (tmp_path / "p.md").write_text("| a1 | a2 |\n|---|---|\n| a3 | x4 |\n")
    shown = calque("tables", str(tmp_path / "t.html"), str(tmp_path / "p.md"), "--show", "t")
    lines = shown.out.splitlines()
    assert lines[0] == "t#0: paired, TEDS 0.9167; truth (left), prediction (right)"
    assert lines[2:4] == ["  a3│~ a4 ┃   a3│~ x4", "marked: ~ text"]
    assert lines[5].startswith("t#1: missed")
    one = calque("tables", str(tmp_path / "t.html"), str(tmp_path / "p.md"), "--show", "t#1")
    assert one.out.splitlines()[1] == "- b1│- b2 ┃ (no cells)"
    assert calque("tables", str(tmp_path / "t.html"), str(tmp_path / "p.md"), "--show", "t#7").code == 2


def test_the_command_line_says_what_python_says(calque: Any, tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps({"d": A + B, "e": C}))
    (tmp_path / "p.json").write_text(json.dumps({"d": B, "e": C}))
    paths = str(tmp_path / "t.json"), str(tmp_path / "p.json")
    for options, settings in (
        ((), {}),
        (("--compat", "omnidocbench"), {"compat": "omnidocbench"}),
        (("--only", "grits"), {"only": "grits"}),
    ):
        said = calque("tables", *paths, *options, "--format", "json").json
        assert Evaluator(Tables(**settings), keep="numbers").update(*paths).compute().to_dict() == said


def cases(result: Result) -> list[dict[str, Any]]:
    """What a report draws of each table."""
    drawn = result.task.view().report_data(result.ledger, result.numbers)
    assert drawn is not None
    return list(drawn.head["cases"])


@pytest.mark.long
def test_a_report_says_how_much_of_a_grid_it_leaves_out() -> None:
    long = "<table>" + "<tr><td>a</td><td>b</td></tr>" * 500 + "</table>"
    (case,) = cases(evaluated(long, long))
    assert len(case["grid"]) == 375
    assert case["rows"][0]["reasoning"].endswith("; 125 more rows not shown")


def test_a_report_draws_the_worst_tables_as_long_as_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calque.tables.report_data.MOST_CELLS", 12)
    drawn = cases(evaluated(A + B + C, A + B.replace("b4", "x4")))
    assert ["grid" in case for case in drawn] == [False, True, True]  # the worst are the third and the second
    left_out = "; its grids are left out: the page holds 12 cells, of the worst tables"
    assert [case["rows"][0]["reasoning"] for case in drawn] == [
        f"paired{left_out}", "paired", "missed",
    ]  # fmt: skip


def test_a_report_draws_cells_on_one_slot_one_slot_large() -> None:
    tall = {"row": 0, "column": 0, "rowspan": 2, "text": "a"}
    (alone,) = cases(evaluated({"cells": [tall]}, ""))
    assert [line[0] for line in alone["grid"]] == [["a", "fn", 1, 2, "table_missed"], None]
    (both,) = cases(evaluated({"cells": [tall, {"row": 1, "column": 0, "text": "b", "header": True}]}, "", lenient=True))
    assert both["grid"] == [
        [["a", "fn", 1, 1, "table_missed"], None, ["no table", "g", 1, 2, ""]],
        [["b", "h fn", 1, 1, "table_missed"], None],
    ]


def test_without_trees_there_are_no_worst_tables_and_no_losses() -> None:
    result = evaluated(A, B, only=("cells",))
    assert result.numbers["worst"] == []
    (case,) = cases(result)
    assert (case["kinds"], case["rows"][0]["misses"], case["rows"][0]["reasoning"]) == ([], [], "paired")
    (by_grits,) = evaluated(A, B, only=("grits",)).numbers["worst"]
    assert by_grits["grits_con"] < 1


def test_texts_that_are_alike_already_are_left() -> None:
    read = read_sides(Tables(), {"d": A}, {"d": B})
    for side, again in zip(read, read_sides(Tables(), *read), strict=True):
        assert again is side
    assert read_sides(Tables(ignore_case=True), *read)[0] is not read[0]


@pytest.mark.parametrize(
    ("room", "lines"),
    [
        (27, ["  abcdefghijkl│  mn│~ opqrs"]),
        (26, ["  abcdefghij…│  mn│~ opqrs"]),
        (20, ["  abcd…│  mn│~ opqrs"]),
        (17, ["  ab…│  mn│~ opq…"]),
        (5, ["  a…│  mn│~ o…"]),
        (None, ["  abcdefghijkl│  mn│~ opqrs"]),
    ],
)
def test_the_widest_columns_are_cut_until_a_grid_fits(room: int | None, lines: list[str]) -> None:
    assert _drawn([[("abcdefghijkl", ""), ("mn", ""), ("opqrs", "text")]], room) == lines


@pytest.mark.parametrize(
    ("settings", "alike"), [({}, False), ({"ignore_case": True}, True), ({"fold": ("dashes",)}, False)], ids=str
)
def test_plain_letters_are_made_alike_too(settings: dict[str, Any], alike: bool) -> None:
    pair = "<table><tr><td>Total</td></tr></table>", "<table><tr><td>TOTAL</td></tr></table>"
    assert (compare(*pair, **settings)["teds"] == 1) == alike


def test_both_grids_show_how_far_a_cell_reaches(calque: Callable[..., Run], tmp_path: Path) -> None:
    table = "<table><tr><td colspan=2>x</td></tr><tr><td rowspan=2>y</td><td>{}</td></tr><tr><td>w</td></tr></table>"
    for name, text in (("t", "z"), ("p", "q")):
        (tmp_path / f"{name}.html").write_text(table.format(text))
    shown = calque("tables", "t.html", "p.html", "--show", "t").out.splitlines()
    cells = [line.replace("│", " ").replace("┃", " ").split() for line in shown[1:4]]
    assert cells == [["x", "<", "x", "<"], ["y", "~", "z", "y", "~", "q"], ["^", "w", "^", "w"]]


@pytest.mark.parametrize("compat", ["pubtabnet", "docling-eval", "omnidocbench"])
def test_a_text_without_a_table_is_a_table_without_cells_for_other_tools(compat: str) -> None:
    made = html_tree(compat, CellTable(rows=1, columns=1, markup="<p>none</p>"))
    assert made is not None
    assert (made.labels, made.elements) == (["table"], 0)


@pytest.mark.parametrize(
    ("markup", "plain"),
    [
        ("<table><tr><td>a</td><td>b</td></tr><tr></tr><tr><td>c</td></tr></table>", True),
        ("<table><tr><td>a</td></tr><td>b</td><tr></tr></table>", False),
        ("<table><td>a</td><tr><td>b</td></tr></table>", False),
        ("<table><tr><td>a</td></tr><td>b</td></table>", False),
    ],
)
def test_only_rows_of_cells_have_the_quicker_way(markup: str, plain: bool) -> None:
    made = html_tree("pubtabnet", CellTable(rows=1, columns=1, markup=markup))
    assert made is not None
    assert made.is_plain() == plain


@pytest.mark.parametrize("short", [0, 1, 2, 3])
@pytest.mark.parametrize("into", [-1, 1])
def test_a_short_cell_that_is_read_into_the_one_beside_it(short: int, into: int) -> None:
    """Wherever it stands in its row: the longer of the two has a partner, and the shorter is in it."""
    long = short + into
    if not 0 <= long <= 3:
        return
    row = ["November", "December", "January", "February"]
    row[short] = "A"
    merged = [
        " ".join(row[each] for each in sorted((short, long))) if place == long else text for place, text in enumerate(row)
    ]
    del merged[short]

    def table(middle: list[str]) -> str:
        rows = [["one", "two", "three", "four"], middle, ["five", "six", "seven", "eight"]]
        return f"<table>{''.join(f'<tr>{cells(texts)}</tr>' for texts in rows)}</table>"

    def cells(texts: list[str]) -> str:
        return "".join(f"<td>{text}</td>" for text in texts)

    truth, found = table(row), table(merged)
    assert compare(truth, found)["errors"].keys() == {"cell_merged"}
    assert compare(found, truth)["errors"].keys() == {"cell_split"}
