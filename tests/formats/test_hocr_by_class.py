"""HTML is hOCR if an element has a class of hOCR, and not if a text mentions one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run

Command = Callable[..., Run]
MENTIONS = [
    "<p>the class ocrx_word of Tesseract</p>",
    "<!-- ocr_page --><p>the class of Tesseract</p>",
    "<script>find('.ocrx_word')</script><p>the class of Tesseract</p>",
    '<p title="ocr_page" id="ocrx_word">the class of Tesseract</p>',
    '<p class="not_ocrx_word ocr_pages">the class of Tesseract</p>',
]


@pytest.mark.parametrize("body", MENTIONS)
@pytest.mark.parametrize("suffix", ["html", "xhtml"])
def test_html_that_mentions_hocr_is_read_as_html(tmp_path: Path, calque: Command, body: str, suffix: str) -> None:
    (tmp_path / f"d.{suffix}").write_text(f"<html><body>{body}</body></html>")
    (tmp_path / "p.txt").write_text("the class of Tesseract")
    counts = calque("words", f"d.{suffix}", "p.txt", "--format", "json").json["counts"]
    assert counts["matches"] == 4


@pytest.mark.parametrize("name", ["ocrx_word", "ocr_word", "a ocrx_word b"])
def test_html_with_a_class_of_hocr_is_read_as_hocr(tmp_path: Path, calque: Command, name: str) -> None:
    words = "".join(f"<span class='{name}'>{word}</span>" for word in ("one", "two"))
    (tmp_path / "d.html").write_text(f"<html><body>skipped<div>{words}</div></body></html>")
    (tmp_path / "p.txt").write_text("one two")
    counts = calque("words", "d.html", "p.txt", "--format", "json").json["counts"]
    assert (counts["words"], counts["matches"]) == (2, 2)
