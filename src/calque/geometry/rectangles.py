"""Single boxes as people write them in JSON: read, put in order and compared without any array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

Rectangle: TypeAlias = tuple[float, float, float, float, float | str | None]
"""Left, top, right, bottom, and the page if it is known."""

FORMS = ("xyxy", "xywh", "polygon")
"""How four or more numbers say where a box is."""

_NUMBERS = frozenset((int, float))
_FAR = 1e150
"""Coordinates beyond this would overflow an area."""


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
        if numeric and -_FAR < left <= right < _FAR and -_FAR < top <= bottom < _FAR:
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
        right, bottom = left + right, top + bottom
    return min(left, right), min(top, bottom), max(left, right), max(top, bottom), page


def _flat(value: Sequence[Any]) -> list[float] | None:
    """The finite numbers of a list, or of a list of points."""
    if value and all(isinstance(item, list | tuple) and len(item) == 2 for item in value):
        value = [number for point in value for number in point]
    fine = all(type(number) in _NUMBERS and -_FAR < number < _FAR for number in value)
    return list(value) if fine else None


def iou(first: Rectangle, second: Rectangle) -> float:
    """Intersection over union; 0.0 on different pages, and when neither box has an area.

    >>> iou((0, 0, 2, 2, None), (1, 0, 3, 2, None)), iou((0, 0, 2, 2, 1), (0, 0, 2, 2, 2))
    (0.3333333333333333, 0.0)
    """
    if first[4] != second[4] and first[4] is not None and second[4] is not None:
        return 0.0
    left, top, right, bottom, _ = first
    other_left, other_top, other_right, other_bottom, _ = second
    area = (right - left) * (bottom - top) + (other_right - other_left) * (other_bottom - other_top)
    # Spelled out: calls of min and max would take most of the time.
    width = (right if right < other_right else other_right) - (left if left > other_left else other_left)
    height = (bottom if bottom < other_bottom else other_bottom) - (top if top > other_top else other_top)
    common = width * height if width > 0 and height > 0 else 0.0
    union = area - common
    return common / union if union > 0 else 0.0


def centre(box: Rectangle) -> tuple[float, float]:
    """The middle of a box."""
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
