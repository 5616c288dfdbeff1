"""How numbers spell a box or a polygon, one function a format; a new format is one entry in the table at the end."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calque.checks.shapes.coordinates import BadValue, is_list, number, numbers, shown
from calque.checks.shapes.regions import Box, Point, Shape, region_of


@dataclass(frozen=True, slots=True)
class Format:
    """A way to write a shape."""

    name: str
    help: str
    read: Callable[[Any], Shape]
    """The shape that a value spells; `BadValue` when it spells none."""
    is_polygon: bool = False
    per_mille: bool = False
    """Whether coordinates run from 0 to 1000 over the page, whatever its size."""


def _four(value: Any) -> list[float]:
    if not is_list(value) or len(value) != 4:
        raise BadValue(f"{shown(value)} is not four numbers")
    return numbers(value)


def _corners(left: float, top: float, right: float, bottom: float) -> Box:
    if right < left or bottom < top:
        raise BadValue(f"the far corner ({right:g}, {bottom:g}) lies before the near one ({left:g}, {top:g})")
    return Box(left, top, right, bottom)


def _sized(left: float, top: float, width: float, height: float) -> Box:
    if width < 0 or height < 0:
        raise BadValue(f"the size {width:g} × {height:g} is negative")
    return Box(left, top, left + width, top + height)


def _xyxy(value: Any) -> Box:
    return _corners(*_four(value))


def _yxyx(value: Any) -> Box:
    top, left, bottom, right = _four(value)
    return _corners(left, top, right, bottom)


def _xywh(value: Any) -> Box:
    return _sized(*_four(value))


def _cxcywh(value: Any) -> Box:
    x, y, width, height = _four(value)
    return _sized(x - width / 2, y - height / 2, width, height)


def _per_mille(read: Callable[[Any], Box]) -> Callable[[Any], Box]:
    def checked(value: Any) -> Box:
        box = read(value)
        if box.left < 0 or box.top < 0 or box.right > 1000 or box.bottom > 1000:
            raise BadValue(f"{shown(value)} leaves the range 0 to 1000")
        return box

    return checked


def _polygon(value: Any) -> Shape:
    return region_of(_vertices(value))


def _quad(value: Any) -> Shape:
    points = _vertices(value)
    if len(points) == 5 and points[0] == points[-1]:
        points = points[:4]
    if len(points) != 4:
        raise BadValue(f"a quad has four corners, not {len(points)}")
    return region_of(points)


def _rotated(value: Any) -> Shape:
    """Centre, size and an angle in degrees that turns the x axis towards the y axis: clockwise on a page."""
    if not is_list(value) or len(value) != 5:
        raise BadValue(f"{shown(value)} is not five numbers (centre x, centre y, width, height, angle)")
    x, y, width, height, angle = numbers(value)
    if width < 0 or height < 0:
        raise BadValue(f"the size {width:g} × {height:g} is negative")
    cos, sin = _cos_sin(angle)
    half = ((-width / 2, -height / 2), (width / 2, -height / 2), (width / 2, height / 2), (-width / 2, height / 2))
    return region_of([(x + a * cos - b * sin, y + a * sin + b * cos) for a, b in half])


def _cos_sin(angle: float) -> tuple[float, float]:
    """Exact at right angles, where the usual functions are not."""
    quarter, rest = divmod(angle, 90.0)
    cos, sin = (1.0, 0.0) if rest == 0 else (math.cos(math.radians(rest)), math.sin(math.radians(rest)))
    turns = ((cos, sin), (-sin, cos), (-cos, -sin), (sin, -cos))
    return turns[int(quarter % 4)]


def _vertices(value: Any) -> list[Point]:
    """Vertices from pairs, or from a flat list of at least six numbers."""
    if not is_list(value):
        raise BadValue(f"{shown(value)} is not a list of vertices")
    if value and not any(is_list(item) for item in value):
        flat = numbers(value)
        if len(flat) < 6 or len(flat) % 2:
            raise BadValue(f"{len(flat)} numbers are not a polygon; it takes an even number from 6 on")
        return list(zip(flat[::2], flat[1::2], strict=True))
    return [_vertex(item) for item in value]


def _vertex(value: Any) -> Point:
    if not is_list(value) or len(value) != 2:
        raise BadValue(f"the vertex {shown(value)} is not two numbers")
    return number(value[0]), number(value[1])


FORMATS: Mapping[str, Format] = {
    format.name: format
    for format in (
        Format("xyxy", "left, top, right, bottom", _xyxy),
        Format("xywh", "left, top, width, height", _xywh),
        Format("polygon", "vertices [[x, y], ...] or a flat list of at least six numbers", _polygon, is_polygon=True),
        Format("cxcywh", "centre x, centre y, width, height", _cxcywh),
        Format("yxyx", "top, left, bottom, right", _yxyx),
        Format("quad", "four corners, as pairs or eight numbers", _quad, is_polygon=True),
        Format("rotated", "centre x, centre y, width, height, angle in degrees (clockwise on a page)", _rotated),
        Format("xyxy1000", "left, top, right, bottom in thousandths of the page", _per_mille(_xyxy), per_mille=True),
        Format("yxyx1000", "top, left, bottom, right in thousandths of the page", _per_mille(_yxyx), per_mille=True),
    )
}


def is_batch(value: Any, format: Format) -> bool:
    """Whether a value holds a list of shapes and not one: it is empty, or its items are shapes themselves."""
    if not is_list(value):
        return False
    if not value:
        return True
    if not format.is_polygon:
        return any(map(is_list, value))
    return any(is_list(item) and _is_shape(item) for item in value)


def _is_shape(item: Sequence[Any]) -> bool:
    """Whether an item of a polygon value is a polygon itself and not a vertex."""
    return any(is_list(part) for part in item) or len(item) >= 6
