"""Cells as other tools spell and compare them: formulas unwrapped, boxes by their hull, texts by matching blocks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from calque.corpus.tables import CellTable
from calque.readers.tables.html import tables_of
from calque.tables.other_tools.compat import all_closed
from calque.tables.other_tools.omnidocbench_html import LONGEST_MATH, as_omnidocbench, spelt
from calque.tables.other_tools.table_transformer import _shared, as_it_reads, blocks, by_hull
from calque.tables.other_tools.trees import written


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("$x$", "x"), ("$$ x $$", "x"), ("\\(x\\)", "x"), ("\\[x\\]", "x"), ("$", "$"), ("$$", ""), ("$x", "$x"), ("x$", "x$"),
        ("$a<b$", "$a<b$"), ("$a>b$", "$a>b$"), ("-", "—"), ("–", "—"), ("--", "--"), (" a \n b ", "a b"),
        (f"${'y' * LONGEST_MATH}$", "y" * LONGEST_MATH), (f"${'y' * (LONGEST_MATH + 1)}$", f"${'y' * (LONGEST_MATH + 1)}$"),
    ],
)  # fmt: skip
def test_formulas_are_unwrapped(text: str, made: str) -> None:
    assert spelt(text) == made


def test_a_formula_is_its_text_and_what_stands_inside_is_not() -> None:
    made = as_omnidocbench(
        '<table><tr><td>a <math alttext="x+1"><mi>x</mi>+1</math> b<td><math>y</math></table>', symbols=False
    )
    assert made == '<table border="1" ><tr><td>a $x+1$ b<td>$$</table>'


@pytest.mark.parametrize(
    ("markup", "closed"),
    [("<td>a</td>", True), ("<tr><td>a</tr></td>", False), ("</td>", False), ("<td><br>a<i/></td>", True), ("<td>", False)],
)
def test_tags_are_closed_in_order(markup: str, closed: bool) -> None:
    assert all_closed(markup) == closed


def test_boxes_by_the_smallest_box_around_both() -> None:
    ours = np.array([[0, 0, 2, 2], [0, 0, 0, 0.0]])
    theirs = np.array([[1, 0, 3, 2], [2, 0, 4, 2], [0, 0, 2, 2], [0, 0, 0, 0.0]])
    assert by_hull(ours, theirs).tolist() == [[pytest.approx(1 / 3), 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    ("one", "other", "share"), [("", "", 1.0), ("", "a", 0.0), ("abcd", "abxd", 0.75), ("ab", "abab", 2 / 3)]
)
def test_texts_by_matching_blocks(one: str, other: str, share: float) -> None:
    assert blocks(one, other) == pytest.approx(share)


def table(*texts: str, boxes: bool = False) -> CellTable:
    cells = [(0, place, 1, 1, text, False) for place, text in enumerate(texts)]
    return CellTable.of(cells, boxes=tuple((place, 0, place + 1, 1) for place in range(len(texts))) if boxes else ())


def test_tables_share_places_only_where_both_have_boxes() -> None:
    both = _shared(table("a", "b", boxes=True), table("a", "x", boxes=True), 1)
    assert (both["top"], both["con"], both["loc"]) == (2.0, 1.0, 2.0)
    for one, other in ((True, False), (False, True), (False, False)):
        made = _shared(table("a", boxes=one), table("a", boxes=other), 1)
        assert math.isnan(made["loc"])
        assert made["con"] == 1.0
    longer = _shared(table("a", "b"), table("b", "a", "b"), 1)
    assert longer["con"] == 2.0


def test_what_was_no_html_is_written_with_all_its_cells() -> None:
    table = CellTable.of(
        [(0, 0, 2, 1, "a & b", False), (0, 1, 1, 2, "<c>", False), (1, 1, 1, 1, "", False), (1, 2, 1, 1, "d", False)]
    )
    (again,) = tables_of(written(table))
    for name in ("row", "column", "rowspan", "colspan", "text"):
        assert getattr(again, name) == getattr(table, name), name


def test_table_transformer_reads_tables_without_gaps_only() -> None:
    """Whether a table is given as cells or as HTML."""
    whole = [(row, column, 1, 1, "x", False) for row in range(2) for column in range(2)]
    for cells, read in ((whole, True), (whole[:3], False), (whole[1:], False)):
        made = as_it_reads(CellTable.of(cells))
        assert (made is not None) is read
    (gap,), (full,) = (
        tables_of(f"<table><tr><td>a</td>{more}</tr><tr><td>b</td><td>c</td></tr></table>") for more in ("", "<td/>")
    )
    assert (as_it_reads(gap), as_it_reads(full) is None) == (None, False)


@pytest.mark.parametrize("symbols", [False, True])
@pytest.mark.parametrize("around", ["{}", "<p>\n{}</p>", "<html>{}\n</html>"])
def test_a_table_is_found_in_capitals_and_over_several_lines(around: str, symbols: bool) -> None:
    small = as_omnidocbench("<table><tr><td>a</td></tr></table>", symbols=symbols)
    large = as_omnidocbench(around.format("<TABLE class='x'>\n<tr><td>a</td>\r</tr></TABLE>"), symbols=symbols)
    assert "".join(large.split()) == "".join(small.split())
    assert "<td>a" in small


def test_what_never_closes_is_not_closed_again() -> None:
    made = as_omnidocbench("<table><tr><td>a<br>b</br><b>c</b></td></tr></table>", symbols=False)
    assert made == '<table border="1" ><tr><td>a<br/>b<b>c</b></td></tr></table>'
