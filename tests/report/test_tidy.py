"""What made a report ugly once, as laws: nothing is broken, cut or out of scale, in every view that has it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import Corpus, Detection, Evaluator, Fields, Tables, Words
from calque.statistics.comparison import compare
from tests.report.empty import EMPTY
from tests.report.made import FEW, MADE, Reports
from tests.report.test_contract import NESTED

Opener = Callable[..., Any]
BROKEN_WORDS = """
() => [...document.querySelectorAll(".both td:not(.between)")].filter((cell) => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  return !/\\s/.test(cell.textContent) && new Set([...range.getClientRects()].map((box) => box.top)).size > 1;
}).map((cell) => cell.textContent)
"""
SCALES = """
() => [...document.querySelectorAll(".classes tr")].map((row) => [...row.querySelectorAll(".share")])
  .filter((parts) => parts.length).map((parts) => parts.reduce((sum, part) => sum + part.getBoundingClientRect().width, 0)
    / parts.reduce((sum, part) => sum + Number(part.dataset.objects), 0))
"""
CUT = (
    "nodes => nodes.filter(node => node.scrollHeight > node.clientHeight + 1 || node.scrollWidth > node.clientWidth + 1).length"
)
LINES = """
nodes => nodes.map((node) => {
  const range = document.createRange();
  range.setStart(node, 0);
  range.setEndBefore(node.querySelector("br"));
  return new Set([...range.getClientRects()].map((box) => box.top)).size;
})
"""
# How far below the mark the name begins, and how far below the last word the key stands, in pixels.
FIRST_LINES = """
title => {
  const range = document.createRange(), text = title.querySelector("bdi").firstChild;
  range.setStart(text, 0);
  range.setEnd(text, 1);
  return Math.abs(range.getBoundingClientRect().bottom - title.querySelector(".mark").getBoundingClientRect().bottom) / 10;
}
"""
LAST_LINES = """
note => {
  const range = document.createRange(), text = [...note.childNodes].find((node) => node.nodeType === 3);
  const end = text.textContent.trimEnd().length;
  range.setStart(text, end - 1);
  range.setEnd(text, end);
  return Math.abs(range.getBoundingClientRect().bottom - note.querySelector("kbd").getBoundingClientRect().bottom) / 10;
}
"""
PLACES = """
(line, words) => {
  const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT), range = document.createRange(), places = [];
  while (walker.nextNode()) for (const word of words) {
    const node = walker.currentNode, at = node.textContent.indexOf(word);
    if (at < 0) continue;
    range.setStart(node, at);
    range.setEnd(node, at + 1);
    places.push(range.getBoundingClientRect().left);
  }
  return places;
}
"""


@pytest.mark.parametrize("width", [800, 1440])
def test_words_of_a_wide_table_are_whole_and_nothing_scrolls_within_what_scrolls(
    opened: Opener, tmp_path: Path, width: int
) -> None:
    cells = "".join(f"<td>value_{column}</td>" for column in range(12))
    table = f"<table>{f'<tr>{cells}</tr>' * 60}</table>"
    Evaluator(Tables()).update({"wide": table}, {"wide": table.replace("value_3", "value_9")}).compute().report(
        tmp_path / "t.html"
    )
    page = opened(tmp_path / "t.html", "#view=checks", width=width)
    assert page.evaluate(BROKEN_WORDS) == []
    assert page.evaluate(NESTED) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", ["detection", "layout", "fields", "ceiling"])
def test_bars_of_all_rows_have_one_scale(opened: Opener, reports: Reports, name: str) -> None:
    scales = opened(reports[name]).evaluate(SCALES)
    assert len(scales) > 1
    assert max(scales) <= 1.2 * min(scales)  # as far as gaps and the least width of a share allow


@pytest.mark.parametrize("width", [390, 800, 1440])
@pytest.mark.parametrize("name", ["order", "detection"])
def test_a_card_says_all_that_became_of_its_object(opened: Opener, reports: Reports, name: str, width: int) -> None:
    page = opened(reports[name], "#view=objects", width=width)
    assert page.locator(".card .told").count() > 3
    assert page.eval_on_selector_all(".card .told", CUT) == 0 or width == 390  # a phone has two cards in a row
    assert all(page.locator(".card .line b").all_inner_texts())


def test_blocks_without_labels_are_called_by_their_names_everywhere(opened: Opener, reports: Reports) -> None:
    page = opened(reports["order"], "#view=objects&q=names.pdf")
    assert sorted(page.locator(".card .line b").all_inner_texts()) == ["x", "y", "z"]
    page = opened(reports["order"], "#view=pages&doc=names.pdf&page=0")
    listed = page.locator(".detail .option")
    assert set(listed.locator("b").all_inner_texts()) == {"x", "y", "z"}
    listed.first.click()
    assert page.locator(".chosen-object h2").inner_text().split()[1] in ("x", "y", "z")


@pytest.mark.parametrize(("name", "view"), [("detection", "pages"), ("words", "words")])
def test_names_of_a_list_have_its_whole_width(opened: Opener, reports: Reports, name: str, view: str) -> None:
    page = opened(reports[name], f"#view={view}")
    option = page.locator(".list .option").first.bounding_box()
    assert page.locator(".list .option .doc").first.bounding_box()["width"] > option["width"] - 40


def test_kinds_are_chosen_by_their_words(opened: Opener, reports: Reports) -> None:
    page = opened(reports["detection"], "#view=objects")
    page.get_by_label("Kind").select_option(label="nothing was predicted")
    assert "kind=MISS" in page.evaluate("location.hash")
    assert page.locator(".chip").first.inner_text().startswith("kind: nothing was predicted")
    assert page.locator("a.card").count() == 4


@pytest.mark.parametrize("name", ["checks", "ceiling", "order"])
def test_what_stands_below_a_count_is_right_of_one_and_of_many(opened: Opener, reports: Reports, name: str) -> None:
    told = opened(reports[name]).locator(".big .note").all_inner_texts()
    assert len(told) == 6
    assert not [note for note in told if note.startswith(("case", "truth", "block"))]


def test_a_phone_needs_no_scrolling_to_see_all_numbers_of_a_class(opened: Opener, reports: Reports) -> None:
    for name, view in (("detection", "summary"), ("layout", "summary"), ("fields", "summary"), ("detection-both", "compare")):
        page = opened(reports[name], f"#view={view}", width=390, height=844)
        frame = page.locator(".scrolls:has(.stacks)")
        assert frame.evaluate("node => node.scrollWidth <= node.clientWidth"), name
        cell = page.locator(".stacks tbody td[data-title]").first
        assert cell.evaluate("node => getComputedStyle(node, '::before').content") == f'"{cell.get_attribute("data-title")}"'


def test_names_of_fields_are_whole(opened: Opener, tmp_path: Path) -> None:
    truth = [{"id": "a", "first": 1, "objects": [{"label": "x", "page": 2}], "last": 2}]
    Evaluator(Fields()).update(truth, truth).compute().report(tmp_path / "fields.html")
    page = opened(tmp_path / "fields.html", "#view=fields", width=800)
    assert page.locator(".field-head span").count() == 5
    assert page.eval_on_selector_all(".field-head span", CUT) == 0


def test_where_there_are_no_documents_the_tools_have_the_whole_width(opened: Opener, tmp_path: Path) -> None:
    EMPTY["fields"]().report(tmp_path / "empty.html")
    for width in (800, 1440):
        page = opened(tmp_path / "empty.html", "#view=fields", width=width)
        assert page.locator(".tools.across").bounding_box()["width"] == width


@pytest.mark.parametrize("name", ["fields-both", "layout-both", "detection-both"])
def test_intervals_are_not_broken_on_a_narrow_screen(opened: Opener, reports: Reports, name: str) -> None:
    page = opened(reports[name], "#view=summary", width=800)
    assert set(page.eval_on_selector_all(".big .note:has(br)", LINES)) <= {1}


def test_a_word_that_is_right_turns_no_other(opened: Opener, tmp_path: Path) -> None:
    text = "one a\u202eb\u202e two three four"
    Evaluator(Words()).update({"a": text}, {"a": text}).compute().report(tmp_path / "turned.html")
    page = opened(tmp_path / "turned.html", "#view=words")
    places = page.locator(".text-line .text").first.evaluate(PLACES, ["one", "two", "three", "four"])
    assert len(places) == 4
    assert places == sorted(places)


def test_names_of_runs_are_shortened_once(opened: Opener, tmp_path: Path) -> None:
    runs = [MADE["words"](), MADE["words"](better=True)]
    compare(runs, ["OCR-D-OCR-TESSERACT_0001", "OCR-D-OCR-CALAMARI_0001"], resampling=FEW).report(tmp_path / "runs.html")
    page = opened(tmp_path / "runs.html", "#view=words")
    assert page.eval_on_selector_all(".top .segments button", CUT) == 0


def test_a_mark_stands_before_a_long_name_and_a_key_behind_the_last_word(opened: Opener, tmp_path: Path) -> None:
    truth = Corpus.from_arrays([[0, 0, 90, 90]], ["%3Cscript%3E&amp;&lt;#view=pages"], documents=["a.pdf"])
    none = Corpus.from_arrays([[200, 200, 290, 290]], ["other"], documents=["a.pdf"], scores=[0.5])
    found = Corpus.from_arrays([[0, 0, 90, 90]], ["%3Cscript%3E&amp;&lt;#view=pages"], documents=["a.pdf"], scores=[0.5])
    runs = [Evaluator(Detection()).update(truth, made).compute() for made in (found, none)]
    compare(runs, ["finder", "cropper"], resampling=FEW).report(tmp_path / "both.html")
    for width in (800, 1100, 1440):
        page = opened(tmp_path / "both.html", "#view=pages&run=1&object=t0", width=width)
        assert page.locator(".chosen-object h2").evaluate(FIRST_LINES) < 2
        assert page.locator(".became .note").evaluate(LAST_LINES) < 2


def test_a_kind_of_break_is_not_said_twice(opened: Opener, reports: Reports) -> None:
    rows = opened(reports["order"]).locator("th:has(a[href*='kind='])").all_inner_texts()
    assert "back within a column" in rows
