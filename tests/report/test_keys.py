"""Keys, links and paper: what is copied, what a step or a bar leads to, and what is left when an API is missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import Corpus, Detection, Evaluator, Result
from calque.sample import sample
from calque.statistics.bootstrap import Resampling
from calque.statistics.comparison import compare
from tests.report.made import layout

Opener = Callable[..., Any]


@pytest.fixture(scope="module")
def result() -> Result:
    files = sample()
    return Evaluator(Detection()).update(files["truth"], files["finder"]).compute()


@pytest.fixture(scope="module")
def report(result: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "report.html"
    result.report(path)
    return path


def count(page: Any) -> int:
    return int(page.locator("[data-count=objects]").get_attribute("data-value"))


def test_c_copies_the_chosen_row_as_the_result_has_it(opened: Opener, report: Path, result: Result) -> None:
    page = opened(report, "#view=pages")
    page.evaluate("document.addEventListener('copy', () => { window.taken = getSelection().toString() || window.taken; })")
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.taken = text; }")
    page.keyboard.press("n")
    chosen = page.locator("[data-detail]").get_attribute("data-detail")
    page.keyboard.press("c")
    page.wait_for_selector(".toast:not(:empty)")
    copied = json.loads(page.evaluate("window.taken"))
    assert page.locator(".toast").inner_text() == "copied"
    rows = [row for row in result.outcomes().rows() if row["side"] == ("truth" if chosen[0] == "t" else "prediction")]
    row = rows[int(chosen[1:])]
    assert {name: copied[name] for name in ("document", "page", "side", "id", "label", "outcome", "kind")} == {
        name: row[name] for name in ("document", "page", "side", "id", "label", "outcome", "kind")
    }


def test_escape_drops_the_choice_and_then_the_filters(opened: Opener, report: Path) -> None:
    page = opened(report, "#view=pages&outcome=fn&class=Figure")
    assert page.locator("[data-count=pages]").get_attribute("data-value") == "3"
    page.keyboard.press("n")
    assert "object=" in page.evaluate("location.href")
    page.keyboard.press("Escape")
    assert "object=" not in page.evaluate("location.href")
    assert "outcome=fn" in page.evaluate("location.href")
    page.keyboard.press("Escape")
    assert "outcome" not in page.evaluate("location.href")
    assert page.locator("[data-count=pages]").get_attribute("data-value") == "60"


def test_keys_with_modifiers_are_the_browsers(opened: Opener, report: Path) -> None:
    page = opened(report)
    for key in ("Alt+j", "Control+j", "Meta+j"):
        page.keyboard.press(key)
    assert page.locator("main").get_attribute("data-view") == "summary"


def test_every_part_of_a_bar_and_every_point_leads_to_its_objects(opened: Opener, report: Path, result: Result) -> None:
    page = opened(report)
    for place, name in enumerate(("tp@0.5", "fn@0.5", "fp@0.5")):
        page.locator(".whole .shares a").nth(place).click()
        page.wait_for_selector("main[data-view=objects]")
        assert count(page) == result[name]
        page.go_back()
        page.wait_for_selector("main[data-view=summary]")
    bins = result.task.view().report_numbers(result.ledger, result.numbers)["score_calibration"][0]
    points = page.locator("section[aria-labelledby=calibration] svg a")
    assert points.count() == len(bins)
    for place, (_, _, number, _, _) in enumerate(bins):
        points.nth(place).click()
        page.wait_for_selector("main[data-view=objects]")
        assert count(page) == number
        page.go_back()
        page.wait_for_selector("main[data-view=summary]")


def test_calibration_counts_what_the_rows_say(result: Result) -> None:
    for place, threshold in enumerate((0.5, 0.75)):
        rows = [row for row in result.outcomes(threshold=threshold).rows() if row["side"] == "prediction"]
        for low, high, number, mean, right in result.task.view().report_numbers(result.ledger, result.numbers)[
            "score_calibration"
        ][place]:
            mine = [row for row in rows if low <= row["score"] < high or (high == row["score"] == 1)]
            assert number == len(mine)
            assert mean == pytest.approx(sum(row["score"] for row in mine) / len(mine))
            assert right == sum(row["outcome"] == "tp" for row in mine) / len(mine)


def test_scores_that_are_no_shares_have_no_calibration() -> None:
    boxes = Corpus.from_arrays([[0, 0, 9, 9]], ["Table"])
    found = Corpus.from_arrays([[0, 0, 9, 9]], ["Table"], scores=[7.5])
    made = Evaluator(Detection()).update(boxes, found).compute()
    assert made.task.view().report_numbers(made.ledger, made.numbers)["score_calibration"] == [[], []]


def test_paper_has_the_page_and_all_its_objects(opened: Opener, tmp_path: Path) -> None:
    boxes = [[10, 20 * row, 90, 20 * row + 9] for row in range(40)]
    truth = Corpus.from_arrays(boxes, ["text"] * 40)
    Evaluator(Detection()).update(truth, Corpus.from_arrays(boxes[:1], ["text"], scores=[0.5])).compute().report(
        tmp_path / "p.html"
    )
    page = opened(tmp_path / "p.html", "#view=pages", height=500)
    objects = page.locator("[role=listbox][aria-label='objects of the page'] [role=option]")
    assert objects.count() < 40
    page.emulate_media(media="print")
    objects.nth(39).wait_for(state="attached")
    assert objects.count() == 40
    assert page.locator("[data-viewer] svg.page").is_visible()
    assert not page.locator("aside.list").is_visible()
    assert not page.locator("header.top").is_visible()
    page.emulate_media(media="screen")
    objects.nth(39).wait_for(state="detached")


def test_who_wants_no_motion_gets_none(opened: Opener, report: Path) -> None:
    moving = "getComputedStyle(document.querySelector('.option')).transitionDuration"
    assert opened(report, "#view=pages", reduced_motion="reduce").evaluate(moving).startswith("0s")
    assert opened(report, "#view=pages", reduced_motion="no-preference").evaluate(moving).startswith("0.1s")


def test_focus_is_seen(opened: Opener, report: Path) -> None:
    page = opened(report)
    for _ in range(4):
        page.keyboard.press("Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement).outline")
        assert "2px" in outline
        assert "solid" in outline


def test_a_sandboxed_frame_shows_it_too(blank: Opener, report: Path, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_bytes(report.read_bytes())
    (tmp_path / "frame.html").write_text(
        '<!doctype html><iframe sandbox="allow-scripts" src="report.html" width=1200 height=800>'
    )
    page = blank()
    page.goto((tmp_path / "frame.html").as_uri())
    frame = page.frames[1]
    frame.wait_for_selector("body[data-ready=true]")
    frame.locator("nav a[data-view-link=pages]").click()
    frame.wait_for_selector("main[data-view=pages]")
    frame.locator("button[aria-label='next page']").click()
    assert frame.locator("[data-viewer]").get_attribute("data-document") == "schooling-report-2017.pdf"


def test_false_alarms_of_layout_come_and_go(opened: Opener, tmp_path: Path) -> None:
    runs = [layout(), layout(better=True)]
    changes = compare(runs, ["old", "new"], resampling=Resampling(replicates=100))
    changes.report(tmp_path / "layouts.html")
    page = opened(tmp_path / "layouts.html")
    for name, value in (("new", changes.changes["new"].new_alarms), ("gone", changes.changes["new"].gone_alarms)):
        assert value
        page.locator(f"[data-change={name}]").click()
        page.wait_for_selector("main[data-view=changes]")
        assert int(page.locator("[data-count=changes]").get_attribute("data-value")) == value
        page.locator("[data-object]").first.click()
        page.wait_for_selector("main[data-view=pages]")
        detail = page.locator("[data-detail]").get_attribute("data-detail")
        assert page.locator(f'[data-viewer] [data-object="{detail}"]').get_attribute("data-outcome") == "fp"
        page.go_back()
        page.wait_for_selector("main[data-view=changes]")
        page.go_back()
        page.wait_for_selector("main[data-view=compare]")
