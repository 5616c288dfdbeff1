"""Wide, narrow and on a phone: nothing is cut off, runs into its neighbour or scrolls sideways, whatever the data holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import Corpus, Detection, Evaluator, Fields, Tables, Words
from calque.statistics.bootstrap import Resampling
from calque.statistics.comparison import compare
from tests.report.apart import APART
from tests.report.made import VIEWS as ALL_VIEWS
from tests.report.made import detection as sampled
from tests.report.test_safety import HOSTILE, MADE, VIEWS
from tests.report.test_sizes import many

Opener = Callable[..., Any]
FEW = Resampling(replicates=100)
SIDEWAYS = "document.documentElement.scrollWidth"
OVERFULL = """
() => [...document.querySelectorAll(".columns > section")]
  .filter((section) => section.scrollWidth > section.clientWidth + 1).map((section) => section.innerText.slice(0, 40))
"""
CROWDED = """
() => [...document.querySelectorAll(".chart svg")].flatMap((chart) => {
  const boxes = [...chart.querySelectorAll("text.value")].map((text) => text.getBoundingClientRect());
  return boxes.filter((box, at) => boxes.some((other, place) => place > at && box.left < other.right && other.left < box.right
    && box.top < other.bottom && other.top < box.bottom)).map((box) => chart.getAttribute("aria-label"));
})
"""


OVER_EACH_OTHER = """
() => [...document.querySelectorAll(".option")].filter((option) => {
  const seen = [...option.querySelectorAll(".name b, .name .note, .name .doc, :scope > .value, .tallies")];
  const boxes = seen.map((node) => node.getBoundingClientRect()).filter((box) => box.width);
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  return boxes.some((box, at) => boxes.some((other, place) => place > at && meet(box, other)));
}).map((option) => option.innerText.slice(0, 60))
"""
CUT_OFF = """
() => [...document.querySelectorAll("svg.crop")].filter((crop) => {
  const whole = crop.getBoundingClientRect(), own = crop.querySelector("path.own")?.getBoundingClientRect();
  return own && whole.width && (own.left < whole.left - 1 || own.right > whole.right + 1 || own.top < whole.top - 1
    || own.bottom > whole.bottom + 1);
}).map((crop) => crop.getAttribute("aria-label").slice(0, 60))
"""


CUT_TABLES = """
() => [...document.querySelectorAll(".columns.tables .scrolls, .compared, .both-runs")].map((node) => node.closest(".scrolls"))
  .filter((node) => innerWidth > 700 && node.scrollWidth > node.clientWidth + 1).map((node) => node.innerText.slice(0, 60))
"""
BROKEN_NUMBERS = """
() => [...document.querySelectorAll(".facts dd")].filter((node) => /^[-0-9.\\s]+$/.test(node.textContent)
  && node.clientHeight > 2.2 * parseFloat(getComputedStyle(node).lineHeight)).map((node) => node.textContent)
"""
CUT_HEADS = """
() => [...document.querySelectorAll(".matrix thead th:last-child")].filter((node) => node.scrollWidth > node.clientWidth + 1)
  .map((node) => node.textContent)
"""


VIEWS_HIDDEN = """
() => {
  const others = [...document.querySelectorAll("header.top > :not(nav)")].map((node) => node.getBoundingClientRect());
  return [...document.querySelectorAll("nav a")].filter((link) => {
    const box = link.getBoundingClientRect(), apart = (other) => other.right <= box.left + 1 || other.left >= box.right - 1
      || other.bottom <= box.top + 1 || other.top >= box.bottom - 1;
    return box.right > innerWidth || box.left < 0 || !others.every((other) => !other.width || apart(other));
  }).map((link) => link.textContent);
}
"""
LONG_HEAD = "Math.max(...[...document.querySelectorAll('h1, .over-line, .findings li')].map((node) => node.innerText.length))"
RUN_OUT = """
() => [...document.querySelectorAll(".side .tools *, .bar-top *, .bar-bottom *, .wall > .tools *")].filter((node) => {
  const box = node.getBoundingClientRect(), pane = node.closest(".side, .stage, .wall").getBoundingClientRect();
  return box.width && !node.closest(".hidden") && (box.right > pane.right + 1 || box.left < pane.left - 1);
}).map((node) => node.textContent.slice(0, 60))
"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("widths")
    for task, make in MADE.items():
        make().report(folder / f"{task}.html")
    # Many kinds of errors, and counts of five digits.
    many(1_000, 14).report(folder / "many.html")
    for task in APART:
        runs = [APART[task](0), APART[task](1)]
        compare(runs, [HOSTILE[1], HOSTILE[7]], resampling=FEW).report(folder / f"{task}-both.html")
    # Enough documents for intervals, and names that leave them little room.
    runs = [sampled(), sampled(better=True)]
    compare(runs, [HOSTILE[1], HOSTILE[7]], resampling=FEW).report(folder / "intervals.html")
    text = " ".join(f"word{place}" for place in range(60))
    words = [Evaluator(Words()).update({"a": text}, {"a": found}).compute() for found in ("", text)]
    compare(words, ["nothing", "everything"], resampling=FEW).report(folder / "texts.html")
    return {path.stem: path for path in folder.iterdir()}


