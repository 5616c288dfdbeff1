"""What the contract says of drawing, order and history that no other test holds: each test is a line of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calque import Corpus, Detection, Evaluator, Layout, Result, Tables, Words
from calque.base.style import TOKENS
from calque.order import Order
from tests.report.made import ALL, VIEWS, Reports

Opener = Callable[..., Any]
MINIATURES = """
nodes => nodes.map((node) => {
  const drawn = (mark, side) => (node.querySelector(`.o-${mark}.s-${side}`)?.getAttribute("d").match(/z/g) ?? []).length;
  const told = (mark) => Number(node.querySelector(`.m-${mark}`)?.parentElement.textContent.slice(1) ?? 0);
  const each = { fn: "t", wrong: "t", fp: "p", tp: "t" };
  return [Object.entries(each).map(([mark, side]) => drawn(mark, side)), Object.keys(each).map(told)];
})
"""
BARE_CHARTS = """
() => [...document.querySelectorAll("main section")].filter((section) => section.querySelector(".chart, .edges, .dumbbell"))
  .filter((section) => !section.querySelector("details.numbers")).map((section) => section.getAttribute("aria-labelledby"))
"""
NESTED = """
() => {
  const scrolls = (node) => getComputedStyle(node).overflowY === "auto" && node.scrollHeight > node.clientHeight + 1;
  const moving = [...document.querySelectorAll("main *")].filter(scrolls);
  return moving.filter((node) => moving.some((other) => other !== node && other.contains(node))).map((node) => node.className);
}
"""
UNDEFINED = """
() => [...document.querySelectorAll("[data-measure][data-value=null]")].map((node) => [node.textContent, node.title])
"""
HIDDEN_WORDS = """
() => [...document.querySelectorAll("main .chart svg")].flatMap((chart) => {
  const [points, words] = ["circle.point", "text"].map((wanted) => [...chart.querySelectorAll(wanted)]);
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const under = (word) => points.some((point) => meet(point.getBoundingClientRect(), word.getBoundingClientRect()));
  return words.filter(under).map((word) => word.textContent);
})
"""
AREAS = "nodes => nodes.map(node => Number(node.getAttribute('width')) * Number(node.getAttribute('height')))"


def grid(rows: int, kept: int, size: int = 9) -> Result:
    """One page with a column of boxes, of which the first are found."""
    boxes = [[10, 12 * row, 10 + size, 12 * row + 9] for row in range(rows)]
    truth = Corpus.from_arrays(boxes, ["text"] * rows)
    found = Corpus.from_arrays(np.array(boxes[:kept]).reshape(-1, 4), ["text"] * kept, scores=[0.5] * kept)
    return Evaluator(Detection()).update(truth, found).compute()


@pytest.mark.parametrize("name", ALL)
def test_charts_have_tables_and_nothing_scrolls_within_what_scrolls(opened: Opener, reports: Reports, name: str) -> None:
    page = opened(reports[name], height=500)
    assert page.locator("section.opening .findings li").count() <= 5
    assert page.locator(".big").count() <= 6
    for view in VIEWS[name]:
        page.goto(f"{reports[name].resolve().as_uri()}#view={view}")
        page.wait_for_selector(f"main[data-view={view}]")
        assert page.evaluate(BARE_CHARTS) == [], view
        assert page.evaluate(NESTED) == [], view


def test_points_of_a_chart_cover_no_words(opened: Opener, tmp_path: Path) -> None:
    """However sure they are all are right, or all are wrong, so that the points lie along an edge."""
    boxes = [[10, 12 * row, 19, 12 * row + 9] for row in range(10)]
    truth = Corpus.from_arrays(boxes, ["text"] * 10)
    for away in (0, 1000):
        moved = np.array(boxes) + away
        found = Corpus.from_arrays(moved, ["text"] * 10, scores=[row / 9 for row in range(10)])
        Evaluator(Detection()).update(truth, found).compute().report(tmp_path / f"{away}.html")
        page = opened(tmp_path / f"{away}.html")
        assert page.locator("circle.point").count() > 5
        assert page.evaluate(HIDDEN_WORDS) == []


def nothing(task: Any, empty: Any) -> Result:
    return Evaluator(task).update(empty, empty).compute()


NONE = Corpus.from_arrays(np.zeros((0, 4)), [], all_documents=["empty.pdf"])
NOTHING: dict[str, Callable[[], Result]] = {
    "detection": lambda: nothing(Detection(), NONE),
    "layout": lambda: nothing(Layout(), NONE),
    "words": lambda: nothing(Words(), {"a": ""}),
    "tables": lambda: nothing(Tables(), {"a": ""}),
    "order": lambda: nothing(Order(), [{"doc_id": "a", "order": []}]),
}


@pytest.mark.parametrize("task", NOTHING)
def test_what_is_undefined_says_why(opened: Opener, tmp_path: Path, task: str) -> None:
    NOTHING[task]().report(tmp_path / "nothing.html")
    page = opened(tmp_path / "nothing.html")
    told = page.evaluate(UNDEFINED)
    assert len(told) >= 2
    for text, reason in told:
        assert text == "–"
        assert reason not in ("", "undefined")
    assert "nothing to" in page.locator("h1").inner_text()


def test_a_small_share_is_seen_and_the_others_are_to_scale(opened: Opener, tmp_path: Path) -> None:
    grid(900, 899).report(tmp_path / "shares.html")
    page = opened(tmp_path / "shares.html")
    widths = page.eval_on_selector_all(".whole .share", "nodes => nodes.map(node => node.getBoundingClientRect().width)")
    assert len(widths) == 2
    assert widths[1] == pytest.approx(4, abs=0.5)
    assert widths[0] > 100 * widths[1]
    assert page.locator(".legend .number").nth(1).inner_text() == "1"


@pytest.mark.parametrize(("errors", "tags", "fills"), [(14, 14, True), (15, 1, True), (40, 1, True), (41, 1, False)])
def test_many_errors_keep_a_page_legible(opened: Opener, tmp_path: Path, errors: int, tags: int, fills: bool) -> None:
    grid(errors + 1, 1).report(tmp_path / "errors.html")
    page = opened(tmp_path / "errors.html", "#view=pages&object=t1")
    assert page.locator("[data-viewer] .tag").count() == tags
    assert page.locator("[data-viewer] svg.no-fills").count() == (not fills)


@pytest.mark.parametrize(("rows", "found"), [(40, True), (41, False)])
def test_a_miniature_is_four_paths(opened: Opener, tmp_path: Path, rows: int, found: bool) -> None:
    grid(rows, rows).report(tmp_path / "small.html")
    drawn = opened(tmp_path / "small.html").eval_on_selector_all(
        ".miniature",
        "nodes => nodes.map(node => [...node.querySelectorAll('path')].map(path => path.getAttribute('d') !== ''))",
    )
    assert drawn == [[found, found, False, False]]  # of more than 80 boxes only the errors


def test_a_miniature_has_the_outcomes_of_its_page(opened: Opener, reports: Reports) -> None:
    """Each colour is there as often as the tally below the miniature says."""
    for name in ("detection", "layout", "order", "ceiling"):
        drawn = opened(reports[name]).eval_on_selector_all(".worst li", MINIATURES)
        assert drawn, name
        for shapes, tallies in drawn:
            assert shapes == tallies, name


def test_truth_is_solid_prediction_dashed_and_small_boxes_lie_above(opened: Opener, reports: Reports) -> None:
    page = opened(reports["detection"], "#view=pages", color_scheme="dark")
    style = "node => ['strokeDasharray', 'strokeWidth', 'stroke', 'fill'].map(name => getComputedStyle(node)[name])"
    seen = set()
    for _ in range(12):
        areas = page.eval_on_selector_all("[data-viewer] rect.b", AREAS)
        assert areas == sorted(areas, reverse=True)
        for box in page.locator("[data-viewer] rect.b").all():
            side, outcome = box.get_attribute("data-side"), box.get_attribute("data-outcome")
            dashes, width, stroke, fill = box.evaluate(style)
            assert dashes.replace("px", "") == ("none" if side == "truth" else "6, 4")
            # What is drawn on paper keeps the light colours in the dark.
            assert stroke == "rgb({}, {}, {})".format(*(int(TOKENS[outcome][0][place : place + 2], 16) for place in (1, 3, 5)))
            if outcome != "tp":
                assert width == "2.4px"
                assert ("hatch" if outcome == "fn" else "dots") in fill
            seen.add((side, outcome))
        page.keyboard.press("j")
    assert seen == {("truth", "tp"), ("prediction", "tp"), ("truth", "fn"), ("prediction", "fp")}
    assert page.locator("[data-viewer] .sheet").evaluate("node => getComputedStyle(node).filter") == "brightness(0.86)"
    cut = page.locator("[data-viewer] .cut-off").evaluate(
        "node => [getComputedStyle(node).fill, getComputedStyle(node).fillOpacity]"
    )
    assert cut == ["rgb(230, 159, 0)", "0.35"]


def test_pages_are_sorted_as_asked(opened: Opener, reports: Reports) -> None:
    rows = [row for row in reports.of("detection").outcomes().rows() if row["side"] == "truth" or row["outcome"] == "fp"]
    places = sorted({(row["document"], row["page"]) for row in rows})
    errors, loss = dict.fromkeys(places, 0), dict.fromkeys(places, 0.0)
    for place in places:
        mine = [row for row in rows if (row["document"], row["page"]) == place]
        fits = [1 - row["iou"] for row in mine if row["outcome"] == "tp"]
        errors[place] = len(mine) - len(fits)
        loss[place] = sum(fits) / len(fits) if fits else 0.0
    worst = sorted(places, key=lambda place: (-errors[place], -loss[place], place))
    for sort, expected in (("worst", worst), ("document", places)):
        page = opened(reports["detection"], f"#view=pages&sort={sort}")
        listed = page.locator("[role=listbox][aria-label=pages] [role=option]")
        shown = [text.split("\n")[:2] for text in listed.all_inner_texts()]
        known = [(name, f"page {number}") for name, number in expected]
        assert [tuple(entry) for entry in shown if tuple(entry) in known] == [entry for entry in known if list(entry) in shown]
        assert tuple(shown[0]) in known[:1] or sort == "document"


def test_steps_replace_and_links_push(opened: Opener, reports: Reports) -> None:
    page = opened(reports["detection"], "#view=pages")
    length = page.evaluate("history.length")
    for key in ("j", "n", "t", "+", "Escape"):
        page.keyboard.press(key)
    assert page.evaluate("history.length") == length
    page.locator("nav a[data-view-link=objects]").click()
    page.wait_for_selector("main[data-view=objects]")
    assert page.evaluate("history.length") == length + 1


def test_filters_hold_across_views(opened: Opener, reports: Reports) -> None:
    page = opened(reports["detection"], "#view=objects&outcome=fn&class=Figure")
    assert page.locator("[data-count=objects]").get_attribute("data-value") == "3"
    page.locator("nav a[data-view-link=pages]").click()
    page.wait_for_selector("main[data-view=pages]")
    assert page.locator("[data-count=objects]").get_attribute("data-value") == "3"
    assert page.locator("[data-filter=class]").get_attribute("data-value") == "Figure"
    page.locator("nav a[data-view-link=summary]").click()
    page.locator("nav a[data-view-link=objects]").click()
    assert page.locator("[data-count=objects]").get_attribute("data-value") == "3"
