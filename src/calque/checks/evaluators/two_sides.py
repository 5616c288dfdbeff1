"""The two sides of a case as an evaluator sees them, one value or a batch each, and which item is compared with which."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypeAlias, TypeVar

from calque.checks.evaluators import settings
from calque.checks.evaluators.outcome import SLACK, Outcome, Ranges, Status, unusable
from calque.checks.evaluators.paths import Gathered, Missing, Path
from calque.checks.shapes.coordinates import BadValue, plain
from calque.kernels.assignment import assign

if TYPE_CHECKING:
    from calque.base.columns import Floats


Item = TypeVar("Item")
Rings: TypeAlias = list[list[tuple[float, float]]]
"""Shapes as people draw them; a ring of one point is a point."""


@dataclass(frozen=True, kw_only=True)
class GeometricCheck:
    """What evaluators of boxes and of points have in common: where to look on both sides, and from where on a case passes."""

    name: str
    weight: float
    found_path: Path
    truth_path: Path
    threshold: float | None
    ranges: Ranges
    page_size: tuple[float, float] | None
    page_size_path: Path | None

    def shapes(self, output: Any, expected: Any) -> dict[str, Rings]:  # noqa: ARG002  # each kind finds its own
        """What can be drawn of both sides, as rings of points; nothing of what cannot be read."""
        return {}

    def page_size_of(self, expected: Any) -> tuple[float, float] | None:
        """Return width and height of the page; `BadValue` when the expected data should have them and does not."""
        if self.page_size_path is None:
            return self.page_size
        found = self.page_size_path.find(plain(expected))
        if isinstance(found, Missing):
            raise BadValue(f"page_size_path: {found}")
        try:
            return settings.page_size(plain(found))
        except ValueError as error:
            raise BadValue(str(error)) from None

    def renamed(self, name: str) -> Self:
        """The same evaluator under another name."""
        return replace(self, name=name)


def common_settings(type: str, item: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `GeometricCheck`, from settings whose paths are named after the item: ``bbox_path``, ``point_path``."""
    return {
        "name": values["name"] or type,
        "found_path": values[f"{item}_path"],
        "truth_path": values[f"expected_{item}_path"],
        "ranges": values["verdict_ranges"],
        **{key: values[key] for key in ("weight", "threshold", "page_size", "page_size_path")},
    }


@dataclass(frozen=True, slots=True)
class CaseSide(Generic[Item]):
    """What a path led to on one side of a case."""

    name: str
    """``output`` or ``expected``."""
    items: Sequence[Item | BadValue]
    batch: bool

    def usable(self) -> list[int]:
        """The positions of the items that could be read."""
        return [position for position, item in enumerate(self.items) if not isinstance(item, BadValue)]

    def complaints(self) -> list[str]:
        """What is wrong with items that could not be read, each with its place."""
        bad = [(position, item) for position, item in enumerate(self.items) if isinstance(item, BadValue)]
        return [f"{self.name}[{position}]: {item}" if self.batch else f"{self.name}: {item}" for position, item in bad]


def look_up(
    name: str, path: Path, data: Any, read: Callable[[Any], Item], is_batch: Callable[[Any], bool]
) -> CaseSide[Item] | Missing:
    """The side of a case that a path leads to."""
    value = path.find(plain(data))
    if type(value) is not list:  # most values are
        if isinstance(value, Missing):
            return value
        if isinstance(value, Gathered):
            return CaseSide(name, [_read(item, read) for item in value.items], batch=True)
        value = plain(value)
    if is_batch(value):
        return CaseSide(name, [_read(item, read) for item in value], batch=True)
    return CaseSide(name, [_read(value, read)], batch=False)


def _read(value: Any, read: Callable[[Any], Item]) -> Item | BadValue:
    if isinstance(value, Missing):
        return BadValue(str(value))
    try:
        return read(plain(value))
    except BadValue as error:
        return error


def rings_of(sides: Mapping[str, CaseSide[Item] | Missing], ring: Callable[[Item], Rings]) -> dict[str, Rings]:
    """What can be drawn of each side."""
    return {
        name: [points for item in side.items if not isinstance(item, BadValue) for points in ring(item)]
        for name, side in sides.items()
        if not isinstance(side, Missing)
    }


def nothing_there(output: Any, expected: Any, metadata: Mapping[str, Any]) -> Outcome:
    """The outcome when a path leads nowhere on some side; a missing expected value is the author's error, not the model's."""
    misses = [f"{side}: {found}" for side, found in (("output", output), ("expected", expected)) if isinstance(found, Missing)]
    blame = Status.ERROR if isinstance(expected, Missing) else Status.OK
    return unusable(misses, "; ".join(misses), metadata, status=blame)


Matching = Literal["hungarian", "index", "max_matches"]
MATCHINGS: tuple[Matching, ...] = ("hungarian", "index", "max_matches")


def pair_up(scores: Floats, matching: Matching, match_threshold: float) -> list[tuple[int, int]]:
    """Pairs of rows and columns, by row.

    ``hungarian`` makes the total as large as possible; ``max_matches`` first the number of pairs at or above the
    threshold, then the total.

    >>> import numpy as np
    >>> scores = np.array([[0.6, 0.2], [0.55, 0.0]])
    >>> pair_up(scores, "hungarian", 0.5), pair_up(scores, "max_matches", 0.2)
    ([(0, 1), (1, 0)], [(0, 1), (1, 0)])
    """
    if matching == "max_matches":
        scores = scores + (min(scores.shape) + 1) * (scores >= match_threshold - SLACK)
    rows, columns = assign(scores)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))
