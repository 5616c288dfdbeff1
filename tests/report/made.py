"""Reports of every kind to look at: each task, and two runs of each task compared; made once, when somebody first asks."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from calque import Corpus, Detection, Evaluator, Fields, Layout, Result, Tables, Words
from calque.checks import Checks
from calque.checks.suites.cases import Case, CaseCorpus
from calque.sample import sample
from calque.statistics.bootstrap import Resampling
from calque.statistics.comparison import Comparison, compare
from tests.kept import Kept

FEW = Resampling(replicates=100)
LABELS = ("text", "image", "table")


def layout(*, better: bool = False) -> Result:
    boxes = [[10 * row, 10 * row, 10 * row + 9, 10 * row + 9] for row in range(12)]
    labels = [LABELS[row % 3] for row in range(12)]
    documents = [f"doc-{row // 4}.pdf" for row in range(12)]
    found = [[x1, y1, x2 - row % 4 * 2, y2] for row, (x1, y1, x2, y2) in enumerate(boxes)]
    given = ["text" if row == 4 else label for row, label in enumerate(labels)]
    truth = Corpus.from_arrays(boxes, labels, documents=documents)
    extra = [300, 200, 320, 220] if better else [200, 200, 220, 220]
    other = Corpus.from_arrays([*found, extra], [*given, "image"], documents=[*documents, "doc-0.pdf"])
    return Evaluator(Layout()).update(truth, other).compute()


def fields(*, better: bool = False) -> Result:
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
    if better:
        found[1]["vendor"], found[5]["vendor"] = "Acme", "Initech"
        found[3]["items"].append({"name": "washer", "qty": 1})
    return Evaluator(Fields()).update(truth, found).compute()


def words(*, better: bool = False) -> Result:
    truth = {"page-1": "the quick brown fox jumps over the lazy dog", "page-2": "alpha beta gamma", "page-3": "all right"}
    found = {"page-1": "the quick brown box jumps over lazy dog indeed", "page-2": "alpha gamma delta", "page-3": "all right"}
    if better:
        found |= {"page-1": "the quick brown fox jumps over the lazy dog", "page-3": "all light"}
    return Evaluator(Words()).update(truth, found).compute()


def checks(*, better: bool = False) -> Result:
    settings = {"type": "iou_score", "bbox_path": "box", "expected_bbox_path": "box", "threshold": 0.7}
    square = {"box": [0, 0, 10, 10]}
    cases = CaseCorpus(
        cases=(
            Case("good", square, square),
            Case("bad", square if better else {"box": [0, 0, 10, 2]}, square),
            Case("broken", square, {"box": [1]}),
        )
    )
    return Evaluator(Checks.of([settings])).update(cases, cases).compute()


ROWS = (
    "<tr><th colspan=2>Head</th><td rowspan=2>Side</td></tr>",
    "<tr><td>q</td><td>z</td></tr>",
    "<tr><td>c</td><td>d</td><td>e</td></tr>",
)


def tables(*, better: bool = False) -> Result:
    whole = f"<table>{''.join(ROWS)}</table>"
    lost = f"<table>{ROWS[0]}{ROWS[2].replace('>d<', '>dd<')}</table>"
    found = {"one": whole, "two": lost} if better else {"one": lost, "two": whole, "four": whole}
    return Evaluator(Tables()).update({"one": whole, "two": whole + whole, "three": whole, "four": ""}, found).compute()


def order(*, better: bool = False) -> Result:
    from tests.report.test_order import TRUTH, result

    return result(TRUTH) if better else result()


def ceiling(*, better: bool = False) -> Result:
    from tests.report.test_ceiling import LEFT, result

    return result() if better else result(left=LEFT)


def detection(*, better: bool = False) -> Result:
    files = sample()
    return Evaluator(Detection()).update(files["truth"], files["cropper" if better else "finder"]).compute()


MADE: Mapping[str, Callable[..., Result]] = {
    "detection": detection, "layout": layout, "fields": fields, "words": words, "checks": checks, "tables": tables,
    "order": order, "ceiling": ceiling,
}  # fmt: skip
BOTH = {f"{task}-both": task for task in MADE}
"""Comparisons, by the task that is compared."""
EVERY = (*MADE, *BOTH)
VIEWS = {
    "detection": ["summary", "pages", "objects"], "layout": ["summary", "pages", "objects"], "fields": ["summary", "fields"],
    "words": ["summary", "words"], "checks": ["summary", "checks"], "tables": ["summary", "checks"],
    "order": ["summary", "pages", "objects"], "ceiling": ["summary", "pages", "objects"],
    **{
        f"{task}-both": ["compare", "changes", own, "summary"]
        for task, own in {
            "detection": "pages", "layout": "pages", "fields": "fields", "words": "words", "checks": "checks",
            "tables": "checks", "order": "pages", "ceiling": "pages",
        }.items()
    },
}  # fmt: skip
"""The views of each kind of report, as the contract lists them."""
QUICK = {"layout", "fields", "words-both"}
ALL = [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.long]) for name in EVERY]
"""Every kind of report, for laws that take a while: most kinds wait for the long run."""


def comparison(task: str) -> Comparison:
    """Two runs of a task, of which the second is better here and worse there."""
    return compare([MADE[task](), MADE[task](better=True)], ["old", "new"], resampling=FEW)


class Reports:
    """Every kind of report as a file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._results: Kept[Result | Comparison] = Kept()
        self._files: Kept[Path] = Kept()

    def __getitem__(self, name: str) -> Path:
        return self._files(f"report of {name}", lambda: self._written(name))

    def _written(self, name: str) -> Path:
        path = self._folder / f"{name}.html"
        self.of(name).report(path)
        return path

    def of(self, name: str) -> Any:
        """The result or the comparison that a report shows."""
        return self._results(f"result of {name}", lambda: comparison(BOTH[name]) if name in BOTH else MADE[name]())
