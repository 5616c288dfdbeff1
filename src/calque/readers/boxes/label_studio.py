"""Label Studio's JSON export: tasks with annotations, rectangles and polygons in percent of the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from calque.base.errors import ContractError, Severity
from calque.corpus.boxes import BoxCorpus, Side, UnitId
from calque.readers.boxes import page_names
from calque.readers.boxes.conventions import Rules, around, as_score
from calque.readers.boxes.objects import Rows, Traced, by_page, size_of
from calque.readers.sources.json_tree import dumped, entries, identity, index, missing, number, pointer, shown, text
from calque.readers.sources.source import Source

FORMAT = "label-studio"
CARRIES = frozenset({"scores", "ids", "page sizes", "empty pages", "outlines", "turned boxes"})
SHAPES = {"rectanglelabels": "rectangle", "rectangle": "rectangle", "polygonlabels": "polygon", "polygon": "polygon"}
REGIONS = frozenset({"brush", "brushlabels", "ellipse", "ellipselabels", "keypoint", "keypointlabels", "vectorlabels"})
"""Regions that are no boxes; they are counted and left out."""


def looks_like(tree: Any) -> bool:
    """Whether parsed JSON is a list of tasks."""
    first = tree[0] if isinstance(tree, list) and tree else None
    return isinstance(first, Mapping) and "data" in first and bool(first.keys() & {"annotations", "predictions", "completions"})


def load(source: Source, rules: Rules) -> BoxCorpus:
    """The corpus of an export: one document for each task, its images as pages."""
    rows = Rows(source.path, rules)
    tasks = list(entries(source.tree, "", rows.log))
    keys = _keys([task for _, task in tasks], rules.side)
    annotated: set[int] = set()
    for where, task in tasks:
        document, first = _document(task)
        if document is None:
            missing(task, "id", where, "the id of a task", rows.log)
            continue
        pages = {rows.page(document, first + number_of) for number_of in range(_page_count(task))}
        rows.document(document)
        version = _version(task, keys, where, rows)
        if version is not None:
            annotated |= pages
            for place, result in _labelled(version, rows):
                _read(result, place, document, first, rows)
        elif keys != PREDICTED:
            rows.unannotated |= pages
            text_of = "the task has no annotation; its pages are left out"
            help = "annotate it; submit an annotation without regions if the page is empty"
            rows.log.add("not-annotated", where, text_of, help=help, severity=Severity.NOTE)
    rows.unannotated -= annotated.union(rows.page_of)
    return rows.corpus(FORMAT, units="normalized")


def _images(task: Mapping[str, Any]) -> list[str]:
    """The addresses of the task's images: a list for many pages, else the first string that looks like a file."""
    data = task.get("data")
    values = list(data.values()) if isinstance(data, Mapping) else []
    for value in values:
        if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            return list(value)
    return [value for value in values if isinstance(value, str) and "." in value and "\n" not in value][:1]


def _page_count(task: Mapping[str, Any]) -> int:
    return max(len(_images(task)), 1)


def _document(task: Mapping[str, Any]) -> tuple[UnitId | None, int]:
    """The document's id, and the number of its first page in this task."""
    images = _images(task)
    meta = task.get("meta")
    named = text(meta.get("file")) if isinstance(meta, Mapping) else None
    document, first = page_names.place(page_names.bare(images[0])) if images else (None, 0)
    return named or document or identity(task.get("id")), first


ANNOTATED, PREDICTED = ("annotations", "completions"), ("predictions",)


def _keys(tasks: list[Mapping[str, Any]], side: Side | None) -> tuple[str, ...]:
    """Return the keys whose entries are read, the same for all tasks of a file.

    Ground truth is in annotations, also if some tasks have none yet. Predictions are in ``predictions``, or in the annotations
    of a file in which no task has a prediction.
    """
    if side is Side.FOUND:
        return PREDICTED if any(task.get("predictions") for task in tasks) else ANNOTATED
    return ANNOTATED if any(key in task for task in tasks for key in ANNOTATED) else PREDICTED


def _version(
    task: Mapping[str, Any], keys: tuple[str, ...], where: str, rows: Rows
) -> list[tuple[str, Mapping[str, Any]]] | None:
    """Return the results of the annotation (or prediction) that stands for the task; `None` if it has none.

    A submitted annotation without results is an empty list: the page is empty. A skipped annotation (``was_cancelled``) does
    not count.
    """
    key = next((key for key in keys if task.get(key)), None)
    if key is None:
        return None
    versions = [
        (place, entry) for place, entry in entries(task[key], where + pointer(key), rows.log) if not entry.get("was_cancelled")
    ]
    if len(versions) > 1:
        message = f"the task has {len(versions)} {key}; the one marked as ground truth, or else the first, was read"
        rows.log.add("several-annotations", where, message, severity=Severity.NOTE)
    marked = [version for version in versions if version[1].get("ground_truth") is True]
    for place, entry in (marked or versions)[:1]:
        return list(entries(entry.get("result", []), place + pointer("result"), rows.log))
    return None


