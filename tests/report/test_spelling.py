"""Numbers and names as people read them: rounded as in the terminal, never turned round, never cut where they tell apart."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import Corpus, Detection, Evaluator, Fields, Words
from calque.statistics.comparison import compare
from tests.report.made import FEW, Reports
from tests.report.test_safety import HOSTILE, detection

Opener = Callable[..., Any]
LONG = " ".join(f"word{place}x" for place in range(400))
MEASURES = "nodes => nodes.map(node => [node.dataset.measure, node.dataset.value, node.textContent])"
TURNED = r"""
() => {
  const turned = [], walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, text = node.textContent, range = document.createRange();
    const first = text.search(/\S/), last = text.length - 1 - [...text].reverse().findIndex((letter) => letter.trim());
    if (first < 0 || first === last || /[\u202a-\u202e]/.test(text) || node.parentElement.closest(".hidden")) continue;
    const left = (at) => { range.setStart(node, at); range.setEnd(node, at + 1); return range.getBoundingClientRect(); };
    const [a, b] = [left(first), left(last)];
    if (a.width && b.width && a.top === b.top && a.left > b.left) turned.push(text);
  }
  return turned;
}
"""


def found_of(count: int, found: int) -> Any:
    """A document of so many tables, of which the first are found."""
    boxes = [[100 * row, 0, 100 * row + 50, 50] for row in range(count)]
    truth = Corpus.from_arrays(boxes, ["Table"] * count)
    return Evaluator(Detection()).update(truth, Corpus.from_arrays(boxes[:found], ["Table"] * found)).compute()


@pytest.mark.parametrize("found", [1, 3, 5, 13])
def test_halves_are_rounded_as_in_the_terminal(opened: Opener, tmp_path: Path, found: int) -> None:
    result = found_of(16, found)
    result.report(tmp_path / "halves.html")
    told = opened(tmp_path / "halves.html").eval_on_selector_all("[data-measure]", MEASURES)
    ratios = {(name, float(value)): text for name, value, text in told if re.fullmatch(r"\d\.\d+", text)}
    assert ("recall@0.5", found / 16) in ratios
    assert {key: f"{key[1]:.3f}" for key in ratios} == ratios


@pytest.mark.parametrize(("right", "of", "said"), [(33, 40, "82 %"), (299, 300, ">99 %"), (1, 300, "<1 %"), (3, 8, "38 %")])
def test_percents_are_those_of_the_sentences(opened: Opener, tmp_path: Path, right: int, of: int, said: str) -> None:
    text = [f"w{place}" for place in range(of)]
    made = Evaluator(Words()).update({"a": " ".join(text), "b": "w"}, {"a": " ".join(text[:right]), "b": "w"}).compute()
    made.report(tmp_path / "words.html")
    page = opened(tmp_path / "words.html", "#view=words")
    number, sign = said.split()
    assert page.locator("[role=option] .note").first.inner_text() == f"{number}\u00a0{sign} of its words"  # never on two lines


def test_names_turn_nothing_but_themselves(opened: Opener, tmp_path: Path) -> None:
    detection().report(tmp_path / "hostile.html")
    page = opened(tmp_path / "hostile.html")
    for view in ("summary", "pages", "objects"):
        page.goto(f"{page.url.partition('#')[0]}#view={view}&q={'' if view == 'summary' else 'a%E2%80%AE'}")
        page.wait_for_selector(f"main[data-view={view}]")
        assert HOSTILE[4][:2] in page.locator("main").inner_text()
        page.keyboard.press("n" if view == "pages" else "Shift")
        assert page.evaluate(TURNED) == [], view


def test_cards_keep_the_page(opened: Opener, tmp_path: Path) -> None:
    names = [f"a-rather-long-name-of-a-report-that-goes-on-and-on-{number}.pdf" for number in range(3)]
    boxes = [[10, 10, 60, 60]] * 3
    truth = Corpus.from_arrays(boxes, ["Table"] * 3, documents=names)
    runs = [
        Evaluator(Detection()).update(truth, Corpus.from_arrays(boxes[:n], ["Table"] * n, documents=names[:n])) for n in (1, 2)
    ]
    results = [run.compute() for run in runs]
    results[0].report(tmp_path / "cards.html")
    compare(results, ["old", "new"], resampling=FEW).report(tmp_path / "both.html")
    for name, view in (("cards", "objects"), ("both", "changes")):
        page = opened(tmp_path / f"{name}.html", f"#view={view}", width=800)
        card, last = page.locator("a.card").first, page.locator("a.card .where > :last-child").first
        assert last.inner_text().strip() == "· page 0"
        edge = card.bounding_box()
        assert last.bounding_box()["x"] + last.bounding_box()["width"] <= edge["x"] + edge["width"]
        assert page.locator("a.card .where").first.get_attribute("title") == card.locator(".doc").inner_text()


def test_changes_are_told_in_words(opened: Opener, reports: Reports) -> None:
    page = opened(reports["detection-both"], "#view=changes")
    broken = page.locator("a.card[data-kind=MISS]").first
    assert broken.inner_text().split("\n")[1:5] == ["Table", "broken", "found", "→ nothing was predicted"]
    page = opened(reports["checks-both"], "#view=changes")
    assert page.locator("a.card").first.inner_text().split("\n") == ["+", "bad", "fixed", "fail", "→ pass"]


def test_a_narrow_screen_tells_documents_and_runs_apart(opened: Opener, reports: Reports, tmp_path: Path) -> None:
    runs = list(reports.of("detection-both").results.values())
    compare(runs, ["finder", "cropper"], resampling=FEW).report(tmp_path / "runs.html")
    page = opened(tmp_path / "runs.html", "#view=pages", width=800)
    cut = "nodes => nodes.filter(node => node.scrollWidth > node.clientWidth).map(node => node.textContent)"
    assert page.eval_on_selector_all("[data-filter=run], [data-filter=iou], nav a", cut) == []
    assert page.locator(".side.list [role=option] .doc").count() > 5
    assert page.eval_on_selector_all(".side.list [role=option] .doc", cut) == []
    page.keyboard.press("n")
    assert page.eval_on_selector_all(".side.detail [role=option] b", cut) == []


def test_numbers_of_an_order_fill_their_circles(opened: Opener, reports: Reports) -> None:
    page = opened(reports["order"], "#view=pages")
    sizes = page.eval_on_selector_all("[data-stop]", "nodes => nodes.map(node => parseFloat(getComputedStyle(node).fontSize))")
    assert sizes
    assert min(sizes) >= 18  # of the 36 that a circle is high


def test_the_mode_of_the_system_may_change(opened: Opener, reports: Reports) -> None:
    page = opened(reports["layout"], color_scheme="light")
    page.get_by_role("button", name="dark mode").wait_for()
    page.emulate_media(color_scheme="dark")
    page.get_by_role("button", name="light mode").wait_for()


def test_heads_stand_over_their_texts(opened: Opener, reports: Reports) -> None:
    page = opened(reports["words"], "#view=words")
    left = """selector => Math.min(...[...document.querySelectorAll(selector)].map(node => {
        const range = document.createRange(); range.selectNodeContents(node); return range.getBoundingClientRect().left; }))"""
    for place in (2, 3):
        head, text = (page.evaluate(left, f"{row} > :nth-child({place})") for row in (".text-head", ".text-line"))
        assert abs(head - text) <= 2


@pytest.mark.parametrize(("name", "view", "rows"), [("many", "objects", 72), ("fields", "fields", 60), ("words", "words", 60)])
def test_paper_has_whole_lists_and_cuts_no_row(opened: Opener, tmp_path: Path, name: str, view: str, rows: int) -> None:
    pypdfium2 = pytest.importorskip("pypdfium2")
    columns = [f"field_{at}" for at in range(9)]
    records = [{"id": f"row-{row:02}", **dict.fromkeys(columns, f"x{row}")} for row in range(rows)]
    made = {
        "many": lambda: found_of(rows, 0),
        "fields": lambda: Evaluator(Fields()).update(records, records).compute(),
        "words": lambda: Evaluator(Words()).update({"a": LONG}, {"a": LONG.replace("x", "y")}).compute(),
    }[name]()
    made.report(tmp_path / "long.html")
    page = opened(tmp_path / "long.html", f"#view={view}")
    page.pdf(path=str(tmp_path / "long.pdf"), prefer_css_page_size=True)
    printed = pypdfium2.PdfDocument(tmp_path / "long.pdf")
    text = "".join(sheet.get_textpage().get_text_range() for sheet in printed)
    told = {"objects": r"page\s0", "fields": r"row-\d\d", "words": r"word\d+x"}[view]
    assert len(set(re.findall(told, text))) >= rows if view != "objects" else len(re.findall(told, text)) == rows
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 688, "height": 900})
    seen = "nodes => nodes.filter(node => node.scrollWidth > node.clientWidth + 1).map(node => node.textContent)"
    assert page.eval_on_selector_all(".text-line .text, .field-row, .grid li", seen) == []


def test_verdicts_stand_in_one_line_on_a_narrow_screen(opened: Opener, reports: Reports) -> None:
    page = opened(reports["checks"], "#view=checks", width=800)
    tops = page.eval_on_selector_all("[data-filter=outcome]", "nodes => nodes.map(node => node.getBoundingClientRect().top)")
    assert len(tops) == 5
    assert len(set(tops)) == 1
