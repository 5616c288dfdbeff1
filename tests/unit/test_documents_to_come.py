"""How many documents a run will have scored: known or estimated while it runs, for the bar that people watch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import Detection, Evaluator, Fields, Layout, Words, read
from calque.checks import Suite
from calque.corpus.boxes import documents_to_come
from calque.engines import Progress, progress_to
from calque.readers import stream_pair
from calque.words.views import evaluated
from tests.pages import row, write_ndjson, write_parquet

PAGES = [row(f"doc-{page // 2:03}", [[0, 0, 1, 1]] * 5, page_index=page % 2, scores=[0.5] * 5) for page in range(400)]


@pytest.mark.parametrize("write", [write_ndjson, write_parquet])
def test_streams_estimate_it_from_what_was_read(tmp_path: Path, write: Callable[..., Path]) -> None:
    more = {"row_group_size": 40} if write is write_parquet else {}
    path = write(tmp_path / ("p.ndjson" if write is write_ndjson else "p.parquet"), PAGES, **more)
    pairs = stream_pair(path, path, batch=200, allow_missing_scores=True)
    told, seen = [], 0
    for truth, _ in pairs:
        seen += len(truth.units())
        told.append(documents_to_come(pairs)())
    assert seen == told[-1] == 200
    assert len(told) > 3
    assert all(abs(total - 200) <= 40 for total in told), "pages are alike: the estimate is near from the beginning"


def test_records_know_it(tmp_path: Path) -> None:
    records = [{"id": number, "a": "x"} for number in range(7)]
    task = Fields(schema={"fields": {"a": {"type": "str"}}})
    assert documents_to_come(task.batches(records, records))() == 7
    meter = Progress()
    with progress_to(meter):
        Evaluator(task).update(records, records)
    assert (meter.done, meter.total) == (7, 7)


@pytest.mark.parametrize("task", [Detection(allow_missing_scores=True), Layout()])
def test_whole_files_know_it_once_they_are_read(task: Any) -> None:
    boxes = [{"doc": name, "category": "Table", "bbox": [0, 0, 5, 5]} for name in "abc"]
    corpus, meter = read(boxes, side="ground_truth"), Progress()
    with progress_to(meter):
        Evaluator(task).update(corpus, corpus)
    assert (meter.done, meter.total) == (3, 3)


def test_several_readings_of_a_text_are_so_many_times_its_documents(tmp_path: Path) -> None:
    """Known before the first is scored, or the bar would be full after each."""
    files = [tmp_path / name for name in ("truth.json", "one.json", "two.json", "three.json")]
    for file in files:
        file.write_text('{"a": "x y", "b": "z"}')
    truth, *found = map(str, files)
    told: list[tuple[int, int]] = []

    class Watching(Progress):
        def set(self, done: int) -> None:
            super().set(done)
            told.append((self.done, self.total))

    with progress_to(Watching()):
        evaluated(Words(), truth, found)
    assert told[-1] == (6, 6)
    assert {total for _, total in told} == {6}


def test_suites_count_their_lines(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text('{"id": "a", "output": 1, "expected": 1}\n' * 4)
    kinds = "{type: iou_score, bbox_path: b, expected_bbox_path: b}"
    (tmp_path / "s.yaml").write_text(f"evaluators: [{kinds}]\ndata: cases.jsonl\n")
    assert Suite.load(tmp_path / "s.yaml").results_to_come() == 4
