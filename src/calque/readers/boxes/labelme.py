"""LabelMe: one JSON file for each image, with shapes in pixels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from calque.base.errors import Severity
from calque.corpus.boxes import BoxCorpus
from calque.readers.boxes import page_names
from calque.readers.boxes.conventions import Rules, around, as_score
from calque.readers.boxes.objects import Rows, Traced, by_page, short, size_of
from calque.readers.sources.json_tree import dumped, entries, number, pointer, shown, text
from calque.readers.sources.source import Source

FORMAT = "labelme"
CARRIES = frozenset({"scores", "ignored objects", "page sizes", "empty pages", "outlines", "turned boxes"})
FEWEST = {"rectangle": 2, "mask": 2, "circle": 2, "polygon": 3, "oriented_rectangle": 3}
"""The shapes that are read, and how many points each has at least; any other has no box, is counted and left out."""

OUTLINES = ("polygon", "oriented_rectangle")
"""Those whose points are a ring."""


def looks_like(tree: Any) -> bool:
    """Whether parsed JSON has shapes on an image."""
    return isinstance(tree, Mapping) and isinstance(tree.get("shapes"), list) and bool(tree.keys() & {"imagePath", "imageData"})


def recognise(source: Source) -> bool:
    """Whether a file, or the first JSON file of a folder, is LabelMe's."""
    return source.begins_with(looks_like)


def load(source: Source, rules: Rules) -> BoxCorpus:
    """One page for each file, named by the file; masks and circles as the boxes around them."""
    rows = Rows(source.path, rules)
    for file in source.files(".json"):
        where = f"{file.name}: " if source.is_folder else ""
        if not isinstance(file.tree, Mapping):
            rows.log.add("wrong-type", where, f"expected an object with shapes, not {shown(file.tree)}")
            continue
        width, height = number(file.tree.get("imageWidth")), number(file.tree.get("imageHeight"))
        size = None if width is None or height is None else (width, height)
        stem = file.stem or text(file.tree.get("imagePath")) or "image"
        page = rows.new_page(*page_names.place(page_names.bare(stem)), where, size=size)
        for place, shape in entries(file.tree.get("shapes"), where + pointer("shapes"), rows.log):
            _read(shape, place, page, rows)
    return rows.corpus(FORMAT)


def _read(shape: Mapping[str, Any], where: str, page: int, rows: Rows) -> None:
    kind = shape.get("shape_type") or "polygon"  # as the first versions, which knew no other
    if not isinstance(kind, str) or kind not in FEWEST:
        message = f"a shape of type {shown(kind)} has no box and was left out"
        rows.log.add("region-type", where, message, severity=Severity.LOSS)
        return
    points = _points(shape.get("points"))
    if points is None or len(points) < 2 * FEWEST[kind]:
        message = f"expected {FEWEST[kind]} points [x, y] or more, not {shown(shape.get('points'))}"
        rows.log.add("box-shape", where + pointer("points"), message)
        return
    rows.add(
        page,
        text(shape.get("label")) or None,
        _box(kind, points, where, rows),
        where,
        outline=points if kind in OUTLINES else (),
        score=as_score(shape.get("score"), number(shape.get("score"))),
        ignored=shape.get("difficult") is True,
    )


def _points(value: Any) -> list[float] | None:
    pairs = value if isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in value) else [[None]]
    values = [number(part) for pair in pairs for part in pair]
    return None if None in values else [part for part in values if part is not None]


def _box(kind: str, points: list[float], where: str, rows: Rows) -> list[float]:
    left, top, right, bottom = points[0], points[1], points[2], points[3]
    if kind == "circle":  # a centre, and a point of the rim
        radius = math.hypot(right - left, bottom - top)
        return rows.around([left - radius, top, left, top - radius, left + radius, top, left, top + radius], where)
    if kind == "rectangle" and len(points) == 4:  # two corners, in any order
        return [min(left, right), min(top, bottom), max(left, right), max(top, bottom)]
    return around(points) if kind in OUTLINES else rows.around(points, where)


def write(corpus: BoxCorpus) -> dict[str, bytes]:
    """The corpus (corners in pixels) as one file for each page."""
    stems = page_names.stems(corpus)
    return {stems[page] + ".json": _document(size_of(corpus, page), stems[page], items) for page, items in by_page(corpus)}


def _document(size: tuple[float, float] | None, stem: str, items: list[Traced]) -> bytes:
    width, height = (None, None) if size is None else (short(size[0]), short(size[1]))
    image = {"imagePath": f"{stem}.png", "imageData": None, "imageHeight": height, "imageWidth": width}
    return dumped({"version": "5.0.1", "flags": {}, "shapes": [_shape(item) for item in items], **image})


def _shape(item: Traced) -> dict[str, Any]:
    x, y, right, bottom = item.box
    ring = [[across, down] for across, down in zip(item.outline[0::2], item.outline[1::2], strict=True)]
    entry: dict[str, Any] = {"label": item.label, "points": ring or [[x, y], [right, bottom]], "group_id": None}
    entry |= {"description": "", "shape_type": "polygon" if ring else "rectangle", "flags": {}}
    optional = {"score": item.score, "difficult": item.ignored or None}
    return {**entry, **{key: value for key, value in optional.items() if value is not None}}
