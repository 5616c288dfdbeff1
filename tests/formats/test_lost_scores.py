"""A score that is there and is no number is told in every format, whether or not scores are needed; a missing one is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calque import Ceiling, ContractError, Detection, Evaluator, Layout, Task, read
from calque.base.errors import Severity
from calque.base.files import write_folder, write_whole
from calque.corpus.boxes import BoxCorpus, Side
from calque.kernels import TWINS
from calque.readers.boxes import formats
from calque.readers.boxes.convert import converted
from tests.conftest import Run

FORMATS = [entry for entry in formats.FORMATS if "scores" in entry.carries and entry.write is not None]
NUMBER = "0.4375"
"""The score that is replaced; no other number of the files is spelled like this."""
NO_NUMBERS = ["NaN", "Infinity", "-Infinity", "1e999", '"high"', "true"]
REFUSING = ("snapshot", "yolo")
"""Formats of which a file with such a score is refused whatever is asked."""
TASKS = [Ceiling(), Detection(allow_missing_scores=True)]


def corpus(side: Side, scores: tuple[float, ...] | None) -> BoxCorpus:
    return BoxCorpus(
        documents=("a",),
        page_document=np.zeros(1, np.int32),
        page_index=np.zeros(1, np.int64),
        page_sizes=np.array([[1000.0, 1000.0]]),
        labels=("Table",),
        page=np.zeros(2, np.int32),
        label=np.zeros(2, np.int32),
        boxes=np.array([[0.0, 0, 100, 100], [200, 0, 300, 100]]),
        scores=None if scores is None else np.array(scores),
        side=side,
    )


def spoilt(entry: formats.Format, path: Path, spelling: str) -> Path:
    """Two boxes in a format, of which the second has such a score."""
    files, _ = converted(corpus(Side.FOUND, (0.9, float(NUMBER))), entry, None)
    if entry.name == "parquet":
        write_whole(path, files[""])
        table = pq.read_table(path)
        column = pa.array([[0.9, json.loads(spelling)]], type=table.schema.field("scores").type)
        pq.write_table(table.set_column(table.schema.get_field_index("scores"), "scores", column), path)
        return path
    written = {name: bytes(content) for name, content in files.items()}
    assert sum(content.count(NUMBER.encode()) for content in written.values()) == 1
    bare = spelling if b"{" in b"".join(written.values()) else spelling.strip('"')
    changed = {name: content.replace(NUMBER.encode(), bare.encode()) for name, content in written.items()}
    if set(changed) == {""}:
        write_whole(path, changed[""])
    else:
        write_folder(path, changed)
    return path


def lost(task: Task, path: Path, entry: formats.Format) -> list[str]:
    """What is told of the second score: errors that refuse the file, or losses."""
    truth = corpus(Side.TRUTH, None)
    if entry.name == "coco-results":
        files, _ = converted(truth, formats.named("coco"), None)
        write_whole(path.with_name("truth.json"), files[""])
        truth = read(path.with_name("truth.json"), side="ground_truth")  # whose categories the results name
    try:
        result = Evaluator(task).update(truth, {"system": path} if isinstance(task, Ceiling) else path).compute()
    except ContractError as error:
        return [issue.code for issue in error.issues if issue.severity is Severity.ERROR]
    return [issue.code for issue in result.issues if issue.severity is Severity.LOSS]


@pytest.mark.parametrize("kernels", sorted(TWINS))
@pytest.mark.parametrize("entry", FORMATS, ids=lambda entry: entry.name)
def test_a_score_that_is_no_number_is_told(
    entry: formats.Format, kernels: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALQUE_KERNELS", kernels)
    for place, spelling in enumerate(["NaN", "Infinity"] if entry.name == "parquet" else NO_NUMBERS):
        path = spoilt(entry, tmp_path / f"{place}.out", spelling)
        assert all(lost(task, path, entry) for task in (TASKS if spelling == "NaN" else TASKS[:1])), spelling


@pytest.mark.parametrize("entry", [entry for entry in FORMATS if entry.name not in REFUSING], ids=lambda entry: entry.name)
def test_layout_does_not_look_at_scores(entry: formats.Format, tmp_path: Path) -> None:
    assert lost(Layout(), spoilt(entry, tmp_path / "spoilt.out", "NaN"), entry) == []


@pytest.mark.parametrize("name", ["ndjson", "parquet", "coco", "coco-results", "plain", "labelme", "omnidocbench"])
def test_a_score_that_is_not_there_costs_nothing(name: str, tmp_path: Path) -> None:
    entry = formats.named(name)
    path = spoilt(entry, tmp_path / "missing.out", "null")
    assert [lost(task, path, entry) for task in TASKS] == [[], []]


def test_a_ceiling_with_a_lost_score_ends_with_3_and_the_box_counts(calque: Callable[..., Run], tmp_path: Path) -> None:
    row = {"doc_id": "a", "boxes": [[0, 0, 10, 10], [20, 0, 30, 10]], "labels": ["T", "T"]}
    (tmp_path / "truth.ndjson").write_text(json.dumps(row) + "\n")
    (tmp_path / "one.ndjson").write_text(json.dumps({**row, "scores": [0.9, float("nan")]}) + "\n")
    (tmp_path / "two.ndjson").write_text(json.dumps({**row, "scores": [0.9, None]}) + "\n")
    truth, one, two = (str(tmp_path / f"{name}.ndjson") for name in ("truth", "one", "two"))
    ended = calque("ceiling", truth, one, two, "--format", "json")
    assert ended.code == 3
    assert [(issue["code"], issue["file"]) for issue in ended.json["issues"]] == [("score-missing", one)]
    assert ended.json["levels"]["0.5"]["single"]["one"]["tp"] == 2
    assert calque("ceiling", truth, two).code == 0
