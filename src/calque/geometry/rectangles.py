"""Single boxes, in plain Python: read as people write them in JSON, put in order and compared without any array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from calque.geometry.forms import FAR

Rectangle: TypeAlias = tuple[float, float, float, float, float | str | None]
"""Left, top, right, bottom, and the page if it is known."""
Corners: TypeAlias = tuple[float, float, float, float]
"""Left, top, right, bottom."""
Sized: TypeAlias = tuple[float, float, float, float]
"""Left, top, width, height."""

_NUMBERS = frozenset((int, float))


def rectangle(value: Any, form: str = "xyxy", page: float | str | None = None) -> Rectangle | None:
    """The box that a JSON value spells, or ``None`` when it spells none.

    Two corners in any order, nested or flat; a fifth number is the page. ``xywh`` is a corner and a size, ``polygon`` a
    list of points, of which the enclosing rectangle counts.

    >>> rectangle([[10, 20], [0, 5]])
    (0, 5, 10, 20, None)
    >>> rectangle([1, 2, 3, 4, 7]), rectangle([1, 2, float("nan"), 4])
    ((1, 2, 3, 4, 7), None)
    >>> rectangle([1, 2, 3, 4], "xywh"), rectangle([[0, 0], [4, 0], [2, 3]], "polygon")
    ((1, 2, 4, 6, None), (0, 0, 4, 3, None))
    """
    if type(value) is not list and type(value) is not tuple:
        return None
    if len(value) == 4 and form == "xyxy":
        # By far the most common: four numbers, corners in order.
        left, top, right, bottom = value
        numeric = type(left) in _NUMBERS and type(top) in _NUMBERS and type(right) in _NUMBERS and type(bottom) in _NUMBERS
        if numeric and -FAR < left <= right < FAR and -FAR < top <= bottom < FAR:
            return left, top, right, bottom, page
    numbers = _flat(value)
    if numbers is None:
        return None
    if form == "polygon" and len(numbers) >= 6 and len(numbers) % 2 == 0:
        across, down = numbers[0::2], numbers[1::2]
        return min(across), min(down), max(across), max(down), page
    return _corners(numbers, form, page)


def _corners(numbers: list[float], form: str, page: float | str | None) -> Rectangle | None:
    if len(numbers) == 5:
        page = numbers.pop()
    if len(numbers) != 4:
        return None
    left, top, right, bottom = numbers
    if form == "xywh":
        left, top, right, bottom = _corners_of_sized((left, top, right, bottom))
    return min(left, right), min(top, bottom), max(left, right), max(top, bottom), page


def _flat(value: Sequence[Any]) -> list[float] | None:
    """The finite numbers of a list, or of a list of points."""
    if value and all(isinstance(item, list | tuple) and len(item) == 2 for item in value):
        value = [number for point in value for number in point]
    fine = all(type(number) in _NUMBERS and -FAR < number < FAR for number in value)
    return list(value) if fine else None


def intersection(one: Corners | Rectangle, other: Corners | Rectangle) -> float:
    """The area that two boxes share; 0.0 where they only touch.

    >>> intersection((0, 0, 2, 2), (1, 0, 3, 2)), intersection((0, 0, 2, 2), (2, 0, 3, 2))
    (2, 0.0)
    """
    # Spelled out: calls of min and max would take most of the time.
    width = (one[2] if one[2] <= other[2] else other[2]) - (one[0] if one[0] >= other[0] else other[0])
    if not width > 0:
        return 0.0
    height = (one[3] if one[3] <= other[3] else other[3]) - (one[1] if one[1] >= other[1] else other[1])
    return width * height if height > 0 else 0.0


def share(part: float, whole: float) -> float:
    """``part / whole``, 0.0 where the whole is 0: a degenerate box shares nothing.

    >>> share(1, 4), share(0, 0)
    (0.25, 0.0)
    """
    return part / whole if whole > 0 else 0.0


def iou(one: Rectangle, other: Rectangle) -> float:
    """Intersection over union of two boxes with corners; 0.0 on different pages, and when neither box has an area.

    >>> iou((0, 0, 2, 2, None), (1, 0, 3, 2, None)), iou((0, 0, 2, 2, 1), (0, 0, 2, 2, 2))
    (0.3333333333333333, 0.0)
    """
    if one[4] != other[4] and one[4] is not None and other[4] is not None:
        return 0.0
    shared = intersection(one, other)
    if not shared > 0:
        return 0.0
    area = (one[2] - one[0]) * (one[3] - one[1]) + (other[2] - other[0]) * (other[3] - other[1])
    return share(shared, area - shared)


def iou_of_sized(one: Sized, other: Sized) -> float:
    """Intersection over union of two boxes with sizes, as pycocotools has it: areas are width times height as read.

    From the corners, which are rounded, the last bit of the areas could differ.

    >>> iou_of_sized((0, 0, 2, 2), (1, 0, 2, 2))
    0.3333333333333333
    """
    shared = intersection(_corners_of_sized(one), _corners_of_sized(other))
    return share(shared, one[2] * one[3] + other[2] * other[3] - shared)


def _corners_of_sized(box: Sized) -> Corners:
    return box[0], box[1], box[0] + box[2], box[1] + box[3]


def centre(box: Rectangle) -> tuple[float, float]:
    """The middle of a box."""
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
