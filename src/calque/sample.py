"""Sample data: a small corpus that looks like real reports, and what two imaginary models find in it.

``finder`` finds nearly everything and cuts titles off; ``cropper`` crops cleanly and overlooks a good part. The same seed
gives the same files on every machine.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

LABELS = {"1": "Figure", "2": "Table"}
MARGIN = 0.1
TITLE = 0.035
"""Height of a figure's title line, as a share of the page; models tend to cut it off."""
TOPICS = ("harvest", "rainfall", "schooling", "trade", "energy", "health", "housing", "transport")

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A figure or table on a page, title included."""

    label: str
    box: Box


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a report with its figures and tables."""

    document: str
    index: int
    snapshots: tuple[Snapshot, ...]


def sample(seed: int = 7, documents: int = 8) -> dict[str, dict[str, Any]]:
    """The files of the demo by name: ``truth``, ``finder`` and ``cropper``, as parsed snapshot JSON."""
    rng = random.Random(seed)  # noqa: S311  # sample data, not secrets
    pages = [page for number in range(documents) for page in _report(rng, TOPICS[number % len(TOPICS)], number)]
    return {
        "truth": _file(pages, "ground_truth", "human annotation", lambda page: [(item, None) for item in page.snapshots]),
        "finder": _file(pages, "prediction", "finder", lambda page: _finder(rng, page)),
        "cropper": _file(pages, "prediction", "cropper", lambda page: _cropper(rng, page)),
    }


def _report(rng: random.Random, topic: str, number: int) -> list[Page]:
    name = f"{topic}-report-{2015 + number}.pdf"
    return [Page(name, index, tuple(_layout(rng))) for index in range(rng.randint(5, 9))]


def _layout(rng: random.Random) -> list[Snapshot]:
    """Text pages have nothing; others have one to three snapshots stacked between paragraphs."""
    count = rng.choices((0, 1, 2, 3), weights=(3, 4, 3, 1))[0]
    top = MARGIN
    found = []
    for _ in range(count):
        top += rng.uniform(0.02, 0.08)
        height = rng.uniform(0.14, 0.24)
        wide = rng.random() < 0.7
        left = MARGIN if wide else rng.choice((MARGIN, 0.52))
        right = 1 - MARGIN if wide else left + 0.38
        found.append(Snapshot(rng.choice(("Figure", "Figure", "Table")), (left, top, right, top + height)))
        top += height
    return found


def _jitter(rng: random.Random, box: Box, size: float) -> Box:
    x1, y1, x2, y2 = (value + rng.gauss(0, size) for value in box)
    return x1, y1, x2, y2


def _finder(rng: random.Random, page: Page) -> list[tuple[Snapshot, float]]:
    found = []
    for item in page.snapshots:
        if rng.random() < 0.04:
            continue
        x1, y1, x2, y2 = _jitter(rng, item.box, 0.008)
        cut = TITLE * rng.uniform(1.0, 1.8) if rng.random() < 0.75 else 0.0
        label = item.label if rng.random() > 0.03 else "Table" if item.label == "Figure" else "Figure"
        found.append((Snapshot(label, (x1, y1 + cut, x2, y2)), rng.uniform(0.55, 0.99)))
    if not page.snapshots and rng.random() < 0.2:
        found.append((Snapshot("Figure", _jitter(rng, (0.2, 0.3, 0.6, 0.45), 0.05)), rng.uniform(0.2, 0.5)))
    return found


def _cropper(rng: random.Random, page: Page) -> list[tuple[Snapshot, float]]:
    return [
        (Snapshot(item.label, _jitter(rng, item.box, 0.002)), rng.uniform(0.7, 0.999))
        for item in page.snapshots
        if rng.random() > (0.45 if item.box[2] - item.box[0] < 0.5 else 0.18)
    ]


def _file(
    pages: list[Page], side: str, model: str, objects: Callable[[Page], Sequence[tuple[Snapshot, float | None]]]
) -> dict[str, Any]:
    names = list(dict.fromkeys(page.document for page in pages))
    return {
        "label_map": LABELS,
        "info": {
            "schema_version": "1.3",
            "type": side,
            "created_at": "2026-01-01",
            "run_id": None if side == "ground_truth" else f"{model}-demo",
            "model": {"name": model},
            "coordinate_system": {"type": "normalized_xyxy", "range": [0.0, 1.0], "origin": "top_left"},
        },
        "documents": [{"doc_id": name, "doc_name": name, "doc_path": f"reports/{name}"} for name in names],
        "predictions": [_page_entry(page, objects(page)) for page in pages],
    }


def _page_entry(page: Page, objects: Sequence[tuple[Snapshot, float | None]]) -> dict[str, Any]:
    name = f"{page.document}::p{page.index:03}"
    return {
        "page_id": name,
        "doc_id": page.document,
        "page_index": page.index,
        "objects": [_object(f"{name}:{number}", item, score) for number, (item, score) in enumerate(objects)],
    }


def _object(name: str, item: Snapshot, score: float | None) -> dict[str, Any]:
    box = [round(min(max(value, 0.0), 1.0), 4) for value in item.box]
    entry = {"id": name, "label": item.label, "bbox": box}
    return entry if score is None else {**entry, "score": round(score, 3)}
