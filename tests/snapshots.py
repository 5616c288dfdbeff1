"""Snapshot files for tests, written as short as a test can be read."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

LABELS = {"1": "Figure", "2": "Table"}
COORDINATES = {"type": "normalized_xyxy", "range": [0.0, 1.0], "origin": "top_left"}

BOX = (0.1, 0.1, 0.5, 0.5)

Box = Sequence[float]
Found = tuple[str, Box, float | None]
Pages = Mapping[tuple[str, int], Iterable[tuple[Any, ...]]]
"""(document, page index) → (label, box) or (label, box, score)."""


def item(name: str, label: str, box: Box, *score: float | None) -> dict[str, Any]:
    """An object of a page; with a score when one is given."""
    entry: dict[str, Any] = {"id": name, "label": label, "bbox": list(box)}
    return {**entry, "score": score[0]} if score else entry


def snapshot(kind: str, pages: Pages, *, documents: Sequence[str] | None = None, model: str = "") -> dict[str, Any]:
    """A whole file: ``kind`` is ``ground_truth`` or ``prediction``."""
    names = list(dict.fromkeys(name for name, _ in pages)) if documents is None else documents
    return {
        "label_map": dict(LABELS),
        "info": {
            "schema_version": "1.3",
            "type": kind,
            "created_at": "2026-01-01",
            "run_id": None if kind == "ground_truth" else "run-1",
            "model": {"name": model or ("human annotation" if kind == "ground_truth" else "model-a")},
            "coordinate_system": copy.deepcopy(COORDINATES),
        },
        "documents": [{"doc_id": name, "doc_name": name, "doc_path": f"pdf/{name}"} for name in names],
        "predictions": [
            {
                "page_id": f"{name}::p{index:03}",
                "doc_id": name,
                "page_index": index,
                "objects": [item(f"{name}:{index}:{number}", *entry) for number, entry in enumerate(entries)],
            }
            for (name, index), entries in pages.items()
        ],
    }


def truth(pages: Pages, **more: Any) -> dict[str, Any]:
    """Ground truth: (label, box) on each page."""
    return snapshot("ground_truth", pages, **more)


def predictions(pages: Pages, **more: Any) -> dict[str, Any]:
    """Predictions: (label, box, score) on each page."""
    return snapshot("prediction", pages, **more)


def valid_truth() -> dict[str, Any]:
    """A small valid ground truth to break in one place."""
    return truth({("a.pdf", 0): [("Figure", BOX), ("Table", (0.1, 0.6, 0.9, 0.9))], ("b.pdf", 3): []})


def valid_predictions() -> dict[str, Any]:
    """Small valid predictions to break in one place."""
    return predictions({("a.pdf", 0): [("Figure", (0.1, 0.1, 0.5, 0.48), 0.9)], ("b.pdf", 3): [("Table", BOX, 0.25)]})


def write(path: Path, content: Any) -> Path:
    """The path, with the content written to it: bytes and text as they are, anything else as JSON."""
    data = content if isinstance(content, bytes) else content.encode() if isinstance(content, str) else None
    path.write_bytes(json.dumps(content).encode() if data is None else data)
    return path
