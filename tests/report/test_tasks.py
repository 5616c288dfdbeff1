"""The reports of layout, fields, words and checks: numbers are the result's, values are there, keys lead through them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from calque import Corpus, Evaluator, Fields, Layout, Result, Tables, Words
from calque.checks import Checks
from calque.checks.suites.cases import Case, CaseCorpus

Opener = Callable[..., Any]
LABELS = ("text", "image", "table")
TRUTH = {"fields": {"vendor": {"type": "str", "threshold": 0.8}, "total": {"type": "float"}}}


def layout(*, moved: bool = False) -> Result:
    boxes = [[10 * row, 10 * row, 10 * row + 9, 10 * row + 9] for row in range(12)]
    labels = [LABELS[row % 3] for row in range(12)]
    documents = [f"doc-{row // 4}.pdf" for row in range(12)]
    found = [[x1, y1, x2 - row % 4 * 2, y2] for row, (x1, y1, x2, y2) in enumerate(boxes)]
    given = ["text" if row == 4 else label for row, label in enumerate(labels)]
    truth = Corpus.from_arrays(boxes, labels, documents=documents)
    extra = [300, 200, 320, 220] if moved else [200, 200, 220, 220]
    other = Corpus.from_arrays([*found, extra], [*given, "image"], documents=[*documents, "doc-0.pdf"])
    return Evaluator(Layout()).update(truth, other).compute()


def fields() -> Result:
    truth = [
        {
            "id": f"inv-{row}",
            "vendor": "Acme",
            "total": 10.0 + row,
            "items": [{"name": "bolt", "qty": row}, {"name": "nut", "qty": 2}],
        }
        for row in range(6)
    ]
    found: list[Any] = json.loads(json.dumps(truth))
    found[1]["vendor"] = "Globex"
    del found[2]["total"]
    found[3]["items"][1]["qty"] = 7
    truth[4]["vendor"] = None
    return Evaluator(Fields()).update(truth, found).compute()


def words() -> Result:
    truth = {"page-1": "the quick brown fox jumps over the lazy dog", "page-2": "alpha beta gamma", "page-3": "all right"}
    found = {"page-1": "the quick brown box jumps over lazy dog indeed", "page-2": "alpha gamma delta", "page-3": "all right"}
    return Evaluator(Words()).update(truth, found).compute()


def checks() -> Result:
    settings = {"type": "iou_score", "bbox_path": "box", "expected_bbox_path": "box", "threshold": 0.7}
    square = {"box": [0, 0, 10, 10]}
    cases = CaseCorpus(
        cases=(Case("good", square, square), Case("bad", {"box": [0, 0, 10, 2]}, square), Case("broken", square, {"box": [1]}))
    )
    return Evaluator(Checks.of([settings])).update(cases, cases).compute()


ROWS = (
    "<tr><th colspan=2>Head</th><td rowspan=2>Side</td></tr>",
    "<tr><td>q</td><td>z</td></tr>",
    "<tr><td>c</td><td>d</td><td>e</td></tr>",
)


def tables() -> Result:
    whole = f"<table>{''.join(ROWS)}</table>"
    lost = f"<table>{ROWS[0]}{ROWS[2].replace('>d<', '>dd<')}</table>"
    return (
        Evaluator(Tables()).update({"one": whole, "two": whole + whole, "three": whole}, {"one": lost, "two": whole}).compute()
    )


def order() -> Result:
    from tests.report.test_order import result

    return result()


MADE: Mapping[str, Callable[[], Result]] = {
    "layout": layout,
    "fields": fields,
    "words": words,
    "checks": checks,
    "tables": tables,
    "order": order,
}
FIRST = {
    "layout": [
        "layout_total_blocks", "layout_matched_blocks", "layout_correct_blocks", "layout_classification_accuracy",
        "layout_accuracy_over_total", *(f"layout_total_blocks/{label}" for label in LABELS),
    ],
    "fields": ["cm_precision", "cm_recall", "cm_f1", "cm_f1/vendor", "cm_f1/total", "cm_f1/items"],
    "words": ["recall", "precision", "wer"],
    "checks": ["pass_rate", "score", "pass", "fail"],
    "tables": ["teds", "teds_struct", "grits_top", "grits_con", "exact"],
    "order": ["pairs", "successors", "footrule", "edit", "moves"],
}  # fmt: skip


@pytest.fixture(scope="module", params=MADE)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Result, Path]:
    result = MADE[request.param]()
    path = tmp_path_factory.mktemp("report") / f"{request.param}.html"
    result.report(path)
    return request.param, result, path


def test_numbers_are_the_results(opened: Opener, made: tuple[str, Result, Path]) -> None:
    task, result, path = made
    page = opened(path)
    shown = page.eval_on_selector_all(
        "[data-measure]", "nodes => nodes.map(node => [node.dataset.measure, node.dataset.value])"
    )
    for name, value in shown:
        assert (None if value == "null" else float(value)) == result[name], name
    assert {name for name, _ in shown} >= set(FIRST[task])
    assert page.locator("h1[data-headline] [data-measure]").count() >= 1
    assert page.locator("[data-signature]").inner_text() == str(result.signature)
    assert page.locator("main").get_attribute("data-view") == "summary"


def test_every_finding_leads_somewhere(opened: Opener, made: tuple[str, Result, Path]) -> None:
    _, _, path = made
    page = opened(path)
    count = page.locator(".findings a").count()
    assert count
    for place in range(count):
        page.locator(".findings a").nth(place).click()
        page.wait_for_selector("main:not([data-view=summary])")
        assert page.locator("[data-viewer], [data-object]").count()
        page.go_back()
        page.wait_for_selector("main[data-view=summary]")


def test_layout_shows_every_block(opened: Opener, tmp_path: Path) -> None:
    result = layout()
    result.report(tmp_path / "layout.html")
    page = opened(tmp_path / "layout.html", "#view=pages&doc=doc-1.pdf")
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


def test_fields_show_both_values(opened: Opener, tmp_path: Path) -> None:
    fields().report(tmp_path / "fields.html")
    page = opened(tmp_path / "fields.html", "#view=fields")
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
    page = opened(tmp_path / "fields.html", "#view=fields")
    viewer = page.locator("[data-viewer]")
    seen = []
    for _ in range(8):
        page.keyboard.press("n")
        seen.append((viewer.get_attribute("data-document"), viewer.get_attribute("data-field")))
    assert {document for document, _ in seen} == {"inv-1", "inv-2", "inv-3", "inv-4"}
    assert any(field == "items[1].qty" for _, field in seen)


def test_words_mark_what_is_missing_and_extra(opened: Opener, tmp_path: Path) -> None:
    words().report(tmp_path / "words.html")
    page = opened(tmp_path / "words.html", "#view=words&doc=page-1")
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
    assert "object=t3" in page.url  # after beta and delta of page-2: the fox of page-1


def test_checks_show_verdicts_reasons_and_shapes(opened: Opener, tmp_path: Path) -> None:
    checks().report(tmp_path / "checks.html")
    page = opened(tmp_path / "checks.html", "#view=checks")
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
    assert "0.5000" in page.locator("main").inner_text()


def test_tables_stand_side_by_side(opened: Opener, tmp_path: Path) -> None:
    tables().report(tmp_path / "tables.html")
    page = opened(tmp_path / "tables.html", "#view=checks&doc=one%230")
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
    assert page.locator("[role=option][data-verdict=fail]").count() == 2
