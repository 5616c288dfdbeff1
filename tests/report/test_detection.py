"""The report of detection in a real browser: numbers are the JSON's, every object is there, and keys and links lead to it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import Detection, Evaluator, Result
from calque.kernels.structs import Kind
from calque.report.page import asset
from calque.sample import sample

Opener = Callable[..., Any]


@pytest.fixture(scope="module")
def result() -> Result:
    files = sample()
    return Evaluator(Detection()).update(files["truth"], files["finder"]).compute()


@pytest.fixture(scope="module")
def report(result: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    result.report(path)
    return path


def shown(page: Any) -> list[tuple[str, str, str]]:
    """Each measure on the page: its name, its exact value and its text."""
    found: list[tuple[str, str, str]] = page.eval_on_selector_all(
        "[data-measure]", "nodes => nodes.map(node => [node.dataset.measure, node.dataset.value, node.textContent])"
    )
    return found


def value(text: str) -> float | None:
    return None if text == "null" else float(text)


@pytest.mark.parametrize("address", ["", "#iou=0.75"])
def test_every_number_is_the_results(opened: Opener, report: Path, result: Result, address: str) -> None:
    numbers = shown(opened(report, address))
    assert numbers
    for name, exact, text in numbers:
        assert value(exact) == result[name], name
        if result[name] is not None and "%" not in text and not text.startswith("+"):
            known = result[name]
            assert text == (f"{known:.3f}" if isinstance(known, float) else f"{known:,}"), name


def test_the_first_view_has_the_numbers_of_the_contract(opened: Opener, report: Path) -> None:
    page = opened(report)
    names = {name for name, _, _ in shown(page)}
    overall = {f"{name}@0.5" for name in ("recall", "precision", "f1", "mean_coverage", "tp", "fp", "fn")} | {"AP"}
    classes = {f"{name}@0.5/{label}" for name in ("recall", "precision", "f1") for label in ("Figure", "Table")}
    assert names >= overall | classes
    assert page.locator("h1").count() == page.locator("h1[data-headline]").count() == 1
    assert page.locator("h1 [data-measure]").count() == 2
    assert page.locator("h1").inner_text() == "Finds 94 % of figures and tables, but its crops hold only 78 % of each."
    assert page.locator("[data-signature]").inner_text() == (
        "calque 0.1.0 | detection | match:greedy | iou:0.5,0.75 | missing:penalize | maxdets:1,10,100"
    )


def test_every_page_shows_every_outcome_row(opened: Opener, report: Path, result: Result) -> None:
    page = opened(report, "#view=pages&sort=document")
    rows = list(result.outcomes().rows())
    of_page: dict[tuple[str, int], list[tuple[str, str, str, str]]] = {}
    for row in rows:
        of_page.setdefault((row["document"], row["page"]), []).append((row["side"], row["outcome"], row["kind"], row["label"]))
    seen = 0
    for _ in range(60):
        viewer = page.locator("[data-viewer]")
        place = viewer.get_attribute("data-document"), int(viewer.get_attribute("data-page"))
        drawn = page.eval_on_selector_all(
            "[data-viewer] [data-object]",
            "nodes => nodes.map(node => [node.dataset.side, node.dataset.outcome, node.dataset.kind, node.dataset.label])",
        )
        assert sorted(map(tuple, drawn)) == sorted(of_page.get(place, []))
        seen += len(drawn)
        page.keyboard.press("j")
    assert seen == len(rows)


@pytest.mark.parametrize("name", ["tp@0.5", "fp@0.5", "fn@0.5", "tp@0.5/Figure", "fp@0.5/Figure", "fn@0.5/Table"])
def test_a_count_leads_to_exactly_its_objects(opened: Opener, report: Path, result: Result, name: str) -> None:
    page = opened(report)
    page.locator(f'a[data-measure="{name}"]').first.click()
    page.wait_for_selector("main[data-view=objects]")
    assert int(page.locator("[data-count=objects]").get_attribute("data-value")) == result[name]
    drawn = page.eval_on_selector_all("[data-object]", "nodes => nodes.map(node => node.dataset.outcome)")
    assert set(drawn) == {name[:2]}
    page.go_back()
    page.wait_for_selector("main[data-view=summary]")


def test_every_finding_leads_to_objects(opened: Opener, report: Path) -> None:
    page = opened(report)
    found = []
    for place in range(page.locator(".findings a").count()):
        page.locator(".findings a").nth(place).click()
        page.wait_for_selector("main[data-view=objects]")
        found.append(int(page.locator("[data-count=objects]").get_attribute("data-value")))
        page.go_back()
        page.wait_for_selector("main[data-view=summary]")
    # 72 % of 64 crops lose the top; four false alarms have scores below the best threshold; 45 + 3 + 4 figures.
    assert found == [4, 4, 46, 4, 52]


def test_keys_lead_through_pages_and_errors(opened: Opener, report: Path) -> None:
    page = opened(report)
    page.keyboard.press("j")
    page.wait_for_selector("main[data-view=pages]")
    first = page.locator("[data-viewer]").get_attribute("data-document")
    keys = []
    for _ in range(9):
        page.keyboard.press("n")
        keys.append(page.locator("[data-detail]").get_attribute("data-detail"))
    assert len(set(keys[:8])) == 8  # four misses, four false alarms
    assert keys[8] == keys[7]  # there are no more
    for _ in range(7):
        page.keyboard.press("N")
    assert page.locator("[data-detail]").get_attribute("data-detail") == keys[0]
    assert page.locator("[data-viewer]").get_attribute("data-document") == first
    page.keyboard.press("Escape")
    assert page.locator("[data-detail]").count() == 0


def test_toggles_zoom_and_views_are_in_the_address(opened: Opener, report: Path) -> None:
    page = opened(report, "#view=pages")
    for key, name in (("t", "truth"), ("p", "prediction"), ("i", "image")):
        button = page.locator(f"button[data-toggle={name}]")
        assert button.get_attribute("aria-pressed") == "true"
        page.keyboard.press(key)
        assert button.get_attribute("aria-pressed") == "false"
        assert f"{name}=0" in page.evaluate("location.href")
    assert page.locator("[data-viewer] [data-object]").count() == 0
    page.keyboard.press("+")
    assert "zoom=150" in page.evaluate("location.href")
    page.keyboard.press("0")
    assert "zoom" not in page.evaluate("location.href")
    page.keyboard.press("3")
    assert page.locator("nav a[aria-current=page]").get_attribute("data-view-link") == "objects"
    page.keyboard.press("/")
    page.wait_for_selector("input[type=search]:focus")
    page.keyboard.type("jn3")
    assert page.locator("main").get_attribute("data-view") == "objects"
    assert "q=jn3" in page.evaluate("location.href")
    assert page.locator("[data-count=objects]").get_attribute("data-value") == "0"


def test_an_address_shows_the_same_again(opened: Opener, report: Path) -> None:
    address = "#view=pages&doc=energy-report-2019.pdf&page=4&object=p36&outcome=fp&unknown=1"
    page = opened(report, address)
    viewer = page.locator("[data-viewer]")
    assert (viewer.get_attribute("data-document"), viewer.get_attribute("data-page")) == ("energy-report-2019.pdf", "4")
    assert page.locator("[data-count=pages]").get_attribute("data-value") == "4"
    page.keyboard.press("c")
    page.keyboard.press("j")
    assert "unknown" not in page.evaluate("location.href")
    assert "outcome=fp" in page.evaluate("location.href")


def test_the_dialog_holds_the_keys_back(opened: Opener, report: Path) -> None:
    page = opened(report)
    page.keyboard.press("?")
    assert page.locator("dialog[open]").count() == 1
    page.keyboard.press("j")
    assert page.locator("main").get_attribute("data-view") == "summary"
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0


def test_same_input_same_bytes(result: Result, report: Path, tmp_path: Path) -> None:
    result.report(tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == report.read_bytes()


def test_views_are_made_whether_or_not_they_were_asked_for() -> None:
    files = sample()
    asked = Evaluator(Detection(crops=True, confusion=True, sweep=True)).update(files["truth"], files["finder"]).compute()
    plain = Evaluator(Detection()).update(files["truth"], files["finder"]).compute()
    viewed = json.loads(json.dumps(dict(plain.task.view().report_numbers(plain.ledger, plain.numbers))))
    assert {name: viewed[name] for name in ("crops", "confusion", "sweep")} == {
        name: json.loads(json.dumps(asked.numbers[name])) for name in ("crops", "confusion", "sweep")
    }


def test_the_kind_of_an_error_is_told_in_words(opened: Opener, report: Path) -> None:
    page = opened(report, "#view=pages")
    fact = page.locator(".facts dt", has_text="Kind")
    told = {}
    for _ in range(8):
        page.keyboard.press("n")
        code = page.locator("[data-viewer] rect.on").first.get_attribute("data-kind")
        told[code] = fact.locator("+ dd").text_content()
    assert told == {"MISS": "nothing was predicted", "BKG": "nothing is there (empty page)"}
    for _ in range(8):  # back to the first page, which has one that is found
        page.keyboard.press("k")
    page.locator(".detail [role=option][data-outcome=tp]").first.click()
    assert page.locator(".facts dt").count() > 2
    assert fact.count() == 0  # what is found is no error
    for kind in Kind:  # the words of every code are in the page
        assert kind < Kind.CLS or re.search(rf"\b{kind.name}:\"[a-z]", asset("boxes.js")), kind
