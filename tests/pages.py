"""The same pages in every form that calque reads: NDJSON, Parquet, COCO JSON, arrays."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calque import ContractError, Evaluator, Result, Task, read
from calque.corpus.boxes import BoxCorpus
from calque.readers import stream_pair

Row = dict[str, Any]
BOX = (0.0, 0.0, 10.0, 10.0)

TYPES = {
    "page_index": pa.int64(),
    "width": pa.float64(),
    "height": pa.float64(),
    "boxes": pa.list_(pa.list_(pa.float64())),
    "labels": pa.list_(pa.string()),
    "scores": pa.list_(pa.float64()),
    "crowd": pa.list_(pa.bool_()),
    "area": pa.list_(pa.float64()),
}


SIDES = ("width", "height")
PAGE_KEYS = ("doc_id", "ids")


def row(document: int | str, boxes: Sequence[Sequence[float]] = (), labels: Sequence[str] | None = None, **more: Any) -> Row:
    """A page, with the label Table for every box unless others are given."""
    names = ["Table"] * len(boxes) if labels is None else list(labels)
    return {"doc_id": document, "boxes": [list(box) for box in boxes], "labels": names, **more}


def write_ndjson(path: Path, rows: Iterable[Row | str]) -> Path:
    """One page a line; a string is written as it is."""
    lines = [line if isinstance(line, str) else json.dumps(line) for line in rows]
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def table(rows: Sequence[Row], types: dict[str, pa.DataType] | None = None) -> pa.Table:
    """The pages as an Arrow table, its types as a careful writer would choose them."""
    names = list(dict.fromkeys(name for page in rows for name in page))
    known = TYPES | (types or {})
    columns = {name: [page.get(name) for page in rows] for name in names}
    return pa.table({name: pa.array(values, type=known.get(name)) for name, values in columns.items()})


def write_parquet(path: Path, rows: Sequence[Row], *, row_group_size: int | None = None, **types: pa.DataType) -> Path:
    """The pages as a Parquet file."""
    pq.write_table(table(rows, types), path, row_group_size=row_group_size)
    return path


def batched(task: Task, truth: Path, found: Path, **options: Any) -> Result:
    """The result of two files that are read with these options, such as the size of a batch."""
    evaluator = Evaluator(task)
    for pair in stream_pair(truth, found, **options):
        evaluator.add(task.score(*pair), issues=[issue for corpus in pair for issue in corpus.issues])
    return evaluator.compute()


def write_coco(folder: Path, truth: Sequence[Row], found: Sequence[Row]) -> tuple[Path, Path]:
    """Pages with integer ids, one a document, as COCO ground truth and results; boxes are x, y, width, height."""
    names = sorted({name for page in (*truth, *found) for name in page["labels"]})
    category = {name: position for position, name in enumerate(names, start=1)}
    images = [
        {"id": page["doc_id"], **{key: value for key, value in page.items() if key not in (*PAGE_KEYS, *TYPES) or key in SIDES}}
        for page in truth
    ]
    annotations = [
        {
            "id": page["ids"][k],
            "image_id": page["doc_id"],
            "category_id": category[page["labels"][k]],
            "bbox": box,
            "iscrowd": int(page["crowd"][k]),
            **({} if page["area"][k] is None else {"area": page["area"][k]}),
        }
        for page in truth
        for k, box in enumerate(page["boxes"])
    ]
    results = [
        {"image_id": page["doc_id"], "category_id": category[label], "bbox": box, "score": score}
        for page in found
        for box, label, score in zip(page["boxes"], page["labels"], page["scores"], strict=True)
    ]
    categories = [{"id": identity, "name": name} for name, identity in category.items()]
    paths = folder / "truth.json", folder / "found.json"
    paths[0].write_text(json.dumps({"images": images, "annotations": annotations, "categories": categories}), "utf-8")
    paths[1].write_text(json.dumps(results), "utf-8")
    return paths


def read_boxes(path: Path, **options: Any) -> BoxCorpus:
    """The corpus of a file of boxes."""
    corpus = read(path, **options)
    assert isinstance(corpus, BoxCorpus)
    return corpus


def refused(path: Path, **options: Any) -> list[tuple[str, str]]:
    """The code and the place of everything that a file is refused for."""
    with pytest.raises(ContractError) as caught:
        read(path, strict=True, **options)
    return [(issue.code, issue.pointer.partition(" ")[2]) for issue in caught.value.issues]
