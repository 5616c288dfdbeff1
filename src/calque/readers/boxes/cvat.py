"""CVAT for images: one XML file with all images, their boxes and outlines in pixels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from calque.base.errors import Severity
from calque.corpus.boxes import BoxCorpus
from calque.readers.boxes import page_names
from calque.readers.boxes.conventions import Rules, around, as_score
from calque.readers.boxes.objects import Rows, Traced, by_page, size_of
from calque.readers.sources.source import Source
from calque.readers.sources.xml_tree import attributes, children, escaped, line, name, number, root_name, root_of, shown

if TYPE_CHECKING:
    from lxml.etree import _Element

FORMAT = "cvat"
CARRIES = frozenset({"scores", "page sizes", "empty pages", "outlines", "turned boxes"})
SIDES = ("xtl", "ytl", "xbr", "ybr")
UNREAD = ("polyline", "points", "cuboid", "skeleton", "tag")
"""Shapes that have no box; they are counted and left out."""
OUTLINES = ("box", "polygon")
"""Shapes whose points are a ring."""
SCORES = ("score", "confidence")


def recognise(source: Source) -> bool:
    """Whether a file, or the first XML file of a folder, is CVAT's."""
    return root_name(source) == "annotations"


def load(source: Source, rules: Rules) -> BoxCorpus:
    """One page for each image, named by its file; masks and ellipses as the boxes around them."""
    rows = Rows(source.path, rules)
    for file in source.files(".xml"):
        where = f"{file.name}: " if source.is_folder else ""
        root = root_of(file)
        if name(root) != "annotations":
            rows.log.add("wrong-type", where + line(root), f"expected annotations of images, not <{name(root)}>")
            continue
        for image in children(root, "image"):
            _read_image(image, where, rows)
        for track in children(root, "track"):
            text = "a track of a video is not read"
            help = "export the task as CVAT for images"
            rows.log.add("track-unread", where + line(track), text, help=help, severity=Severity.LOSS)
    return rows.corpus(FORMAT)


def _read_image(image: _Element, where: str, rows: Rows) -> None:
    file = image.get("name") or image.get("id")
    if not file:
        rows.log.add("missing-key", where + line(image), "the <image> has neither name nor id")
        return
    width, height = number(image.get("width")), number(image.get("height"))
    size = None if width is None or height is None else (width, height)
    document, index = page_names.place(page_names.bare(file))
    page = rows.new_page(document, index, where + line(image), size=size)
    for shape in image:
        _read(shape, where + line(shape), page, rows)


def _read(shape: _Element, where: str, page: int, rows: Rows) -> None:
    kind = name(shape)
    if kind in UNREAD:
        rows.log.add("region-type", where, f"a <{kind}> has no box and was left out", severity=Severity.LOSS)
        return
    if kind not in _POINTS:
        return
    points = _POINTS[kind](shape)
    if points is None:
        rows.log.add("box-shape", where, f"the <{kind}> lacks a number that says where it is")
        return
    said = {child.get("name"): child.text for child in children(shape, "attribute")}
    score = next((value for key in SCORES if (value := said.get(key) or shape.get(key))), None)
    drawn = points if len(points) > 4 and kind in OUTLINES else []
    box = points if len(points) == 4 else around(points) if drawn else rows.around(points, where)
    rows.add(page, shape.get("label") or None, box, where, score=as_score(score, number(score)), outline=drawn)


def _numbers(shape: _Element, *keys: str) -> list[float] | None:
    values = [number(shape.get(key)) for key in keys]
    return None if None in values else [value for value in values if value is not None]


def _box(shape: _Element) -> list[float] | None:
    """Two corners; those of a turned box, which turns clockwise about its centre, are four."""
    sides = _numbers(shape, *SIDES)
    angle = math.radians((number(shape.get("rotation")) or 0.0) % 360)
    if sides is None or not angle:
        return sides
    left, top, right, bottom = sides
    x, y = (left + right) / 2, (top + bottom) / 2
    points: list[float] = []
    for across, down in ((left - x, top - y), (right - x, top - y), (right - x, bottom - y), (left - x, bottom - y)):
        points += [x + across * math.cos(angle) - down * math.sin(angle), y + across * math.sin(angle) + down * math.cos(angle)]
    return points


def _polygon(shape: _Element) -> list[float] | None:
    values = [number(part) for part in (shape.get("points") or "").replace(";", ",").split(",")]
    if None in values or len(values) < 6 or len(values) % 2:
        return None
    return [value for value in values if value is not None]


def _mask(shape: _Element) -> list[float] | None:
    """The corners of a mask's box with a point between: it is an outline, of which only the box is read."""
    sides = _numbers(shape, "left", "top", "width", "height")
    if sides is None:
        return None
    x, y, width, height = sides
    return [x, y, x + width / 2, y, x + width, y + height]


def _ellipse(shape: _Element) -> list[float] | None:
    """The points where an ellipse, turned clockwise about its centre, reaches furthest."""
    sides = _numbers(shape, "cx", "cy", "rx", "ry")
    if sides is None:
        return None
    x, y, across, down = sides
    angle = math.radians(number(shape.get("rotation")) or 0.0)
    wide = math.hypot(across * math.cos(angle), down * math.sin(angle))
    high = math.hypot(across * math.sin(angle), down * math.cos(angle))
    return [x - wide, y, x, y - high, x + wide, y, x, y + high]


_POINTS = {"box": _box, "polygon": _polygon, "mask": _mask, "ellipse": _ellipse}
"""For each shape that is read the numbers that say where it is: two corners, or the points of an outline."""


def write(corpus: BoxCorpus) -> dict[str, bytes]:
    """The corpus (corners in pixels) as one file; a score is an attribute of its box."""
    stems = page_names.stems(corpus)
    labels = "".join(f"<label><name>{escaped(label)}</name></label>" for label in corpus.labels)
    lines = ['<?xml version="1.0" encoding="utf-8"?>', "<annotations>", "  <version>1.1</version>"]
    lines.append(f"  <meta><task><mode>annotation</mode><labels>{labels}</labels></task></meta>")
    for page, items in by_page(corpus):
        size = size_of(corpus, page)
        width, height = (None, None) if size is None else (shown(size[0]), shown(size[1]))
        place = attributes(id=page, name=stems[page] + ".png", width=width, height=height)
        lines += [f"  <image{place}>", *map(_shape, items), "  </image>"]
    return {"": "\n".join([*lines, "</annotations>", ""]).encode()}


def _shape(item: Traced) -> str:
    place = dict(zip(SIDES, map(shown, item.box), strict=True))
    if item.outline:
        pairs = zip(item.outline[0::2], item.outline[1::2], strict=True)
        place = {"points": ";".join(f"{shown(across)},{shown(down)}" for across, down in pairs)}
    kind = "polygon" if item.outline else "box"
    shape = f"    <{kind}{attributes(label=item.label, source='manual', occluded=0, **place, z_order=0)}"
    return f"{shape}/>" if item.score is None else f'{shape}><attribute name="score">{item.score!r}</attribute></{kind}>'
