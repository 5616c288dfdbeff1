"""What a notebook and a terminal show of public objects: `repr` is one short line, `print` the table, HTML the brief form."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import calque
from calque import ComparableField, Corpus, Detection, Evaluator, Fields, Layout, Order, Result, StructuredModel, Tables, Words
from calque.ceiling import Ceiling, Systems
from calque.checks import Checks, Suite, evaluator
from calque.checks.suites.cases import Case, CaseCorpus
from calque.detection.auditing import AuditRules
from calque.detection.auditing.audit import audit
from calque.fields import BulkStructuredModelEvaluator, document_table, error_table, field_table
from calque.sample import sample
from calque.statistics.bootstrap import Resampling
from tests.docs.pages import ROOT

DOCUMENTS = 300
LONGEST_REPR, LONGEST_PRINT = 300, 5000
NAMES = [f"document number {place:04d}" for place in range(DOCUMENTS)]
BOX_CHECK = {"type": "iou_score", "bbox_path": "box", "expected_bbox_path": "box", "threshold": 0.7}


def boxes(shift: float = 0.0) -> Corpus:
    square = [[shift * (place % 3), 0.0, 50.0, 50.0] for place in range(DOCUMENTS)]
    return Corpus.from_arrays(square, ["Table", "Figure"] * (DOCUMENTS // 2), documents=NAMES, scores=[0.9] * DOCUMENTS)


def texts(word: str) -> dict[str, str]:
    return {name: f"the {'cat' if place % 3 else word} sat" for place, name in enumerate(NAMES)}


def records(total: int) -> list[dict[str, Any]]:
    return [{"id": name, "vendor": "Acme", "total": place if place % 3 else total} for place, name in enumerate(NAMES)]


def tables(text: str) -> dict[str, str]:
    return {name: f"<table><tr><td>a<td>{'b' if place % 3 else text}<tr><td>1<td>2</table>" for place, name in enumerate(NAMES)}


def cases(shift: int) -> CaseCorpus:
    square = {"box": [0, 0, 10, 10]}
    moved = {"box": [0, 0, 10, 10 - shift]}
    return CaseCorpus(cases=tuple(Case(name, square if place % 3 else moved, square) for place, name in enumerate(NAMES)))


def orders(first: str) -> list[dict[str, Any]]:
    return [
        {"doc_id": name, "order": ["a", "b", "c"] if place % 3 else [first, *({"a", "b", "c"} - {first})]}
        for place, name in enumerate(NAMES)
    ]


RESULTS: dict[str, Callable[[float], Result]] = {
    "detection": lambda run: Evaluator(Detection()).update(boxes(), boxes(9 * run)).compute(),
    "layout": lambda run: Evaluator(Layout()).update(boxes(), boxes(9 * run)).compute(),
    "fields": lambda run: Evaluator(Fields(id="id")).update(records(7), records(int(run))).compute(),
    "words": lambda run: Evaluator(Words()).update(texts("cat"), texts(f"cot{run}")).compute(),
    "tables": lambda run: Evaluator(Tables()).update(tables("b"), tables(f"c{run}")).compute(),
    "order": lambda run: Evaluator(Order()).update(orders("a"), orders("bc"[int(run) % 2])).compute(),
    "checks": lambda run: Evaluator(Checks.of([BOX_CHECK])).update(cases(int(run)), cases(int(run))).compute(),
    "ceiling": lambda run: Evaluator(Ceiling()).update(boxes(), {"one": boxes(run), "two": boxes(9 * run)}).compute(),
}


@pytest.fixture(scope="module", params=RESULTS)
def runs(request: pytest.FixtureRequest) -> list[Result]:
    return [RESULTS[request.param](run) for run in (1.0, 2.0)]


def check_short(thing: Any) -> None:
    assert len(repr(thing)) < LONGEST_REPR, repr(thing)[:1000]
    assert "\n" not in repr(thing)
    assert len(str(thing)) < LONGEST_PRINT


def test_result_of_many_documents_is_short(runs: list[Result]) -> None:
    for thing in (runs[0], runs[0].outcomes(), runs[0].ledger, runs[0].task, runs[0].signature, Evaluator(runs[0].task)):
        check_short(thing)
    assert str(runs[0].signature) in str(runs[0])


def test_result_in_a_notebook_is_its_brief_form(runs: list[Result]) -> None:
    shown = _words(runs[0]._repr_html_())
    told = [cell for section in runs[0].brief() for cell in section.head]
    assert all(str(cell) in shown for cell in told)
    assert len(shown) <= len(str(runs[0])) + 1000
    assert len(runs[0].brief()) < len(runs[0].sections()) or runs[0].brief() == runs[0].sections()


def test_comparison_of_many_documents_prints_its_table(runs: list[Result]) -> None:
    comparison = calque.compare(runs, ["old", "new"], resampling=Resampling(100))
    check_short(comparison)
    assert str(DOCUMENTS) in repr(comparison)
    printed = str(comparison)
    assert str(comparison.signature) in printed
    assert "difference" in printed
    assert {"old", "new"} <= set(printed.replace(",", " ").split())
    for thing in (*comparison.measures.values(), *comparison.changes.values()):
        check_short(thing)
    assert len(_words(comparison._repr_html_())) < LONGEST_PRINT


def _words(page: str) -> str:
    return html.unescape(re.sub(r"<style.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL))


class Invoice(StructuredModel):
    """A record with one field."""

    total: float = ComparableField()


def other_objects(folder: Path) -> Iterator[Any]:
    """What public functions return, and what users make, besides results and comparisons."""
    long = [f"word{place}" for place in range(DOCUMENTS)]
    grid = "<table>" + ("<tr>" + "<td>cell" * 20) * 30 + "</table>"
    yield from (boxes(), Systems(names=("a", "b"), parts=(boxes(), boxes())))
    yield calque.read(sample()["truth"])
    yield calque.words.align(long, long)
    yield calque.words.oracle(long, [[[word], ["x"]] for word in long])
    yield calque.words.build_lattice({"one": long, "two": long[::-1]})
    yield calque.tables.compare(grid, grid.replace("cell", "x", 40))
    yield calque.tables.parse(grid)
    yield calque.order.compare(long, long[::-1])
    yield audit(boxes(), boxes(3.0), AuditRules())
    many = {"box": [[0, 0, 10, 10]] * DOCUMENTS}
    yield evaluator(BOX_CHECK).evaluate(output=many, expected=many)
    (folder / "suite.yaml").write_text(
        "evaluators: [{type: iou_score, bbox_path: box, expected_bbox_path: box, threshold: 0.5}]\ncases:\n"
        + "".join(f"  - {{id: '{name}', output: {{box: [0, 0, 1, 1]}}, expected: {{box: [0, 0, 1, 1]}}}}\n" for name in NAMES)
    )
    yield Suite.load(folder / "suite.yaml")
    bulk = BulkStructuredModelEvaluator(Invoice)
    for name in NAMES:
        bulk.update(Invoice(total=1), Invoice(total=2), name)
    yield from (bulk, bulk.compute())
    result = RESULTS["fields"](1.0)
    yield from (document_table(result), error_table(result), field_table(result))
    yield calque.gated(result, fail_under={"cm_f1": 0.9})


def test_other_objects_of_many_documents_are_short(tmp_path: Path) -> None:
    for thing in other_objects(tmp_path):
        check_short(thing)


def test_task_repr_shows_settings_that_differ_from_their_defaults() -> None:
    assert repr(Detection()) == "Detection()"
    assert repr(Detection(iou=0.6, crops=True)) in ("Detection(iou=(0.6,), crops=True)", "Detection(crops=True, iou=(0.6,))")


@pytest.mark.parametrize("task", ["words", "detection"])
def test_dir_lists_what_users_may_use(task: str) -> None:
    result = RESULTS[task](1.0)
    comparison = calque.compare([result, RESULTS[task](2.0)], resampling=Resampling(100))
    for thing in (result, comparison, Evaluator(result.task)):
        names = dir(thing)
        assert not [name for name in names if name.startswith("_") or not hasattr(thing, name)]
    reference = (ROOT / "docs/reference/python.md").read_text("utf-8").partition("## Attributes and methods")[2]
    for kind, thing in {"Result": result, "Evaluator": Evaluator(result.task), "Comparison": comparison}.items():
        (row,) = [line for line in reference.splitlines() if line.startswith(f"| `{kind}` |")]
        described = set(re.findall(r"`(\w+)`", row)) - {kind}
        assert described == set(dir(thing)), kind
