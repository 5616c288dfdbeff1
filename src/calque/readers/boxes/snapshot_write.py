"""Snapshot files (schema 1.3) written from a corpus."""

from __future__ import annotations

from typing import Any

from calque.corpus.boxes import BoxCorpus, Side
from calque.readers.boxes.objects import Traced, by_page, name_of
from calque.readers.boxes.snapshot import VERSION
from calque.readers.sources.json_tree import dumped

CARRIES = frozenset({"scores", "ids", "empty pages", "page names"})


def write(corpus: BoxCorpus) -> dict[str, bytes]:
    """The corpus (corners in shares of the page) as a file; predictions where it says so or has scores."""
    found = corpus.side is Side.FOUND or (corpus.side is None and corpus.scores is not None)
    usual = "unknown" if found else "human annotation"
    tree = {
        "label_map": {str(number): name for number, name in enumerate(corpus.labels, start=1)},
        "info": {
            "schema_version": VERSION,
            "type": str(Side.FOUND if found else Side.TRUTH),
            "run_id": None,
            "model": {"name": corpus.model or usual},
            "coordinate_system": {"type": "normalized_xyxy", "range": [0.0, 1.0], "origin": "top_left"},
        },
        "documents": [{"doc_id": str(name), "doc_name": str(name), "doc_path": str(name)} for name in corpus.documents],
        "predictions": [_page(corpus, page, items, found) for page, items in by_page(corpus)],
    }
    return {"": dumped(tree)}


def _page(corpus: BoxCorpus, page: int, items: list[Traced], found: bool) -> dict[str, Any]:
    document, index = str(corpus.documents[corpus.page_document[page]]), int(corpus.page_index[page])
    return {
        "page_id": name_of(corpus, page) or f"{document}::p{index:03}",
        "doc_id": document,
        "page_index": index,
        "objects": [_object(item, number, found) for number, item in enumerate(items)],
    }


def _object(item: Traced, number: int, found: bool) -> dict[str, Any]:
    box = [min(max(value, 0.0), 1.0) if -1e-9 <= value <= 1 + 1e-9 else value for value in item.box]
    entry: dict[str, Any] = {"id": item.id or f"o{number}", "label": item.label, "bbox": box}
    return {**entry, "score": item.score} if found else entry
