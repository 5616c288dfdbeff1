"""What a report is given of every task: each number, and each column of what it draws, as it was when somebody last looked.

CALQUE_WRITE_GOLDEN=1 writes it anew: read the difference before you commit it.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from calque.evaluation.presentation.report_data import Phrase
from calque.report.build import said
from tests.report.made import MADE

GIVEN = Path(__file__).parent / "given"
LONG = 100
"""Of longer columns only a digest is kept."""


def given(name: str) -> dict[str, Any]:
    result = MADE[name]()
    ledger = result.task.view().with_pages(result.ledger)
    report_data = result.task.view().report_data(ledger, result.task.view().report_numbers(ledger, result.numbers))
    assert report_data is not None
    columns = {key: f"{column.dtype.str} {told(column)}" for key, column in report_data.columns.items()}
    return json.loads(json.dumps({"head": rounded(report_data.head), "columns": columns}))  # type: ignore[no-any-return]


def told(column: Any) -> str:
    values = [rounded(value) for value in column.tolist()]
    return json.dumps(values) if len(values) <= LONG else hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16]


def rounded(tree: Any) -> Any:
    """As any machine has it."""
    if isinstance(tree, dict):
        return {str(key): rounded(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [rounded(value) for value in tree]
    return float(f"{tree:.9g}") if isinstance(tree, float) else tree


@pytest.mark.parametrize("name", MADE)
def test_a_report_is_given_what_it_was_given(name: str) -> None:
    made = given(name)
    path = GIVEN / f"{name}.json"
    if os.environ.get("CALQUE_WRITE_GOLDEN"):
        path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", "utf-8")
    known = json.loads(path.read_text("utf-8"))
    assert made["columns"] == known["columns"]
    assert made["head"] == known["head"]


def test_a_number_in_a_sentence_knows_its_measure_and_its_run_if_there_are_several() -> None:
    results = [MADE["words"](), MADE["words"](better=True)]
    alone, second = (said([Phrase("recall", "some", "good", run)], results)[0] for run in (None, 1))
    assert alone == {"measure": "recall", "text": "some", "tone": "good", "value": results[0]["recall"]}
    assert second == {**alone, "value": results[1]["recall"], "run": 1}
    assert results[0]["recall"] != results[1]["recall"]
