"""Comparisons as a stranger reads them: which run is which, what is better, what became of each object; whatever names say."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import Corpus, Detection, Evaluator, Words
from calque.statistics.comparison import compare
from tests.report.apart import APART, both
from tests.report.made import FEW, MADE, Reports
from tests.report.test_comparison import LONG_NAMES

Opener = Callable[..., Any]
CUT = "nodes => nodes.filter((node) => node.scrollWidth > node.clientWidth + 1).map((node) => node.textContent.slice(0, 60))"


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Reports of two runs on hostile names that differ."""
    folder = tmp_path_factory.mktemp("apart")

    def made(task: str) -> Path:
        if not (folder / f"{task}.html").exists():
            both(task).report(folder / f"{task}.html")
        return folder / f"{task}.html"

    return made


TURNING = """
() => [...document.querySelectorAll(
  "h1[data-headline], .over-line, .findings span, .issues li, .warning, .reasoning, .lines li")]
  .filter((node) => /[\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]/.test(node.textContent))
  .map((node) => node.className)
"""


@pytest.mark.parametrize("task", APART)
def test_no_name_turns_what_is_said_of_it(opened: Opener, apart: Callable[[str], Path], task: str) -> None:
    """A mark that turns the direction of writing is spelt in sentences and messages, as it is in the terminal."""
    page = opened(apart(task))
    assert "a\\u202eb" in page.locator("h1").inner_text()
    for address in ("compare", "summary", "summary&run=1", "checks" if task == "checks" else "summary"):
        page.goto(f"{page.url.partition('#')[0]}#view={address}")
        if address == "checks":
            page.locator("[role=option]", has_text="a").filter(has_text="b").first.click()
            assert "\\u202e" in page.locator(".reasoning").inner_text()
        assert page.evaluate(TURNING) == [], address


CHOSEN = """
() => [...document.querySelectorAll(".became, .chosen-object > p, .chosen-object h2")]
  .flatMap((node) => [...node.childNodes, ...node.querySelectorAll(".note")].filter((part) => part.nodeName !== "BDI"))
  .filter((part) => /[\\u202a-\\u202e]/.test(part.textContent)).map((part) => part.textContent)
"""


@pytest.mark.parametrize("task", ["detection", "layout", "fields", "order", "ceiling"])
def test_no_name_turns_what_is_said_of_the_chosen(opened: Opener, apart: Callable[[str], Path], task: str) -> None:
    page = opened(apart(task))
    for _ in range(12):
        page.keyboard.press("n")
        assert page.locator(".became").count() == 1
        assert page.locator(".chosen-object h2 > bdi").count() == 1
        assert page.evaluate(CHOSEN) == []


def test_words_around_a_word_keep_their_places(opened: Opener, apart: Callable[[str], Path]) -> None:
    page = opened(apart("words"), "#view=changes")
    around = page.locator(".context").first
    assert around.locator("bdi").count() > 2
    assert around.locator("bdi").first.evaluate("node => getComputedStyle(node).unicodeBidi") == "isolate"


@pytest.mark.parametrize("task", APART)
def test_a_card_says_what_became_of_it_however_long_names_are(opened: Opener, apart: Callable[[str], Path], task: str) -> None:
    for width in (800, 1440):
        page = opened(apart(task), width=width)
        for view in ("compare", "changes"):
            page.goto(f"{page.url.partition('#')[0]}#view={view}")
            cards = page.locator("a.card.change")
            assert cards.count() > 1
            for place in range(min(6, cards.count())):
                edge, said = cards.nth(place).bounding_box(), cards.nth(place).locator(".line .note")
                assert said.inner_text() in ("broken", "fixed", "new false alarm", "false alarm gone")
                box = said.bounding_box()
                assert box["x"] + box["width"] <= edge["x"] + edge["width"], view
                assert box["y"] + box["height"] <= edge["y"] + edge["height"], view
                lowest = cards.nth(place).locator("> :last-child").bounding_box()
                assert lowest["y"] + lowest["height"] <= edge["y"] + edge["height"], view


@pytest.mark.parametrize("task", ["detection", "layout", "order", "ceiling", "checks", "tables"])
def test_what_became_of_it_is_not_cut_on_a_narrow_screen(opened: Opener, reports: Reports, task: str) -> None:
    page = opened(reports[f"{task}-both"], width=800)
    assert page.locator(".from-to").count() or task == "layout"
    assert page.eval_on_selector_all(".from-to, .from-to *", CUT) == []


def test_a_word_that_changed_is_seen_among_those_around_it(opened: Opener, tmp_path: Path) -> None:
    truth = " ".join(f"something{place:02}" for place in range(40))
    runs = [Evaluator(Words()).update({"a": truth}, {"a": found}).compute() for found in (truth, truth.replace("3", "x"))]
    compare(runs, ["old", "new"], resampling=FEW).report(tmp_path / "words.html")
    for width in (390, 800, 1440):
        page = opened(tmp_path / "words.html", "#view=changes", width=width)
        for place in range(6):
            line, word = (page.locator(name).nth(place).bounding_box() for name in (".context", ".context mark"))
            assert word["x"] + word["width"] <= line["x"] + line["width"], (width, place)


