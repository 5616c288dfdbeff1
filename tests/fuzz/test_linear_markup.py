"""HTML and hOCR of any shape: the work grows with the length of the text and not with its square."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.corpus.words import Block
from calque.readers.text import hocr, html
from tests.examples import examples

READERS: dict[str, Callable[[str], list[Block]]] = {"html": html.blocks_of, "hocr": hocr.blocks_of}
FILES = (html.__file__, hocr.__file__, sys.modules["html.parser"].__file__, sys.modules["_markupbase"].__file__)
UNITS = [
    "<div>", "</div>", "<b>", "</b>", "<p>", "<p><b>", "<li>", "<td>", "<li><p>", "<table><tr><td>", "<ul><li>",
    "<dl><dt>x<dd>", "<b></i>", "</p>", "<section>", "<h2>References", "<b><p></b>", "<span/>", "<option>x", "x ", "<br>",
    "<a ", "<a/", "<a b=", '<a b="', "<a b='\"", "</a ", "</", "<!--", "<!-- --!", "<![CDATA[", "<![if ", "<?", "<!", "<!D",
    "<", "&", "&#", "&amp", "<script>", "<script></", "<title>", "<a b=\"c\"d", "<textarea>", "<![x[y]]>",
    "<div class=ocr_page>", "<p class=ocr_par>", "<span class=ocr_line>", "<span class=ocrx_word>w", "<i class=ocr_line>a</i>",
    "<div class=ocr_page><p class=ocr_par>", "<p class=ocr_par><div class=ocr_page>", "<b class=ocr_line><i class=ocrx_word>",
]  # fmt: skip


def steps(read: Callable[[str], list[Block]], text: str) -> int:
    """How many lines of the readers and of Python's parser run, and how many characters that parser is given."""
    count = 0

    def inside(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        count += event == "line"
        return inside

    def called(frame: FrameType, _: str, __: Any) -> Any:
        nonlocal count
        if frame.f_code.co_filename not in FILES:
            return None
        if frame.f_code.co_name == "feed":
            count += len(frame.f_locals["data"])
        return inside

    before = sys.gettrace()
    sys.settrace(called)
    try:
        read(text)
    finally:
        sys.settrace(before)
    return count


def is_linear(read: Callable[[str], list[Block]], unit: str) -> bool:
    few, many = (steps(read, unit * count) for count in (100, 400))
    return many <= 6 * few


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("unit", UNITS)
def test_four_times_the_text_is_about_four_times_the_work(reader: str, unit: str) -> None:
    assert is_linear(READERS[reader], unit)


@examples(60)
@given(reader=st.sampled_from(sorted(READERS)), units=st.lists(st.sampled_from(UNITS), min_size=2, max_size=4))
def test_so_it_is_for_any_of_them_in_turn(reader: str, units: list[str]) -> None:
    assert is_linear(READERS[reader], "".join(units))


@pytest.mark.parametrize("unit", [
    "<div>", "<a ", "<!--", "</b>",
    *(pytest.param(unit, marks=pytest.mark.long) for unit in ("<b>", "<p><b>", "<ul><li>", "<span class=ocr_line>")),
])  # fmt: skip
def test_twenty_thousand_of_them_are_read(unit: str) -> None:
    assert html.blocks_of("Before. " + unit * 20_000)[0].text.startswith("Before.")
    assert hocr.blocks_of("<p class=ocr_par>Before.</p>" + unit * 20_000)[0].text.startswith("Before.")


def test_every_word_of_nested_lines_and_pages_stands_once() -> None:
    inner = "<span class=ocr_line>b <span class=ocrx_word>c</span></span>"
    text = f"<div class=ocr_page><div class=ocr_line>a {inner}</div><div class=ocr_page><p class=ocr_par>d</p></div></div>"
    assert [(block.text, block.page) for block in hocr.blocks_of(text)] == [("a\nc", 0), ("d", 1)]


def test_what_is_never_closed_is_text_up_to_the_next_tag() -> None:
    assert [block.text for block in html.blocks_of("<p>a</p><img alt='b>c<p>d</p>")] == ["a", "<img alt='b>c", "d"]
    assert [block.text for block in html.blocks_of("<p>a</p><![x[b]]><p>c")] == ["a", "c"]