SEEN = {
    **{task: ("summary", *views) for task, views in VIEWS.items()},
    "many": ("summary", "pages", "objects"),
    **{f"{task}-both": ALL_VIEWS[f"{task}-both"] for task in APART},
    "intervals": ("compare", "changes", "pages", "summary"),
    "texts": ("compare", "changes", "words", "summary"),
}


@pytest.mark.parametrize("name", SEEN)
@pytest.mark.parametrize("width", [800, *(pytest.param(width, marks=pytest.mark.long) for width in (390, 1440))])
def test_nothing_scrolls_sideways_or_runs_into_its_neighbour(
    opened: Opener, reports: dict[str, Path], name: str, width: int
) -> None:
    page = opened(reports[name], width=width)
    for view in SEEN[name]:
        page.goto(f"{reports[name].resolve().as_uri()}#view={view}")
        page.wait_for_selector(f"main[data-view={view}]")
        if view not in ("summary", "compare", "changes", "objects"):
            page.keyboard.press("n")
        assert page.evaluate(SIDEWAYS) <= width, view
        assert page.evaluate(OVERFULL) == [], view
        assert page.evaluate(CROWDED) == [], view
        assert page.evaluate(OVER_EACH_OTHER) == [], view
        assert page.evaluate(CUT_OFF) == [], view
        assert page.evaluate(RUN_OUT) == [], view
        assert page.evaluate(CUT_TABLES) == [], view
        assert page.evaluate(CUT_HEADS) == [], view
        assert page.evaluate(BROKEN_NUMBERS) == [], view
        assert page.evaluate(VIEWS_HIDDEN) == [], view
        if view in ("summary", "compare"):
            assert page.evaluate(LONG_HEAD) < 300, view


PAPER = 688
"""A4 without its margins, in pixels: what is wider makes a browser print everything smaller."""


@pytest.mark.long
@pytest.mark.parametrize("name", SEEN)
def test_nothing_is_wider_than_paper(opened: Opener, reports: dict[str, Path], name: str) -> None:
    page = opened(reports[name], width=PAPER)
    page.emulate_media(media="print")
    for view in SEEN[name]:
        page.goto(f"{reports[name].resolve().as_uri()}#view={view}")
        page.wait_for_selector(f"main[data-view={view}]")
        assert page.evaluate(SIDEWAYS) <= PAPER, view


def test_a_narrow_screen_keeps_its_panes_beside_each_other(opened: Opener, reports: dict[str, Path]) -> None:
    page = opened(reports["many"], "#view=pages", width=800)
    page.keyboard.press("n")
    sides = [page.locator(name).bounding_box() for name in ("aside.list", "[data-viewer]", "aside.detail")]
    assert sides[0]["x"] + sides[0]["width"] <= sides[1]["x"] + 1
    assert sides[1]["x"] + sides[1]["width"] <= sides[2]["x"] + 1
    drawn = page.locator("[data-viewer] svg.page").bounding_box()
    assert drawn["width"] <= sides[1]["width"]
    assert drawn["height"] <= sides[1]["height"]
    assert page.locator("[data-count=pages]").bounding_box()["x"] < sides[1]["x"]


def test_a_phone_has_its_lists_below_the_page(opened: Opener, reports: dict[str, Path]) -> None:
    page = opened(reports["many"], "#view=pages", width=390, height=844)
    stage, side = (page.locator(name).bounding_box() for name in ("[data-viewer]", "aside.list"))
    assert side["y"] >= stage["y"] + stage["height"]
    assert page.locator("[role=listbox][aria-label=pages] [role=option]").count() > 5
    page.keyboard.press("+")
    drawn = page.locator("[data-viewer] svg.page").bounding_box()
    assert drawn["width"] > 390  # it is moved within its own frame
    assert page.evaluate(SIDEWAYS) <= 390