def test_what_is_out_of_order_is_drawn_so(opened: Opener, apart: Callable[[str], Path]) -> None:
    """Also where its own step is right: what comes before it should come behind."""
    page = opened(apart("order"), "#view=changes")
    for change, looks in {"broken": ["tp", "wrong"], "fixed": ["wrong", "tp"]}.items():
        cards = page.locator(f".card.k-{change}")
        for place in range(min(4, cards.count())):
            drawn = cards.nth(place).locator("path.own").evaluate_all("nodes => nodes.map(node => node.className.baseVal)")
            assert [f"o-{look} " in classes for look, classes in zip(looks, drawn, strict=True)] == [True, True]


def test_a_block_without_a_label_is_called_by_its_name(opened: Opener, reports: Reports) -> None:
    page = opened(reports["order-both"], "#view=changes")
    cards = page.locator(".card", has_text="names.pdf")
    assert sorted(cards.locator(".line b").all_inner_texts()) == ["y", "z"]
    assert all(page.locator(".card .line b").all_inner_texts())


def test_marks_say_what_is_better(opened: Opener, reports: Reports, tmp_path: Path) -> None:
    """Of what should be low, less is better; what is not seen in three decimals is neither."""
    mark = '[data-measure="{}"][data-run=delta] + span'
    page = opened(reports["words-both"])
    assert reports.of("words-both").delta("wer").value < 0
    assert page.locator(mark.format("wer")).inner_text() == "▲"
    assert "▲ better, ▼ worse" in page.locator("section[aria-labelledby=measures]").inner_text()
    truth = " ".join(f"w{place}" for place in range(3000))
    runs = [Evaluator(Words()).update({"a": truth}, {"a": found}).compute() for found in (truth, truth[: -len(" w2999")])]
    compare(runs, ["old", "new"], resampling=FEW).report(tmp_path / "alike.html")
    page = opened(tmp_path / "alike.html")
    delta = page.locator('[data-measure="recall"][data-run=delta]')
    assert float(delta.get_attribute("data-value")) < 0
    assert delta.inner_text() == "0.000"
    assert page.locator(mark.format("recall")).inner_text() == "≈"


COLOURED = """
nodes => nodes.filter((node) => getComputedStyle(node).color !== getComputedStyle(document.body).color)
  .filter((node) => !/[▲▼]/.test(node.parentElement.textContent)).map((node) => node.textContent)
"""


@pytest.mark.parametrize("task", ["detection", "layout", "fields", "checks"])
def test_better_and_worse_are_not_told_by_colour_alone(opened: Opener, reports: Reports, task: str) -> None:
    page = opened(reports[f"{task}-both"])
    assert page.locator(".both-runs .number").count() > 5
    assert page.eval_on_selector_all(".both-runs .number", COLOURED) == []


def test_runs_whose_names_begin_alike_are_told_apart(opened: Opener, tmp_path: Path) -> None:
    runs = [MADE["layout"](), MADE["layout"](better=True), MADE["layout"](better=True)]
    compare(runs, [f"a-model-{name}" for name in LONG_NAMES], resampling=FEW).report(tmp_path / "three.html")
    for width in (800, 1440):
        page = opened(tmp_path / "three.html", "#view=compare&run=2", width=width)
        assert [text[:2] for text in page.locator(".compared thead th[title]").all_inner_texts()] == ["A ", "C "]
        assert [text[:2] for text in page.locator(".both-runs tbody th.note").all_inner_texts()[:2]] == ["A ", "C "]
        links = page.locator(".section-head .more")
        for place in range(links.count()):
            head = links.nth(place).locator("xpath=..").locator("h2")
            assert abs(links.nth(place).bounding_box()["y"] - head.bounding_box()["y"]) < 12  # on the line of its heading


def test_a_phone_shows_what_is_better(opened: Opener, tmp_path: Path) -> None:
    runs = [MADE["detection"](), MADE["detection"](better=True)]
    compare(runs, LONG_NAMES[:2], resampling=FEW).report(tmp_path / "both.html")
    page = opened(tmp_path / "both.html", width=390, height=844)
    marks = page.locator(".compared [data-run=delta] + span")
    assert marks.count() > 5
    for place in range(marks.count()):
        box = marks.nth(place).bounding_box()
        assert box["x"] + box["width"] <= 390 - 16, place


