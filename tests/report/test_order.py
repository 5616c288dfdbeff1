"""The report of reading order: two numbered paths on every page, each step that leaves the true one, worst pages first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import Evaluator, Result
from calque.order import Order
from calque.statistics.bootstrap import Resampling
from calque.statistics.comparison import compare

Opener = Callable[..., Any]
BOXES = [
    [60, 20, 540, 50],
    [60, 80, 290, 200],
    [60, 220, 290, 400],
    [310, 80, 540, 200],
    [310, 220, 540, 400],
    [280, 770, 320, 790],
]
LABELS = ["page-header", "text", "table", "text", "figure", "page-footer"]
NAMES = list("abcdef")
PATH = "nodes => nodes.map(node => [node.dataset.of, Number(node.textContent)])"


def row(page: int, order: list[str], kept: str = "abcdef") -> dict[str, Any]:
    chosen = [place for place, name in enumerate(NAMES) if name in kept]
    return {
        "doc_id": "report.pdf", "page_index": page, "width": 600, "height": 800, "boxes": [BOXES[place] for place in chosen],
        "labels": [LABELS[place] for place in chosen], "ids": [NAMES[place] for place in chosen], "order": order,
    }  # fmt: skip


TRUTH = [row(page, NAMES) for page in range(3)] + [{"doc_id": "names.pdf", "order": ["x", "y", "z"]}]
# The first page is right, the second is read across the columns, of the third a block is missing.
FOUND = [
    row(0, NAMES),
    row(1, list("abdcef")),
    row(2, list("abdef"), "abdef"),
    {"doc_id": "names.pdf", "order": ["x", "z", "y"]},
]


def result(found: list[dict[str, Any]] = FOUND) -> Result:
    return Evaluator(Order()).update(TRUTH, found).compute()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("order") / "order.html"
    result().report(path)
    return path


def test_both_paths_are_numbered_as_the_rows_say(opened: Opener, report: Path) -> None:
    page = opened(report, "#view=pages&sort=document")
    names = {"placed": {"tp", "wrong"}, "missing": {"fn"}}
    blocks = [row for row in result().outcomes().rows() if row["what"] == "block"]
    wrong = {
        (row["document"], row["page"], row["to"]): row["outcome"]
        for row in result().outcomes().rows()
        if row["what"] == "break"
    }
    seen = 0
    for _ in range(4):
        viewer = page.locator("[data-viewer]")
        place = viewer.get_attribute("data-document"), int(viewer.get_attribute("data-page"))
        mine = [block for block in blocks if (block["document"], block["page"]) == place]
        drawn = page.eval_on_selector_all(
            "[data-viewer] [data-object][data-side=truth]",
            "nodes => nodes.map(node => [node.dataset.object, node.dataset.outcome, node.dataset.kind])",
        )
        rows = dict(zip(sorted((key for key, _, _ in drawn), key=lambda key: int(key[1:])), mine, strict=True))
        for key, outcome, kind in drawn:
            assert outcome in names[rows[key]["outcome"]]
            step = wrong.get((*place, rows[key]["id"]), "")
            assert (kind, outcome == "wrong") == (step.replace("_", " "), step != "")
        for side, rank in (("truth", "rank"), ("prediction", "position")):
            path = dict(page.eval_on_selector_all(f"[data-stop={side}]", PATH))
            assert path == {key: row[rank] + 1 for key, row in rows.items() if row[rank] >= 0}
        seen += len(drawn)
        page.keyboard.press("j")
    assert seen == len(blocks) == 21


def test_worst_pages_come_first_and_n_goes_through_steps(opened: Opener, report: Path) -> None:
    page = opened(report)
    page.keyboard.press("j")
    viewer = page.locator("[data-viewer]")
    assert (viewer.get_attribute("data-document"), viewer.get_attribute("data-page")) == ("report.pdf", "1")
    page.keyboard.press("n")
    detail = page.locator("[data-detail]")
    assert "interleaved" in detail.inner_text()
    assert page.locator("[data-viewer] [data-outcome=wrong][data-side=truth]").count() == 3
    page.keyboard.press("t")
    assert page.locator("[data-stop=truth]").count() == 0
    page.keyboard.press("p")
    assert page.locator("[data-stop]").count() == 0


def test_every_kind_of_step_leads_to_its_blocks(opened: Opener, report: Path) -> None:
    numbers = result().numbers["breaks"]
    page = opened(report)
    for kind, count in numbers.items():
        if count:
            page.locator("main[data-view=summary]").get_by_role("link", name=kind.replace("_", " "), exact=True).click()
            page.wait_for_selector("main[data-view=objects]")
            assert int(page.locator("[data-count=objects]").get_attribute("data-value")) == count
            page.go_back()
            page.wait_for_selector("main[data-view=summary]")


def test_blocks_without_boxes_stand_in_their_order(opened: Opener, report: Path) -> None:
    page = opened(report, "#view=pages&doc=names.pdf")
    assert "have no boxes" in page.locator("[data-viewer]").inner_text()
    tops = page.eval_on_selector_all(
        "[data-viewer] rect[data-side=truth]",
        "nodes => nodes.map(node => [node.dataset.object, Number(node.getAttribute('y'))])",
    )
    assert [key for key, _ in sorted(tops, key=lambda entry: entry[1])] == ["t0", "t1", "t2"]


def test_two_orders_are_compared(opened: Opener, tmp_path: Path) -> None:
    better = [row(0, NAMES), row(1, NAMES), FOUND[2], FOUND[3], {"doc_id": "more.pdf", "order": ["q"]}]
    runs = [result(), result(better)]
    compare(runs, ["old", "new"], resampling=Resampling(replicates=100)).report(tmp_path / "orders.html")
    page = opened(tmp_path / "orders.html")
    assert page.locator("[data-change=fixed]").get_attribute("data-value") == "2"
    page.keyboard.press("n")
    page.wait_for_selector("main[data-view=pages]")
    viewer = page.locator("[data-viewer]")
    assert (viewer.get_attribute("data-document"), viewer.get_attribute("data-page")) == ("report.pdf", "1")
    path = "nodes => nodes.map(node => node.textContent)"
    read = page.eval_on_selector_all("[data-stop=prediction]", path)
    page.keyboard.press("x")
    assert page.eval_on_selector_all("[data-stop=prediction]", path) == read == list("123456")
    assert page.locator("[data-viewer] [data-outcome=wrong]").count() in (0, 6)


def test_pictures_lie_under_the_paths(opened: Opener, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    (tmp_path / "images").mkdir()
    image.new("RGB", (300, 400), "#ccddee").save(tmp_path / "images" / "report-1.png")
    result().report(tmp_path / "order.html", images=str(tmp_path / "images"))
    page = opened(tmp_path / "order.html", "#view=pages&doc=report.pdf&page=1")
    assert page.locator("[data-viewer] image").get_attribute("href").startswith("blob:")
    first = page.locator("[data-viewer] rect[data-object=t9]")
    # The header of a page of 600 by 800, on a page that is drawn 1000 wide.
    shown = {name: float(first.get_attribute(name)) for name in ("x", "y", "width", "height")}
    assert shown == pytest.approx({"x": 100, "y": 33.3, "width": 800, "height": 50}, abs=0.1)
