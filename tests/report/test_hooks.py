"""What other tools find a report by: the same names, keys and addresses in every task, and in comparisons of every task."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import Evaluator
from calque.statistics.comparison import compare
from tests.report.made import ALL, BOTH, FEW, VIEWS, Reports

Opener = Callable[..., Any]
OWN = {name: views[2] if name in BOTH else views[1] for name, views in VIEWS.items()}
KEYS = ("j", "n", "t", "p", "i", "x", "+", "-", "0", "c", "k", "N", "Escape", "Escape", "Escape")


@pytest.mark.parametrize("name", ALL)
def test_views_are_named_and_numbers_open_them(opened: Opener, reports: Reports, name: str) -> None:
    page = opened(reports[name])
    links = page.eval_on_selector_all("nav[aria-label] a[data-view-link]", "nodes => nodes.map(node => node.dataset.viewLink)")
    assert links == VIEWS[name]
    assert page.locator("h1[data-headline] [data-measure]").count() >= 1
    assert page.locator("[data-signature]").count() == 1
    assert "#" not in page.evaluate("location.href")
    for place, view in enumerate(links, start=1):
        page.keyboard.press(str(place))
        page.wait_for_selector(f"main[data-view={view}]")
        assert page.locator("nav a[aria-current=page]").get_attribute("data-view-link") == view
        assert page.locator("h1").count() == 1
    for view in reversed(links[:-1]):
        page.go_back()
        page.wait_for_selector(f"main[data-view={view}]")


@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
def test_no_key_breaks_any_view(opened: Opener, reports: Reports, name: str) -> None:
    page = opened(reports[name])
    for view in VIEWS[name]:
        page.goto(f"{reports[name].resolve().as_uri()}#view={view}")
        page.wait_for_selector(f"main[data-view={view}]")
        for key in KEYS:
            page.keyboard.press(key)
            assert page.locator("h1").count() == 1, (view, key)
            assert page.evaluate("document.querySelectorAll('*').length") <= 5_000
        page.keyboard.press("/")
        page.wait_for_selector("input[type=search]:focus")
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        assert page.locator("dialog[open]").count() == 1
        page.keyboard.press("Escape")


@pytest.mark.parametrize("name", ALL)
def test_steps_open_the_list_from_any_view(opened: Opener, reports: Reports, name: str) -> None:
    own = OWN[name]
    for key in ("j", "n"):
        page = opened(reports[name])
        page.keyboard.press(key)
        if name in BOTH and key == "n" and not changed(page):
            continue
        page.wait_for_selector(f"main[data-view={own}]")
        viewer = page.locator("[data-viewer]")
        assert viewer.count() == 1
        assert viewer.get_attribute("data-document")
        assert "sort=" not in page.evaluate("location.href")
        assert "truth=" not in page.evaluate("location.href")


def changed(page: Any) -> int:
    values = page.eval_on_selector_all("[data-change]", "nodes => nodes.map(node => Number(node.dataset.value))")
    return int(sum(values))


@pytest.mark.parametrize("name", BOTH)
def test_changes_are_counted_and_lead_to_their_place(opened: Opener, reports: Reports, name: str) -> None:
    page = opened(reports[name])
    tiles = page.eval_on_selector_all(
        "[data-change]", "nodes => nodes.map(node => [node.dataset.change, Number(node.dataset.value)])"
    )
    assert {kind for kind, _ in tiles} == {"fixed", "broken", "new", "gone"}
    for kind, value in tiles:
        page.goto(f"{reports[name].resolve().as_uri()}#view=changes&change={kind}")
        page.wait_for_selector("main[data-view=changes]")
        assert int(page.locator("[data-count=changes]").get_attribute("data-value")) == value
        cards = page.locator("main [data-object]")
        assert (cards.count() > 0) == (value > 0)
        if value:
            label = cards.first.get_attribute("data-label")
            cards.first.click()
            page.wait_for_selector(f"main[data-view={OWN[name]}]")
            assert page.locator("[data-viewer]").count() == 1
            assert label is not None


def test_predicted_words_of_the_second_run_carry_its_number(opened: Opener, tmp_path: Path) -> None:
    from calque import Words

    truth = {"a": "one two three"}
    runs = [Evaluator(Words()).update(truth, {"a": text}).compute() for text in ("one two", "one three extra")]
    compare(runs, ["old", "new"], resampling=FEW).report(tmp_path / "words.html")
    page = opened(tmp_path / "words.html", "#view=words&run=1")
    keys = page.eval_on_selector_all("[data-word]", "nodes => nodes.map(node => [node.dataset.word, node.dataset.object])")
    assert keys == [["fn", "t1"], ["fp", "p2@1"]]
    page.goto(f"{(tmp_path / 'words.html').resolve().as_uri()}#view=words&run=1&object=p2@1")
    page.wait_for_selector("[data-detail='p2@1']")
    page.keyboard.press("x")
    assert page.locator("[data-detail]").count() == 0  # it is no word of the first run
    assert page.locator("[data-viewer]").get_attribute("data-document") == "a"


def test_the_other_run_shows_the_same_value(opened: Opener, tmp_path: Path) -> None:
    from calque import Fields

    truth = [{"id": f"inv-{row}", "vendor": "Acme", "total": row} for row in range(3)]
    # The first run makes a value up, so that rows of the two runs have other numbers.
    first = [{**record, "vendor": "Globex", "note": "made up"} for record in truth]
    task = Fields(schema={"fields": {"note": {"type": "str"}, "vendor": {"type": "str"}, "total": {"type": "float"}}})
    runs = [Evaluator(task).update(truth, found).compute() for found in (first, truth)]
    compare(runs, ["old", "new"], resampling=FEW).report(tmp_path / "fields.html")
    page = opened(tmp_path / "fields.html", "#view=fields")
    page.locator('[data-cell][data-document="inv-1"][data-field="vendor"]').click()
    found = page.locator("[data-value-side=prediction]")
    assert found.inner_text() == "Globex"
    page.keyboard.press("x")
    viewer = page.locator("[data-viewer]")
    assert (viewer.get_attribute("data-document"), viewer.get_attribute("data-field")) == ("inv-1", "vendor")
    assert found.inner_text() == "Acme"
    assert page.locator("[data-detail]").get_attribute("data-detail").endswith("@1")


@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
def test_an_address_from_elsewhere_is_no_error(opened: Opener, reports: Reports, name: str) -> None:
    for address in ("object=t99999", "object=p3@7", "object=nonsense", "doc=nowhere&page=7", "iou=9", "zoom=x", "run=5"):
        page = opened(reports[name], f"#view={OWN[name]}&{address}")
        assert page.locator("[data-viewer]").count() == 1, address
