"""The report of a ceiling: the ladder, who finds what others miss, and annotations to look at, each on its page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from calque import Ceiling, Evaluator, Result
from calque.ceiling.report_data import _suspects
from calque.ceiling.units import Level
from calque.statistics.bootstrap import Resampling
from calque.statistics.comparison import compare

Opener = Callable[..., Any]
PAGE = {"doc_id": "report.pdf", "page_index": 0, "width": 600, "height": 800}
ONE, TWO, THREE, NEW = [50, 50, 250, 150], [50, 300, 250, 400], [50, 550, 250, 650], [350, 550, 550, 650]


def row(*boxes: tuple[list[int], str], page: int = 0, scores: bool = True) -> dict[str, Any]:
    found = {"boxes": [box for box, _ in boxes], "labels": [label for _, label in boxes]}
    return {**PAGE, "page_index": page, **found, **({"scores": [0.5] * len(boxes)} if scores else {})}


TRUTH = [row((ONE, "Table"), (TWO, "Table"), (THREE, "Figure"), scores=False), row((ONE, "Table"), page=1, scores=False)]
LEFT = [row((ONE, "Table"), (THREE, "Table"), (NEW, "Figure")), row(page=1)]
RIGHT = [row((TWO, "Table"), (THREE, "Table"), (NEW, "Figure")), row(page=1)]


def result(kind: str = "boxes", **systems: list[dict[str, Any]]) -> Result:
    given = systems or {"left": LEFT, "right": RIGHT}
    with TemporaryDirectory() as folder:
        paths = {name: Path(folder) / f"{name}.ndjson" for name in ("truth", *given)}
        for name, rows in {"truth": TRUTH, **given}.items():
            paths[name].write_text("".join(json.dumps(row) + "\n" for row in rows))
        truth = paths.pop("truth")
        return Evaluator(Ceiling(kind=kind)).update(truth, paths).compute()  # type: ignore[arg-type]  # one of the kinds


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ceiling") / "ceiling.html"
    result().report(path)
    return path


def rungs(page: Any) -> dict[str, list[str]]:
    cells = "[...row.querySelectorAll('td:not(.bar)')].map(cell => cell.textContent)"
    return dict(page.eval_on_selector_all("[data-ladder] tbody tr", f"rows => rows.map(row => [row.dataset.rung, {cells}])"))


def test_the_ladder_is_the_results(opened: Opener, report: Path) -> None:
    shown = rungs(opened(report))
    assert list(shown) == [
        "left", "right", "votes: both (majority)", "votes: any", "route by class", "route by document, perfect",
        "select boxes of left", "select boxes of both", "recombine edges", "average edges",
    ]  # fmt: skip
    level = result().numbers["levels"]["0.5"]
    assert shown["select boxes of both"][0] == f"{level['select']['recall']:.3f}" == "0.500"
    assert shown["left"][2] == f"{level['single']['left']['f1']:.3f}"


def test_annotations_lead_to_their_page(opened: Opener, report: Path) -> None:
    page = opened(report)
    listed = page.locator("[data-suspects] a")
    told = [" ".join(text.split()) for text in listed.all_inner_texts()]
    assert [text.partition(":")[0].split(" ", 1)[1] for text in told] == ["label (2 agree)", "agreed (2 agree)", "unfound"]
    assert "Figure, found as Table" in told[0]
    assert "not annotated" in told[1]
    listed.nth(0).click()
    assert "view=pages" in page.evaluate("location.href")
    assert "object=t2" in page.evaluate("location.href")
    assert page.locator("main").get_attribute("data-view") == "pages"


def test_what_is_not_annotated_leads_to_no_object() -> None:
    """Where each suspect stands among the true objects: the third, none, and the last."""
    made = result()
    (level, *_) = made.numbers["levels"].values()
    suspects = _suspects(Level(made.task, made.ledger, 0), level)
    assert [(kind, row) for kind, *_, row in suspects] == [("label", 2), ("agreed", -1), ("unfound", 3)]


def test_what_nobody_finds_is_a_count_that_leads_to_its_objects(opened: Opener, report: Path) -> None:
    page = opened(report)
    count = page.locator('[data-measure="unfound@0.5"]').first
    assert count.get_attribute("data-value") == "2"
    page = opened(report, "#view=objects&outcome=fn")
    assert page.locator("a.card").count() == 2


def test_layout_and_one_system_have_a_ladder_too(opened: Opener, tmp_path: Path) -> None:
    for name, made in (("layout", result("layout")), ("one", result(left=LEFT))):
        made.report(tmp_path / f"{name}.html")
        assert "recombine edges" in rungs(opened(tmp_path / f"{name}.html"))


def test_records_have_their_tables(opened: Opener, tmp_path: Path) -> None:
    truth, found = [{"id": 1, "total": 5}], [{"id": 1, "total": 6}]
    made = Evaluator(Ceiling(kind="fields")).update(truth, {"a": truth, "b": found}).compute()
    made.report(tmp_path / "fields.html")
    assert "Ceiling of a, b" in opened(tmp_path / "fields.html").locator("main").inner_text()


def test_two_ceilings_are_compared(opened: Opener, tmp_path: Path) -> None:
    both = compare([result(left=LEFT), result()], ["one", "two"], resampling=Resampling(replicates=100))
    both.report(tmp_path / "both.html")
    assert opened(tmp_path / "both.html").locator("main").get_attribute("data-view") == "compare"
