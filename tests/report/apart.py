"""Two runs of every task that differ, on hostile names: where each has something right that the other has not."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from calque import Ceiling, Corpus, Detection, Evaluator, Fields, Layout, Result, Tables, Words
from calque.checks import Checks
from calque.checks.suites.cases import Case, CaseCorpus
from calque.order import Order
from calque.statistics.comparison import Comparison, compare
from tests.report.made import FEW
from tests.report.test_safety import HOSTILE

COUNT = len(HOSTILE)
BOXES = [[10, 10 + 70 * place, 60, 60 + 70 * place] for place in range(COUNT)]
DOCUMENTS = [HOSTILE[place // 2] for place in range(COUNT)]


def detection(run: int) -> Result:
    """Nobody knows how large the pages are, and one run reaches further than the other."""
    truth = Corpus.from_arrays(BOXES, list(HOSTILE), documents=DOCUMENTS, ids=list(HOSTILE))
    kept = [place for place in range(COUNT) if place % 3 != run]
    found = Corpus.from_arrays(
        [*(BOXES[place] for place in kept), [300, 300, 400, 400 + 300 * run]],
        [*(HOSTILE[place] for place in kept), HOSTILE[run]],
        documents=[*(DOCUMENTS[place] for place in kept), HOSTILE[run]],
        scores=[0.5 + 0.05 * place for place in range(len(kept) + 1)],
    )
    return Evaluator(Detection()).update(truth, found).compute()


def layout(run: int) -> Result:
    truth = Corpus.from_arrays(BOXES, list(HOSTILE), documents=DOCUMENTS, ids=list(HOSTILE))
    named = [HOSTILE[(place + (place % 3 == run)) % COUNT] for place in range(COUNT)]
    found = Corpus.from_arrays(BOXES[run:], named[run:], documents=DOCUMENTS[run:])
    return Evaluator(Layout()).update(truth, found).compute()


def fields(run: int) -> Result:
    truth = [{"id": name, "value": name, "other": place, HOSTILE[0]: name} for place, name in enumerate(HOSTILE)]
    found = [
        {**record, "value": name[::-1] if place % 3 == run else name, HOSTILE[0]: name if place % 2 == run else None}
        for place, (record, name) in enumerate(zip(truth, HOSTILE, strict=True))
    ]
    return Evaluator(Fields()).update(truth, found).compute()


def words(run: int) -> Result:
    whole = " ".join(HOSTILE)
    part = " ".join(HOSTILE[::2]) if run else "nothing at all"
    found = {name: whole if place % 3 == run else part for place, name in enumerate(HOSTILE)}
    return Evaluator(Words()).update(dict.fromkeys(HOSTILE, whole), found).compute()


def checks(run: int) -> Result:
    settings = {"type": "iou_score", "bbox_path": "box", "expected_bbox_path": "box", "name": HOSTILE[0]}
    given = [name if place == COUNT - 4 else [0, 0, 10, 10 if place % 3 == run else 3] for place, name in enumerate(HOSTILE)]
    cases = [Case(name, {"box": box}, {"box": [0, 0, 10, 10]}) for name, box in zip(HOSTILE, given, strict=True)]
    corpus = CaseCorpus(cases=tuple(cases))
    return Evaluator(Checks.of([settings])).update(corpus, corpus).compute()


def order(run: int) -> Result:
    """A run that begins in the middle: but for one, each block follows the one that it should."""
    page = {"boxes": BOXES, "labels": list(HOSTILE), "ids": list(HOSTILE)}
    truth = [{"doc_id": name, **page, "order": list(HOSTILE)} for name in HOSTILE]
    found = [
        {**row, "order": list(HOSTILE) if place % 3 == run else [*HOSTILE[3:], *HOSTILE[:3]]} for place, row in enumerate(truth)
    ]
    return Evaluator(Order()).update(truth, found).compute()


def tables(run: int) -> Result:
    cells = "".join(f"<tr><td>{escape(text)}</td><td>1</td></tr>" for text in HOSTILE)
    whole, part = f"<table>{cells}</table>", f"<table>{cells[:-20]}</table>"
    found = {name: whole if place % 3 == run else part for place, name in enumerate(HOSTILE)}
    return Evaluator(Tables()).update(dict.fromkeys(HOSTILE, whole), found).compute()


def ceiling(run: int) -> Result:
    page = {"page_index": 0, "width": 600, "height": 800, "boxes": [[50, 50, 250, 150]]}
    truth = [{**page, "doc_id": name, "labels": [name]} for name in HOSTILE]
    systems = {
        HOSTILE[4 * at]: [
            {**row, "labels": [name if place % (3 + at) == run else HOSTILE[1 + at]], "scores": [0.5]}
            for place, (row, name) in enumerate(zip(truth, HOSTILE, strict=True))
        ]
        for at in (0, 1)
    }
    with TemporaryDirectory() as folder:

        def written(name: str, rows: list[dict[str, Any]]) -> Path:
            path = Path(folder) / name
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
            return path

        paths = {name: written(f"{at}.ndjson", rows) for at, (name, rows) in enumerate(systems.items())}
        return Evaluator(Ceiling(kind="boxes")).update(written("truth.ndjson", truth), paths).compute()


APART: Mapping[str, Callable[[int], Result]] = {
    "detection": detection, "layout": layout, "fields": fields, "words": words, "checks": checks, "tables": tables,
    "order": order, "ceiling": ceiling,
}  # fmt: skip
"""A run of each task by its number."""


def both(task: str) -> Comparison:
    """Two runs with hostile names of their own."""
    return compare([APART[task](0), APART[task](1)], [HOSTILE[1], HOSTILE[4]], resampling=FEW)
