"""Long reports stay small and light: bytes for each box, and nodes in any view."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calque import Corpus, Detection, Evaluator, Fields, Result, Words
from calque.order import Order

Opener = Callable[..., Any]
MOST_NODES = 5_000


def many(pages: int, each: int, seed: int = 5) -> Result:
    """Pages with boxes, most of which are found with some noise."""
    rng = np.random.default_rng(seed)
    count = pages * each
    corner = rng.uniform(0, 800, (count, 2))
    boxes = np.column_stack([corner, corner + rng.uniform(20, 180, (count, 2))])
    noise = boxes + rng.normal(0, 6, (count, 4))
    noise[:, 2:] = np.maximum(noise[:, 2:], noise[:, :2] + 1)
    labels = rng.integers(0, 5, count)
    names = ["Text", "Title", "Table", "Figure", "List"]
    documents = [f"document-{page // 10:05}.pdf" for page in np.repeat(np.arange(pages), each).tolist()]
    numbers = np.repeat(np.arange(pages) % 10, each)
    kept = rng.random(count) < 0.9
    truth = Corpus.from_arrays(boxes, labels, documents=documents, pages=numbers, label_names=names)
    there = [name for name, known in zip(documents, kept, strict=True) if known]
    scores = rng.random(int(kept.sum())).round(4)
    found = Corpus.from_arrays(
        noise[kept], labels[kept], documents=there, pages=numbers[kept], scores=scores, label_names=names
    )
    return Evaluator(Detection()).update(truth, found).compute()


def nodes(page: Any) -> int:
    count: int = page.evaluate("document.querySelectorAll('*').length")
    return count


def test_values_and_words_need_little_room(tmp_path: Path) -> None:
    truth = [{"id": f"record-{row}", **{f"field_{at}": f"value {row} {at}" for at in range(8)}} for row in range(500)]
    found = [{**record, f"field_{row % 8}": "nothing alike"} for row, record in enumerate(truth)]
    Evaluator(Fields()).update(truth, found).compute().report(tmp_path / "fields.html")
    assert (tmp_path / "fields.html").stat().st_size <= 250_000 + 50 * 8 * 500
    order = [{"doc_id": f"d{row}", "order": [f"b{at}" for at in range(40)]} for row in range(300)]
    Evaluator(Order()).update(order, order).compute().report(tmp_path / "order.html")
    assert (tmp_path / "order.html").stat().st_size <= 250_000 + 24 * 2 * 40 * 300


def test_a_long_path_is_light(opened: Opener, tmp_path: Path) -> None:
    names = [f"b{at}" for at in range(3000)]
    mixed = [*names[1::2], *names[::2]]
    made = Evaluator(Order()).update([{"doc_id": "d", "order": names}], [{"doc_id": "d", "order": mixed}]).compute()
    made.report(tmp_path / "path.html")
    page = opened(tmp_path / "path.html", "#view=pages")
    assert nodes(page) <= MOST_NODES
    page.keyboard.press("n")
    assert nodes(page) <= MOST_NODES


def test_data_is_deflated_raw_at_level_6(tmp_path: Path) -> None:
    """Byte for byte what zlib makes of it, without a head: the page inflates it as ``deflate-raw``."""
    many(200, 12).report(tmp_path / "some.html")
    block = re.search(r'<script type="application/octet-stream" id="data">([^<]+)<', (tmp_path / "some.html").read_text())
    assert block
    deflated = base64.b64decode(block[1], validate=True)
    whole = zlib.decompress(deflated, -zlib.MAX_WBITS)

    def at(level: int) -> bytes:
        raw = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
        return raw.compress(whole) + raw.flush()

    assert [level for level in range(1, 10) if at(level) == deflated] == [6]
    assert json.loads(whole[4 : 4 + int.from_bytes(whole[:4], "little")])["columns"]


def test_five_thousand_pages(opened: Opener, tmp_path: Path) -> None:
    result = many(5_000, 12)
    boxes = result.numbers["counts"]["truths"] + result.numbers["counts"]["predictions"]
    result.report(tmp_path / "long.html")
    assert (tmp_path / "long.html").stat().st_size <= 250_000 + 24 * boxes
    page = opened(tmp_path / "long.html")
    assert nodes(page) <= MOST_NODES
    for key in ("j", "n", "j", "n"):
        page.keyboard.press(key)
        assert nodes(page) <= MOST_NODES
    assert page.locator("[data-count=pages]").get_attribute("data-value") == "5000"
    page.keyboard.press("3")
    page.wait_for_selector("main[data-view=objects]")
    assert nodes(page) <= MOST_NODES
    page.mouse.wheel(0, 200_000)
    page.wait_for_timeout(100)
    assert 20 < page.locator("[data-object]").count() < 200
    assert nodes(page) <= MOST_NODES


def test_a_page_of_six_thousand_boxes(opened: Opener, tmp_path: Path) -> None:
    many(1, 3_300).report(tmp_path / "dense.html")
    page = opened(tmp_path / "dense.html", "#view=pages")
    assert nodes(page) <= MOST_NODES
    assert "at most 2,000 errors" in page.locator("[data-viewer]").inner_text()
    page.keyboard.press("n")
    assert page.locator("[data-detail]").count() == 1
    assert nodes(page) <= MOST_NODES


def test_many_classes_are_paged(opened: Opener, tmp_path: Path) -> None:
    names = [f"class {number:04}" for number in range(600)]
    boxes = [[10, 10, 60, 60]] * 600
    truth = Corpus.from_arrays(boxes, names, documents=[f"d{number}" for number in range(600)])
    found = Corpus.from_arrays(boxes[:300], names[:300], documents=[f"d{number}" for number in range(300)], scores=[0.5] * 300)
    Evaluator(Detection()).update(truth, found).compute().report(tmp_path / "classes.html")
    page = opened(tmp_path / "classes.html")
    assert nodes(page) <= MOST_NODES
    assert page.locator("table.classes tbody tr").count() == 40
    page.get_by_role("button", name="more →").click()
    assert page.locator('[data-measure="recall@0.5/class 0040"]').count() == 1


def test_one_document_of_many_words(opened: Opener, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    vocabulary = np.array([f"word{number}" for number in range(3_000)])
    truth = vocabulary[rng.integers(0, 3_000, 100_000)].tolist()
    found = [word if rng.random() > 0.05 else word[::-1] for word in truth]
    result = Evaluator(Words()).update({"long": " ".join(truth)}, {"long": " ".join(found)}).compute()
    result.report(tmp_path / "words.html")
    assert (tmp_path / "words.html").stat().st_size <= 250_000 + 10 * 200_000
    page = opened(tmp_path / "words.html", "#view=words")
    assert nodes(page) <= 1_500
    page.keyboard.press("n")
    page.keyboard.press("n")
    assert page.locator(".word.on").count() == 1
    assert nodes(page) <= 1_500


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_and_one_page(opened: Opener, tmp_path: Path, count: int) -> None:
    truth = (
        Corpus.from_arrays(np.zeros((0, 4)), [], all_documents=["empty.pdf"])
        if not count
        else Corpus.from_arrays([[0, 0, 9, 9]], ["Table"])
    )
    found = Corpus.from_arrays(np.zeros((0, 4)), [], all_documents=["empty.pdf"]) if not count else truth
    Evaluator(Detection(allow_missing_scores=True)).update(truth, found).compute().report(tmp_path / "few.html")
    page = opened(tmp_path / "few.html")
    for view in ("summary", "pages", "objects"):
        page.goto(f"{(tmp_path / 'few.html').resolve().as_uri()}#view={view}")
        page.wait_for_selector(f"main[data-view={view}]")
        for key in ("j", "n", "N", "k", "c", "x", "+", "Escape"):
            page.keyboard.press(key)
        page.keyboard.press("1")
