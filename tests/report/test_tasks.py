"""The reports of every task: numbers are the result's, values are there, keys lead through them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import Evaluator
from calque.tables.kinds import KINDS
from calque.tables.presentation import IN_WORDS
from tests.report.made import LABELS, MADE, Reports

Opener = Callable[..., Any]
FIRST = {
    "detection": [
        *(f"{name}@0.5" for name in ("recall", "precision", "f1", "mean_coverage", "tp", "fp", "fn")), "AP",
        *(f"{name}@0.5/{label}" for name in ("recall", "precision", "f1") for label in ("Figure", "Table")),
    ],
    "layout": [
        f"{name}{label}"
        for name in (
            "layout_total_blocks", "layout_matched_blocks", "layout_correct_blocks", "layout_classification_accuracy",
            "layout_accuracy_over_total",
        )
        for label in ("", *(f"/{label}" for label in LABELS))
    ],
    "fields": ["cm_precision", "cm_recall", "cm_f1", "cm_f1/vendor", "cm_f1/total", "cm_f1/items"],
    "words": ["recall", "precision", "wer"],
    "checks": ["pass_rate", "score", "pass", "fail"],
    "tables": ["teds", "teds_struct", "grits_top", "grits_con", "exact"],
    "order": ["pairs", "successors", "footrule", "edit", "moves"],
    "ceiling": ["recall@0.5", "best.recall@0.5", "repairable@0.5", "unfound@0.5"],
}  # fmt: skip
"""What the first view has at least."""


@pytest.mark.parametrize("task", MADE)
def test_numbers_are_the_results(opened: Opener, reports: Reports, task: str) -> None:
    result = reports.of(task)
    page = opened(reports[task])
    shown = page.eval_on_selector_all(
        "[data-measure]", "nodes => nodes.map(node => [node.dataset.measure, node.dataset.value])"
    )
    for name, value in shown:
        assert (None if value == "null" else float(value)) == result[name], name
    assert {name for name, _ in shown} >= set(FIRST[task])
    assert page.locator("h1[data-headline] [data-measure]").count() >= 1
    assert page.locator("[data-signature]").inner_text() == str(result.signature)
    assert page.locator("main").get_attribute("data-view") == "summary"


@pytest.mark.parametrize("task", MADE)
def test_every_finding_leads_somewhere(opened: Opener, reports: Reports, task: str) -> None:
    page = opened(reports[task])
    count = page.locator(".findings a").count()
    assert count
    for place in range(count):
        page.locator(".findings a").nth(place).click()
        page.wait_for_selector("main:not([data-view=summary])")
        assert page.locator("[data-viewer], [data-object]").count()
        page.go_back()
        page.wait_for_selector("main[data-view=summary]")


def test_layout_shows_every_block(opened: Opener, reports: Reports) -> None:
    result = reports.of("layout")
    page = opened(reports["layout"], "#view=pages&doc=doc-1.pdf")
    names = {"correct": "tp", "wrong": "wrong", "unmatched": "fn", "unused": "fp"}
    mine = [row for row in result.outcomes().rows() if row["document"] == "doc-1.pdf"]
    expected = [(row["side"], names[row["outcome"]]) for row in mine]
    drawn = page.eval_on_selector_all(
        "[data-viewer] [data-object]", "nodes => nodes.map(node => [node.dataset.side, node.dataset.outcome])"
    )
    assert sorted((side, code) for side, code in drawn if side == "truth" or code == "fp") == sorted(expected)
    page.goto(page.url.split("#")[0] + "#view=objects&outcome=fp")
    page.wait_for_selector("main[data-view=objects]")
    # Three whose truths take nothing, and one on a page of its own.
    assert page.locator("[data-count=objects]").get_attribute("data-value") == "4"


def test_fields_show_both_values(opened: Opener, reports: Reports) -> None:
    page = opened(reports["fields"], "#view=fields")
    cells = page.eval_on_selector_all(
        "[data-cell]", "nodes => nodes.map(node => [node.dataset.document, node.dataset.field, node.dataset.outcome])"
    )
    worst = {(document, field): outcome for document, field, outcome in cells}
    assert worst["inv-1", "vendor"] == "wrong"
    assert worst["inv-2", "total"] == "fn"
    assert worst["inv-4", "vendor"] == "fp"
    assert worst["inv-0", "items[].qty"] == "tp"
    assert {field for _, field in worst} == {"vendor", "total", "items[].name", "items[].qty"}
    page.locator('[data-cell][data-document="inv-1"][data-field="vendor"]').click()
    assert page.locator("[data-value-side=truth]").inner_text() == "Acme"
    assert page.locator("[data-value-side=prediction]").inner_text() == "Globex"
    viewer = page.locator("[data-viewer]")
    assert (viewer.get_attribute("data-document"), viewer.get_attribute("data-field")) == ("inv-1", "vendor")
    page = opened(reports["fields"], "#view=fields")
    viewer = page.locator("[data-viewer]")
    seen = []
    for _ in range(8):
        page.keyboard.press("n")
        seen.append((viewer.get_attribute("data-document"), viewer.get_attribute("data-field")))
    assert {document for document, _ in seen} == {"inv-1", "inv-2", "inv-3", "inv-4"}
    assert any(field == "items[1].qty" for _, field in seen)


def test_words_mark_what_is_missing_and_extra(opened: Opener, reports: Reports) -> None:
    page = opened(reports["words"], "#view=words&doc=page-1")
    assert page.locator("[data-viewer]").get_attribute("data-document") == "page-1"
    assert page.locator("[data-word=fn]").all_inner_texts() == ["fox", "the"]
    assert page.locator("[data-word=fp]").all_inner_texts() == ["box", "indeed"]
    page.keyboard.press("j")
    assert page.locator("[data-viewer]").get_attribute("data-document") == "page-3"  # the last: all its words are read
    page.keyboard.press("k")
    page.keyboard.press("k")
    assert page.locator("[data-viewer]").get_attribute("data-document") == "page-2"  # the worst
    for _ in range(3):
        page.keyboard.press("n")
    assert "object=t3" in page.evaluate("location.href")  # after beta and delta of page-2: the fox of page-1


def test_checks_show_verdicts_reasons_and_shapes(opened: Opener, reports: Reports) -> None:
    page = opened(reports["checks"], "#view=checks")
    cases = page.eval_on_selector_all(
        "[role=option][data-case]", "nodes => nodes.map(node => [node.dataset.case, node.dataset.verdict])"
    )
    assert cases == [["bad", "fail"], ["broken", "error"], ["good", "pass"]]
    viewer = page.locator("[data-viewer]")
    assert viewer.get_attribute("data-case") == "bad"
    assert viewer.locator("path.s-t, path.s-p").count() == 2
    assert "below 0.7" in viewer.inner_text()
    page.keyboard.press("j")
    assert viewer.get_attribute("data-case") == "broken"
    page.keyboard.press("j")
    page.keyboard.press("N")
    assert viewer.get_attribute("data-case") == "broken"


def test_a_task_of_ones_own_is_shown_as_tables(opened: Opener, tmp_path: Path) -> None:
    from tests.report.counting import Counting

    result = Evaluator(Counting()).update({"a.pdf": 4, "b.pdf": 2}, {"a.pdf": 5, "b.pdf": 2}).compute()
    result.report(tmp_path / "counting.html")
    page = opened(tmp_path / "counting.html")
    assert page.locator("h1[data-headline]").count() == 1
    assert "0.500" in page.locator("main").inner_text()


def test_tables_stand_side_by_side(opened: Opener, reports: Reports) -> None:
    page = opened(reports["tables"], "#view=checks&doc=one%230")
    lines = page.eval_on_selector_all(
        ".both tr", "rows => rows.map(row => [...row.cells].map(cell => cell.innerText + '|' + cell.dataset.kind))"
    )
    texts = [[cell.partition("|")[0] for cell in line] for line in lines]
    assert [line[:3] for line in texts] == [["Head", "Side", ""], ["q", "z", ""], ["c", "d", "e"]]
    assert texts[2][3:] == ["", "c", "dd", "e"]
    kinds = {cell.partition("|")[0]: cell.partition("|")[2] for line in lines for cell in line}
    assert kinds["d"] == kinds["dd"] == "text"
    assert kinds["q"] == kinds["z"] == "row_missed"
    page.keyboard.press("j")
    assert page.locator("[data-viewer]").get_attribute("data-document") != "one#0"
    assert page.locator("[role=option][data-verdict=fail]").count() == 3  # two are missed, one is for nothing


def test_kinds_of_tables_are_told_in_words(opened: Opener, reports: Reports) -> None:
    assert set(KINDS) <= set(IN_WORDS)
    page = opened(reports["tables"])
    told = page.locator("main").inner_text()
    assert "rows that are missing" in told
    assert not [kind for kind in KINDS if "_" in kind and kind in told]
    page.goto(f"{page.url.partition('#')[0]}#view=checks&kind=row_missed")
    assert "kind: rows that are missing" in page.locator(".chip").first.inner_text()
    assert "rows that are missing: 1, cost 3.00" in page.locator("[data-viewer]").inner_text()
    named = page.eval_on_selector_all(
        "[data-viewer] [data-kind]", "nodes => nodes.map(node => [node.dataset.kind, node.title])"
    )
    assert ["row_missed", "rows that are missing"] in named
