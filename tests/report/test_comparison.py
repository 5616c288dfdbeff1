"""The report of a comparison: numbers of both runs, what changed, and the way to each object that did."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import Detection, Evaluator, Fields, Words
from calque.sample import sample
from calque.statistics.bootstrap import Resampling
from calque.statistics.comparison import Comparison, compare
from tests.report.made import ALL, BOTH, MADE, Reports
from tests.report.test_looks import PRINTED

Opener = Callable[..., Any]
FEW = Resampling(replicates=100)


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    files = sample()
    results = [Evaluator(Detection()).update(files["truth"], files[model]).compute() for model in ("finder", "cropper")]
    return compare(results, ["finder", "cropper"], resampling=FEW)


@pytest.fixture(scope="module")
def report(comparison: Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("compare") / "report.html"
    comparison.report(path)
    return path


def test_numbers_are_those_of_each_run(opened: Opener, report: Path, comparison: Comparison) -> None:
    page = opened(report)
    assert page.locator("main").get_attribute("data-view") == "compare"
    shown = page.eval_on_selector_all(
        "[data-measure]", "nodes => nodes.map(node => [node.dataset.measure, node.dataset.run, node.dataset.value])"
    )
    assert {run for _, run, _ in shown} == {"finder", "cropper", "delta"}
    for name, run, value in shown:
        known = comparison.delta(name).value if run == "delta" else comparison.results[run][name]
        assert (None if value == "null" else float(value)) == known, (name, run)
    text = (
        "Against finder, cropper finds 4 more and loses 20: recall falls from 94 % to 71 %, "
        "but its crops hold 99 % instead of 78 %."
    )
    assert page.locator("h1[data-headline]").inner_text().replace("\n", " ") == text
    views = page.eval_on_selector_all("[data-view-link]", "nodes => nodes.map(node => node.dataset.viewLink)")
    assert views == ["compare", "changes", "pages", "summary"]


@pytest.mark.parametrize(("change", "count"), [("broken", 20), ("fixed", 4), ("new", 0), ("gone", 4)])
def test_each_change_leads_to_its_objects(opened: Opener, report: Path, change: str, count: int) -> None:
    page = opened(report)
    tile = page.locator(f"[data-change={change}]")
    assert int(tile.get_attribute("data-value")) == count
    tile.click()
    page.wait_for_selector("main[data-view=changes]")
    assert int(page.locator("[data-count=changes]").get_attribute("data-value")) == count
    if count:
        page.locator("[data-object]").first.click()
        page.wait_for_selector("main[data-view=pages]")
        assert page.locator("[data-detail]").count() == 1


def test_x_flips_the_runs_and_n_goes_through_changes(opened: Opener, report: Path) -> None:
    page = opened(report)
    page.keyboard.press("n")
    page.wait_for_selector("main[data-view=pages]")
    first = page.locator("[data-detail]").get_attribute("data-detail")
    outcome = page.locator(f'[data-viewer] [data-object="{first}"]').get_attribute("data-outcome")
    assert outcome == "fn"  # broken: the second run misses it
    assert "run=1" in page.evaluate("location.href")
    keys = {
        page.locator("[data-viewer] [data-side=prediction]").nth(place).get_attribute("data-object")
        for place in range(page.locator("[data-viewer] [data-side=prediction]").count())
    }
    assert all(key is not None and key.endswith("@1") for key in keys)
    page.keyboard.press("x")
    assert "run=1" not in page.evaluate("location.href")
    assert page.locator(f'[data-viewer] [data-object="{first}"]').get_attribute("data-outcome") == "tp"
    page.keyboard.press("n")
    assert page.locator("[data-detail]").get_attribute("data-detail") != first


def test_runs_that_know_other_pages_and_classes(opened: Opener, tmp_path: Path) -> None:
    from calque import Corpus

    truth = Corpus.from_arrays([[0, 0, 10, 10], [0, 0, 10, 10]], ["Table", "Figure"], documents=["b", "c"])
    one = Corpus.from_arrays([[0, 0, 10, 10]], ["Table"], documents=["b"], scores=[0.9])
    two = Corpus.from_arrays(
        [[0, 0, 10, 9], [5, 5, 9, 9], [0, 0, 10, 10]],
        ["Table", "Ad", "Figure"],
        documents=["b", "a", "c"],
        pages=[0, 3, 0],
        scores=[0.9, 0.8, 0.7],
    )
    results = [Evaluator(Detection()).update(truth, found).compute() for found in (one, two)]
    compare(results, ["one", "two"], resampling=FEW).report(tmp_path / "odd.html")
    page = opened(tmp_path / "odd.html")
    found = {
        name: int(page.locator(f"[data-change={name}]").get_attribute("data-value"))
        for name in ("fixed", "broken", "new", "gone")
    }
    assert found == {"fixed": 1, "broken": 0, "new": 1, "gone": 0}
    page.locator("[data-change=new]").click()
    card = page.locator("[data-object]")
    assert (card.get_attribute("data-object"), card.get_attribute("data-label")) == ("p0@1", "Ad")
    card.click()
    viewer = page.locator("[data-viewer]")
    assert (viewer.get_attribute("data-document"), viewer.get_attribute("data-page")) == ("a", "3")


def test_fields_and_words_are_compared_too(opened: Opener, tmp_path: Path) -> None:
    records = [{"id": f"inv-{row}", "vendor": "Acme", "total": row} for row in range(3)]
    other = [{"id": f"inv-{row}", "vendor": "Globex", "total": row} for row in range(3)]
    task = Fields(schema={"fields": {"vendor": {"type": "str", "threshold": 0.8}, "total": {"type": "float"}}})
    fields = [Evaluator(task).update(records, found).compute() for found in (other, records)]
    compare(fields, ["old", "new"], resampling=FEW).report(tmp_path / "fields.html")
    page = opened(tmp_path / "fields.html")
    assert page.locator("[data-change=fixed]").get_attribute("data-value") == "3"
    page.keyboard.press("n")
    page.wait_for_selector("main[data-view=fields]")
    assert page.locator("[data-value-side=prediction]").inner_text() == "Acme"
    truth = {"a": "one two three"}
    words = [Evaluator(Words()).update(truth, found).compute() for found in ({"a": "one two"}, {"a": "one three extra"})]
    compare(words, ["old", "new"], resampling=FEW).report(tmp_path / "words.html")
    page = opened(tmp_path / "words.html")
    assert [page.locator(f"[data-change={name}]").get_attribute("data-value") for name in ("fixed", "broken", "new")] == [
        "1",
        "1",
        "1",
    ]


@pytest.mark.parametrize("name", [name for name in ALL if name.values[0] in BOTH])
def test_a_change_says_what_became_of_it_where_it_leads(opened: Opener, reports: Reports, name: str) -> None:
    """Also where the shown run has it right; what is broken is shown where it is broken."""
    page = opened(reports[name], "#view=changes")
    cards = page.eval_on_selector_all(".card.change", "nodes => nodes.map(node => [node.getAttribute('href'), node.className])")
    assert cards
    for address, look in cards[:12]:
        page.goto(page.url.partition("#")[0] + address)
        became = page.locator("[data-became]")
        assert became.count() == 1, address
        kind = became.get_attribute("data-became")
        assert f"k-{kind}" in look
        shown = page.locator("[data-filter=run][aria-pressed=true]").get_attribute("data-value")
        assert shown == ("0" if kind == "gone" else "1"), address
        assert "old" in became.inner_text() or "new" in became.inner_text()


LONG_NAMES = [
    f"a-{kind}-with-a-long-name-that-says-how-it-was-trained-{at}" for at, kind in enumerate(("detector", "reader", "pair"))
]


def test_names_without_a_gap_are_whole_on_a_phone(opened: Opener, tmp_path: Path) -> None:
    names = ["a" * 100, "b" * 100]
    compare([MADE["detection"](), MADE["detection"](better=True)], names, resampling=FEW).report(tmp_path / "two.html")
    line = opened(tmp_path / "two.html", width=390).locator(".over-line")
    assert all(name in line.inner_text() for name in names)
    assert line.evaluate("node => node.scrollWidth <= node.clientWidth")


def test_three_runs_with_long_names_keep_apart(opened: Opener, tmp_path: Path) -> None:
    runs = [MADE["detection"](), MADE["detection"](better=True), MADE["detection"](better=True)]
    compare(runs, LONG_NAMES, resampling=FEW).report(tmp_path / "three.html")
    for width in (800, 1440):
        page = opened(tmp_path / "three.html", "#view=pages&run=2", width=width)
        told = page.locator("[data-filter=run]").all_inner_texts()
        assert [text[0] for text in told] == ["A", "B", "C"]
        assert told[2].startswith("C a-pair-")
        seen = "nodes => nodes.every(node => node.scrollWidth <= node.clientWidth + 1)"
        assert page.eval_on_selector_all("[data-filter=run][aria-pressed=false]", seen)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.goto(page.url.replace("pages", "compare"))
        assert "right in A, not in C" in page.locator("[data-change=broken]").inner_text()
        line = page.locator(".over-line")  # the one place where names are whole
        assert line.inner_text().endswith(
            ", ".join(f"{letter} is {name}" for letter, name in zip("ABC", LONG_NAMES, strict=True))
        )
        assert line.evaluate("node => node.scrollWidth <= node.clientWidth")
        page.emulate_media(media="print")
        assert page.evaluate(PRINTED) == []  # paper has nothing to choose
        page.emulate_media(media="screen")
        assert page.locator(".dumbbell").first.is_visible()
        page.goto(page.url.replace("compare", "changes"))
        page.locator("[data-filter=change][data-value=gone]").click()
        page.locator(".card").first.click()
        assert page.locator("[data-filter=run][aria-pressed=true]").get_attribute("data-value") == "0"
        assert "a-pair" not in page.locator("[data-became]").inner_text()  # what is gone is in the first alone
        page.goto(f"{page.url.partition('#')[0]}#view=changes&run=2")
        page.locator(".card.k-broken").first.click()
        for _ in range(2):
            told = page.locator("[data-became]").inner_text()
            assert "a-pair" in told  # the compared one, also while the first is shown
            assert "a-reader" not in told
            page.keyboard.press("x")