def test_what_no_document_can_tell_has_no_column(opened: Opener, tmp_path: Path) -> None:
    boxes = [[0, 0, 90, 90], [100, 100, 190, 190]]
    truth = Corpus.from_arrays(boxes, ["Table", "Figure"], documents=["only"] * 2)
    found = [Corpus.from_arrays(boxes[:n], ["Table", "Figure"][:n], documents=["only"] * n, scores=[0.5] * n) for n in (1, 2)]
    runs = [Evaluator(Detection()).update(truth, each).compute() for each in found]
    compare(runs, ["old", "new"], resampling=FEW).report(tmp_path / "one.html")
    page = opened(tmp_path / "one.html")
    heads = page.locator(".compared thead th").all_inner_texts()
    assert heads == ["measure", "A old", "B new", "0 to 1", "difference"]
    said = page.locator("section[aria-labelledby=measures]").inner_text()
    assert "too few documents for intervals and tests" in said
    assert "*" not in said


def test_a_number_without_an_interval_says_why(opened: Opener, tmp_path: Path) -> None:
    """One class is in one document alone, and no other document tells how much its numbers move."""
    documents, names = [f"d{place}" for place in range(8)], ["Table"] * 7 + ["Rare"]
    truth = Corpus.from_arrays([[0, 0, 90, 90]] * 8, names, documents=documents)
    runs = []
    for kept in (slice(0, 6), slice(1, 8)):
        count = len(documents[kept])
        found = Corpus.from_arrays([[0, 0, 90, 90]] * count, names[kept], documents=documents[kept], scores=[0.5] * count)
        runs.append(Evaluator(Detection()).update(truth, found).compute())
    compare(runs, ["old", "new"], resampling=FEW).report(tmp_path / "rare.html")
    page = opened(tmp_path / "rare.html")
    page.get_by_role("button", name=re.compile("all [0-9]+ measures")).click()
    told = page.eval_on_selector_all(
        ".compared tbody :is(td:last-child, .note)",
        "nodes => nodes.filter(node => node.textContent === '–').map(node => node.title)",
    )
    assert len(told) > 2
    assert set(told) == {"too few documents have it"}


def drawn(page: Any, run: int, document: str) -> list[list[float]]:
    """Where the truths of a page are drawn in a run."""
    page.goto(f"{page.url.partition('#')[0]}#view=pages&doc={document}&page=0{'&run=1' if run else ''}")
    page.wait_for_selector(f"[data-viewer][data-document={document}]")
    shapes = page.locator("[data-viewer] rect[data-side=truth]")
    return [
        [float(shapes.nth(at).get_attribute(name)) for name in ("x", "y", "width", "height")] for at in range(shapes.count())
    ]


def test_a_truth_stands_where_it_stands_in_every_run(opened: Opener, tmp_path: Path) -> None:
    """On pages whose size nobody knows too, though one run's boxes reach further than the other's."""
    truth = Corpus.from_arrays([[10, 10, 60, 60]], ["Table"], documents=["a"])
    sides = [
        Corpus.from_arrays([[10, 10, 60, 60], [300, 300, far, far]], ["Table", "Table"], documents=["a"] * 2, scores=[0.5, 0.4])
        for far in (400, 900)
    ]
    runs = [Evaluator(Detection()).update(truth, side).compute() for side in sides]
    compare(runs, ["old", "new"], resampling=FEW).report(tmp_path / "sizes.html")
    page = opened(tmp_path / "sizes.html")
    first, second = (drawn(page, run, "a") for run in (0, 1))
    assert len(first) == 1
    assert first == second


SPACING = """
nodes => nodes.map((crop) => {
  const name = /#([a-z-]+)/.exec(getComputedStyle(crop.querySelector(".own")).fill)[1], pattern = document.getElementById(name);
  const base = document.querySelector(pattern.getAttribute("href") ?? `#${name}`);
  const scale = Number(/scale\\(([\\d.]+)/.exec(pattern.getAttribute("patternTransform"))?.[1] ?? 1);
  return Number(base.getAttribute("width")) * scale * crop.getBoundingClientRect().width / crop.viewBox.baseVal.width;
})
"""


def test_the_hatching_of_a_miss_is_seen_however_large_it_is(opened: Opener, tmp_path: Path) -> None:
    sizes = (20, 60, 150, 300, 500, 700, 900)
    boxes = [[10, 10, 10 + size, 10 + size] for size in sizes]
    documents = [f"d{size}" for size in sizes]
    pages = [[0, 0, 1000, 1400]] * len(sizes)
    truth = Corpus.from_arrays([*boxes, *pages], ["Table"] * 14, documents=documents * 2)
    found = Corpus.from_arrays(pages, ["Table"] * 7, documents=documents, scores=[0.5] * 7)
    Evaluator(Detection()).update(truth, found).compute().report(tmp_path / "sizes.html")
    for width in (800, 1440):
        page = opened(tmp_path / "sizes.html", "#view=objects&outcome=fn", width=width)
        spaces = page.eval_on_selector_all(".card svg.crop", SPACING)
        assert len(spaces) == len(sizes)
        assert min(spaces) > 3
        assert max(spaces) < 40