FRAME = "(() => { const frame = document.querySelector('.matrix-scroll'); return frame.scrollWidth - frame.clientWidth; })()"


@pytest.mark.parametrize(("count", "width", "moves"), [(4, 800, False), (8, 1440, False), (30, 1440, True), (30, 390, True)])
def test_fields_have_the_room_that_there_is(opened: Opener, tmp_path: Path, count: int, width: int, moves: bool) -> None:
    """Where there are more than fit, the grid alone moves sideways, and the names of documents stay."""
    truth = [{"id": f"record-{row}", **{f"field_{at}": f"value {row} {at}" for at in range(count)}} for row in range(5)]
    Evaluator(Fields()).update(truth, truth).compute().report(tmp_path / "fields.html")
    page = opened(tmp_path / "fields.html", "#view=fields", width=width)
    assert (page.evaluate(FRAME) > 0) is moves
    assert page.evaluate(SIDEWAYS) <= width
    page.evaluate("document.querySelector('.matrix-scroll').scrollBy(500, 0)")
    frame = page.locator(".matrix-scroll").bounding_box()
    name = page.locator(".field-row > :first-child").first.bounding_box()
    assert name["x"] == pytest.approx(frame["x"], abs=1)
    head, cell = (
        page.locator(f"{row} > :nth-child({count + 1})").first.bounding_box() for row in (".field-head", ".field-row")
    )
    assert head["x"] == pytest.approx(cell["x"], abs=1)


LINES = """
nodes => nodes.map((node) => {
  const range = document.createRange();
  range.selectNodeContents(node);
  return new Set([...range.getClientRects()].filter((box) => box.width > 1).map((box) => Math.round(box.bottom / 8))).size;
})
"""


def test_kinds_of_errors_have_room_for_their_words(opened: Opener, reports: dict[str, Path]) -> None:
    page = opened(reports["many"], width=800)
    kinds = page.locator(".columns table.rows th[scope=row]")
    assert kinds.count() > 3
    assert max(kinds.evaluate_all(LINES)) <= 2


def test_the_name_of_a_document_has_room_beside_the_tools(opened: Opener, tmp_path: Path) -> None:
    runs = [many(1_000, 14), many(1_000, 14)]
    compare(runs, ["old", "new"], resampling=FEW).report(tmp_path / "both.html")
    page = opened(tmp_path / "both.html", "#view=pages&sort=document&doc=document-00099.pdf&page=9")
    assert "1,000 of 1,000" in page.locator(".bar-top").inner_text()
    assert page.locator(".bar-top h1 .doc").evaluate("node => node.clientHeight") < 28  # on one line


LONG = "2023-11-annual-report-of-the-ministry-of-transport-and-public-works-part-two-of-three-final.pdf"
WHOLE = "node => node.scrollWidth <= node.clientWidth + 1 && node.scrollHeight <= node.clientHeight + 1"


@pytest.mark.parametrize("task", ["detection", "words", "fields", "tables"])
def test_the_whole_name_of_a_document_is_read_where_it_is_shown(opened: Opener, tmp_path: Path, task: str) -> None:
    """Lists cut a long name, and a tooltip must not hold its only copy."""
    boxes = Corpus.from_arrays([[0, 0, 9, 9]], ["Table"], documents=[LONG])
    table = "<table><tr><td>a</td></tr></table>"
    sides: dict[str, tuple[Any, Any, str]] = {
        "detection": (Detection(allow_missing_scores=True), boxes, "pages"),
        "words": (Words(), {LONG: "one two"}, "words"),
        "fields": (Fields(), [{"id": LONG, "total": 1}], "fields"),
        "tables": (Tables(), {LONG: table}, "checks"),
    }
    made, side, view = sides[task]
    Evaluator(made).update(side, side).compute().report(tmp_path / "long.html")
    for width in (390, 800, 1440):
        page = opened(tmp_path / "long.html", f"#view={view}", width=width)
        name = page.locator("h1 .doc, h2.doc").first
        assert name.inner_text().removesuffix("#0") == LONG
        assert name.evaluate(WHOLE), width
        assert page.evaluate(SIDEWAYS) <= width
