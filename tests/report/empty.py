"""Reports of nothing: each task, and two runs of it compared, with no documents at all or with documents that hold nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from calque import Ceiling, Corpus, Detection, Evaluator, Fields, Layout, Result, Tables, Task, Words
from calque.checks import Checks
from calque.checks.suites.cases import CaseCorpus
from calque.order import Order
from calque.statistics.comparison import Comparison, compare
from tests.report.made import FEW

SQUARE = {"type": "iou_score", "bbox_path": "box", "expected_bbox_path": "box"}
SCHEMA = {"fields": {"a": {"type": "str"}}}


def _boxes(*documents: str) -> Corpus:
    return Corpus.from_arrays([], [], all_documents=documents)


def _of(task: Task, sides: Any) -> Result:
    return Evaluator(task).update(sides, sides).compute()


def _ceiling(*documents: str) -> Result:
    rows = [{"doc_id": name, "page_index": 0, "width": 600, "height": 800, "boxes": [], "labels": []} for name in documents]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "nothing.ndjson"
        path.write_text("".join(json.dumps({**row, "scores": []}) + "\n" for row in rows))
        return Evaluator(Ceiling(kind="boxes")).update(path, {"one": path, "two": path}).compute()


EMPTY: Mapping[str, Callable[[], Result]] = {
    "detection": lambda: _of(Detection(), _boxes()),
    "detection-hollow": lambda: _of(Detection(), _boxes("a")),
    "layout": lambda: _of(Layout(), _boxes()),
    "layout-hollow": lambda: _of(Layout(), _boxes("a")),
    "fields": lambda: _of(Fields(schema=SCHEMA), []),
    "fields-hollow": lambda: _of(Fields(schema=SCHEMA), [{"id": "a"}]),
    "words": lambda: _of(Words(), {}),
    "words-hollow": lambda: _of(Words(), {"a": ""}),
    "checks": lambda: _of(Checks.of([SQUARE]), CaseCorpus(cases=())),
    "tables": lambda: _of(Tables(), {}),
    "tables-hollow": lambda: _of(Tables(), {"a": ""}),
    "order": lambda: _of(Order(), []),
    "order-hollow": lambda: _of(Order(), [{"doc_id": "a", "order": []}]),
    "ceiling-hollow": lambda: _ceiling("a"),
}
"""Results of nothing by task; hollow ones have a document."""


def both(name: str) -> Comparison:
    """Nothing, compared with nothing."""
    return compare([EMPTY[name](), EMPTY[name]()], ["old", "new"], resampling=FEW)