def _labelled(results: list[tuple[str, Mapping[str, Any]]], rows: Rows) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Regions with their labels: some projects keep shape and label in two results with one id."""
    labels = {entry.get("id"): found for _, entry in results if isinstance(entry.get("id"), str) and (found := _labels(entry))}
    for place, entry in results:
        kind = entry.get("type")
        if not isinstance(kind, str | None):
            missing(entry, "type", place, "the kind of a region", rows.log)
        elif kind in SHAPES or kind in REGIONS:
            own = _labels(entry) or (labels.get(entry["id"]) if isinstance(entry.get("id"), str) else None)
            yield place, {**entry, "labels": own or []}


def _labels(entry: Mapping[str, Any]) -> list[str]:
    value = entry.get("value")
    if not isinstance(value, Mapping):
        return []
    for key in ("rectanglelabels", "polygonlabels", "labels"):
        names = value.get(key)
        if isinstance(names, list) and names:
            return [name for name in names if isinstance(name, str) and name]
    return []


def _read(entry: Mapping[str, Any], where: str, document: UnitId, first: int, rows: Rows) -> None:
    if entry["type"] in REGIONS:
        message = f"a region of type {shown(entry['type'])} has no box and was left out"
        rows.log.add("region-type", where, message, severity=Severity.LOSS)
        return
    width, height = number(entry.get("original_width")), number(entry.get("original_height"))
    size = None if width is None or height is None else (width, height)
    box, outline = _box(entry, size)
    if box is None:
        rows.log.add("box-shape", where + pointer("value"), f"expected numbers in percent, not {shown(entry.get('value'))}")
        return
    page = rows.page(document, first + (index(entry.get("item_index", 0)) or 0), size=size)
    score = as_score(entry.get("score"), number(entry.get("score")))
    for label in entry["labels"] or [None]:
        rows.add(page, label, box, where, score=score, id=text(entry.get("id")) or "", outline=outline)


def _box(entry: Mapping[str, Any], size: tuple[float, float] | None) -> tuple[list[float] | None, list[float]]:
    """Corners in shares of the page, and the outline of what is no upright rectangle."""
    value = entry.get("value")
    if not isinstance(value, Mapping):
        return None, []
    if SHAPES[entry["type"]] == "polygon":
        points = value.get("points")
        pairs = points if isinstance(points, list) and all(isinstance(p, list) and len(p) == 2 for p in points) else []
        read = [number(part) for pair in pairs for part in pair]
        outline = [part / 100 for part in read if part is not None]
        return (around(outline), outline) if len(read) >= 6 and None not in read else (None, [])
    sides = [number(value.get(key)) for key in ("x", "y", "width", "height")]
    if None in sides:
        return None, []
    # Divided, then added, as Label Studio's own converters do: the bits are the same.
    x, y, width, height = (side / 100 for side in sides if side is not None)
    turned = number(value.get("rotation")) or 0.0
    if turned % 360 == 0 or not math.isfinite(turned):
        return [x, y, x + width, y + height], []
    outline = _turned([x, y, width, height], math.radians(turned), size or (1.0, 1.0))
    return around(outline), outline


def _turned(box: list[float], angle: float, size: tuple[float, float]) -> list[float]:
    """The corners of a rectangle turned clockwise about its top left corner; turning happens in pixels, not in percent."""
    x, y, width, height = (value * size[axis % 2] for axis, value in enumerate(box))
    points: list[float] = []
    for right, down in ((0.0, 0.0), (width, 0.0), (width, height), (0.0, height)):
        points += [(x + right * math.cos(angle) - down * math.sin(angle)) / size[0]]
        points += [(y + right * math.sin(angle) + down * math.cos(angle)) / size[1]]
    return points


MOST_PAGES = 100_000
"""Pages of one document that are listed; a number beyond it is no page of anything."""


def write(corpus: BoxCorpus) -> dict[str, bytes]:
    """The corpus (in shares of the page) as tasks: one for each document, predictions where there are scores."""
    tasks: dict[UnitId, dict[str, Any]] = {}
    kind = "predictions" if corpus.side is Side.FOUND else "annotations"
    last = [0] * len(corpus.documents)
    for place, number_of in zip(corpus.page_document.tolist(), corpus.page_index.tolist(), strict=True):
        last[place] = max(last[place], number_of)
    for document, number_of in zip(corpus.documents, last, strict=True):
        if number_of > MOST_PAGES:
            told = f"document {document!r} has page {number_of:,}, and Label Studio lists every page before it"
            raise ContractError.single("page-too-far", told, file=corpus.source, help="number the pages from 0")
        pages = [page_names.stem_of(document, place) + ".png" for place in range(number_of + 1)]
        data = {"id": len(tasks) + 1, "data": {"pages": pages}, "meta": {"file": str(document)}}
        tasks[document] = {**data, kind: [{"id": len(tasks) + 1, "result": []}]}
    for page, items in by_page(corpus):
        results = tasks[corpus.documents[corpus.page_document[page]]][kind][0]["result"]
        results += [_result(item, f"{page}-{number_of}", size_of(corpus, page)) for number_of, item in enumerate(items)]
    return {"": dumped(list(tasks.values()))}


def _result(item: Traced, usual: str, size: tuple[float, float] | None) -> dict[str, Any]:
    x, y, right, bottom = (100 * value for value in item.box)
    kind = "polygonlabels" if item.outline else "rectanglelabels"
    value: dict[str, Any] = {"x": x, "y": y, "width": right - x, "height": bottom - y, "rotation": 0, kind: [item.label]}
    if item.outline:
        ring = [100 * number for number in item.outline]
        value = {
            "points": [list(pair) for pair in zip(ring[0::2], ring[1::2], strict=True)],
            "closed": True,
            kind: [item.label],
        }
    entry: dict[str, Any] = {"id": item.id or usual, "type": kind, "value": value, "item_index": item.index}
    if size is not None:
        entry |= {"original_width": size[0], "original_height": size[1]}
    return entry if item.score is None else {**entry, "score": item.score}
