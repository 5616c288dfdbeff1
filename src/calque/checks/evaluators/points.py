"""The ``coordinate_distance`` evaluator: points, vectors and sets of points, one by one or in batches."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from calque.checks.evaluators import settings
from calque.checks.evaluators.outcome import LOGGER, Outcome, Status, Verdict, unusable, within
from calque.checks.evaluators.paths import Gathered, Missing, Path
from calque.checks.evaluators.settings import SHARED_KEYS, Complaints, Key, Keys, choice
from calque.checks.evaluators.two_sides import (
    CaseSide,
    GeometricCheck,
    Rings,
    common_settings,
    look_up,
    nothing_there,
    pair_up,
    rings_of,
)
from calque.checks.shapes.coordinates import BadValue, is_list, number, numbers, shown
from calque.checks.shapes.distances import METRICS, Metric

TYPE = "coordinate_distance"
INVALID = "Invalid coordinates"
SIGMA = 0.05
"""A keypoint's spread where none is given: between COCO's eyes and its elbows."""
SCORINGS: Mapping[str, Callable[[float, float], float]] = {
    "binary": lambda _distance, _threshold: 0.0,
    "linear": lambda distance, threshold: max(0.0, 2.0 - distance / threshold) if threshold else 0.0,
    "exponential": lambda distance, threshold: math.exp(1.0 - distance / threshold) if threshold else 0.0,
}
"""What is left of a score beyond the threshold; up to it the score is 1."""

_metric = settings.one_of(METRICS, "Invalid distance metric", "valid metrics are")


def _sigmas(value: Any) -> tuple[float, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"sigmas must be a list of numbers, not {shown(value)}")
    positive = settings.between("sigmas", 0.0, math.inf, open_low=True)
    return tuple(positive(item) for item in value)


KEYS = Keys(
    TYPE,
    (
        *SHARED_KEYS,
        Key("point_path", settings.path, settings.PATH_SCHEMA, "where the output has the point or points", required=True),
        Key("expected_point_path", settings.path, settings.PATH_SCHEMA, "where the expected data has them", required=True),
        Key("metric", _metric, {"enum": list(METRICS), "default": "euclidean"}, "how distance is measured", "euclidean"),
        Key(
            "threshold",
            settings.between("threshold", 0.0, math.inf),
            {"type": "number", "minimum": 0},
            "distance up to which a point passes",
        ),
        choice("scoring", SCORINGS, "binary", "what a point beyond the threshold still scores"),
        choice("matching", ("index", "hungarian"), "index", "in a batch: which point is compared with which"),
        choice("normalize", ("none", "diagonal"), "none", "divide distances by the diagonal of the page"),
        Key("area_path", settings.path, settings.PATH_SCHEMA, "for oks: where the expected data has the area of the object"),
        Key(
            "sigmas",
            _sigmas,
            {"type": "array", "items": {"type": "number", "exclusiveMinimum": 0}, "minItems": 1},
            "for oks: the spread of each keypoint",
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class _Distance:
    """The distance of one pair, or why there is none."""

    value: float | None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class PointCheck(GeometricCheck):
    """Compares points by how far they are apart."""

    metric: Metric
    scoring: str
    matching: str
    by_diagonal: bool
    area_path: Path | None
    sigmas: tuple[float, ...] | None

    @classmethod
    def from_config(cls, raw: Mapping[str, Any], complaints: Complaints) -> PointCheck:
        """The evaluator that the settings describe; what is wrong with them goes to the complaints."""
        values = KEYS.read(raw, complaints)
        metric, threshold = METRICS[values["metric"]], values["threshold"]
        by_diagonal = values["normalize"] == "diagonal"
        if threshold is not None and threshold > metric.limit:
            complaints.add(raw, "threshold", f"threshold must be in [0, {metric.limit:g}] for {metric.name}, not {threshold:g}")
        if by_diagonal and values["page_size"] is None and values["page_size_path"] is None:
            complaints.add(raw, "normalize", "normalize: diagonal needs page_size or page_size_path")
        if metric.name == "oks" and values["area_path"] is None:
            complaints.add(raw, "metric", "oks needs area_path")
        if threshold is None:
            if values["scoring"] != "binary":
                complaints.add(raw, "scoring", f"scoring: {values['scoring']} needs a threshold")
            LOGGER.warning("%s has no threshold: scores are graded by distance", values["name"] or TYPE)
        return cls(
            **common_settings(TYPE, "point", values),
            metric=metric,
            scoring=values["scoring"],
            matching=values["matching"],
            by_diagonal=by_diagonal,
            area_path=values["area_path"],
            sigmas=values["sigmas"],
        )

    def evaluate(self, output: Any, expected: Any) -> Outcome:
        """What this evaluator says of a case. Bad data never raises: it scores 0 and says why."""
        read, batch = (_points, _is_batch_of_sets) if self.metric.of_sets else (_point, _is_batch)
        found = look_up("output", self.found_path, output, read, batch)
        truth = look_up("expected", self.truth_path, expected, read, batch)
        if isinstance(truth, Missing):
            return nothing_there(found, truth, self._metadata(None))
        try:
            diagonal = self._diagonal(expected) if self.by_diagonal else 1.0
            areas = self._areas(expected, len(truth.items)) if self.metric.name == "oks" else []
        except BadValue as error:
            return unusable([INVALID], f"expected: {error}", self._metadata(None), status=Status.ERROR)
        if isinstance(found, Missing):
            return nothing_there(found, truth, self._metadata(None))
        measured = self._distances(found, truth, diagonal, areas)
        if found.batch or truth.batch:
            return self._batch(found, truth, measured)
        return self._single(truth, measured[0])

    def shapes(self, output: Any, expected: Any) -> dict[str, Rings]:
        """The points of both sides, as far as they lie in a plane."""
        read, batch = (_points, _is_batch_of_sets) if self.metric.of_sets else (_point, _is_batch)
        sides = {
            "found": look_up("output", self.found_path, output, read, batch),
            "truth": look_up("expected", self.truth_path, expected, read, batch),
        }
        return rings_of(sides, _dots)

    def _metadata(self, distance: float | None) -> dict[str, Any]:
        return {"distance": distance, "metric": self.metric.name, "threshold": self.threshold}

    def _single(self, truth: CaseSide[Any], measured: _Distance) -> Outcome:
        metadata = self._metadata(measured.value)
        if measured.value is None:
            blame = Status.ERROR if truth.complaints() else Status.OK
            return unusable([INVALID], measured.reason, metadata, status=blame)
        score, verdict = self._score(measured.value), self._verdict(measured.value)
        said = f"{self.metric.name} distance {measured.value:.6g}"
        if self.threshold is None:
            return Outcome(score, verdict, *_graded(verdict, said, score), f"{said}: {verdict}, no threshold", metadata)
        fine = verdict is Verdict.PASS
        hits = [f"point within {self.threshold:g}"] if fine else []
        misses = [] if fine else [f"point beyond {self.threshold:g}: {said}"]
        return Outcome(score, verdict, hits, misses, f"{said}: {verdict}, threshold {self.threshold:g}", metadata)

    def _score(self, distance: float) -> float:
        if self.threshold is None:
            return max(0.0, 1.0 - distance) if self.metric.limit < math.inf else 1.0 / (1.0 + distance)
        return 1.0 if within(distance, self.threshold) else SCORINGS[self.scoring](distance, self.threshold)

    def _verdict(self, distance: float) -> Verdict:
        if self.threshold is None:
            return self.ranges.verdict(self._score(distance))
        return Verdict.PASS if within(distance, self.threshold) else Verdict.FAIL

    def _batch(self, found: CaseSide[Any], truth: CaseSide[Any], measured: Sequence[_Distance]) -> Outcome:
        size = max(len(found.items), len(truth.items))
        known = [distance.value for distance in measured if distance.value is not None]
        passes = sum(self._verdict(value) is Verdict.PASS for value in known)
        score = math.fsum(self._score(value) for value in known) / size if size else 1.0
        metadata = {
            "distances": [distance.value for distance in measured],
            "passes": passes,
            "fails": size - passes,
            "metric": self.metric.name,
            "threshold": self.threshold,
        }
        complaints = [*found.complaints(), *truth.complaints()]
        if complaints:
            LOGGER.error("%s: %s", self.name, "; ".join(complaints))
        reasoning = "; ".join([*complaints, f"{passes} of {size} points {self._standard()}"])
        verdict = self._batch_verdict(score, passes, size, one_sided=not found.items or not truth.items)
        hits = [f"{passes} of {size} points {self._standard()}"] if passes or not size else []
        misses = [f"point {place}: {self._failing(one)}" for place, one in enumerate(measured) if not self._passes(one)]
        status = Status.ERROR if truth.complaints() else Status.OK
        return Outcome(score, verdict, hits, misses, reasoning, metadata, status)

    def _standard(self) -> str:
        return f"within {self.threshold:g}" if self.threshold is not None else f"score {self.ranges.pass_from:g} or more"

    def _passes(self, measured: _Distance) -> bool:
        return measured.value is not None and self._verdict(measured.value) is Verdict.PASS

    def _failing(self, measured: _Distance) -> str:
        return measured.reason if measured.value is None else f"{self.metric.name} distance {measured.value:.6g}"

    def _batch_verdict(self, score: float, passes: int, size: int, *, one_sided: bool) -> Verdict:
        if size and one_sided:
            return Verdict.FAIL
        if self.threshold is None:
            return self.ranges.verdict(score)
        if passes == size:
            return Verdict.PASS
        return Verdict.PARTIAL if passes else Verdict.FAIL

    def _distances(
        self, found: CaseSide[Any], truth: CaseSide[Any], diagonal: float, areas: Sequence[float]
    ) -> list[_Distance]:
        """One distance for each place of the longer side."""

        def measure(i: int, j: int) -> _Distance:
            return self._distance(found, truth, i, j, diagonal, areas)

        size = max(len(found.items), len(truth.items))
        if self.matching == "hungarian" and (found.batch or truth.batch):
            partner = self._closest(found, truth, measure)
            # Output by output; the places after the last output stand for what was expected and has no partner.
            pairs: list[tuple[int, int | None]] = [(i, partner.get(i)) for i in range(size)]
        else:
            pairs = [(i, i if i < len(truth.items) else None) for i in range(size)]
        return [
            measure(i, j) if i < len(found.items) and j is not None else _Distance(None, "no partner on the other side")
            for i, j in pairs
        ]

    def _closest(self, found: CaseSide[Any], truth: CaseSide[Any], measure: Callable[[int, int], _Distance]) -> dict[int, int]:
        """The pairing with the smallest total distance among points that can be compared."""
        import numpy as np

        rows, columns = found.usable(), truth.usable()
        values = [[measure(i, j).value for j in columns] for i in rows]
        largest = max((value for row in values for value in row if value is not None), default=0.0)
        if largest > 2.0**900:  # totals would be larger than any number
            values = [[None if value is None else math.ldexp(value, -900) for value in row] for row in values]
            largest = math.ldexp(largest, -900)
        # What cannot be compared is farther than any pairing of what can.
        far = (largest + 1.0) * (min(len(rows), len(columns)) + 1)
        matrix = np.array([[far if value is None else value for value in row] for row in values]).reshape(
            len(rows), len(columns)
        )
        return {rows[i]: columns[j] for i, j in pair_up(-matrix, "hungarian", 0.0)}

    def _distance(
        self, found: CaseSide[Any], truth: CaseSide[Any], i: int, j: int, diagonal: float, areas: Sequence[float]
    ) -> _Distance:
        first, second = found.items[i], truth.items[j]
        if isinstance(first, BadValue) or isinstance(second, BadValue):
            bad = [f"{side}: {item}" for side, item in (("output", first), ("expected", second)) if isinstance(item, BadValue)]
            return _Distance(None, "; ".join(bad))
        mismatch = self._mismatch(first, second)
        if mismatch:
            return _Distance(None, mismatch)
        distance = self.metric.distance
        if self.metric.name == "oks":
            distance = partial(distance, area=areas[j], sigmas=self.sigmas or [SIGMA] * len(second))
        value = distance(first, second)
        if value is None:
            return _Distance(None, f"the {self.metric.name} distance of {shown(first)} and {shown(second)} is undefined")
        value /= diagonal
        if not math.isfinite(value):
            return _Distance(None, f"the distance of {shown(first)} and {shown(second)} is larger than any number")
        return _Distance(value)

    def _mismatch(self, found: Any, truth: Any) -> str:
        if not self.metric.of_sets:
            if len(found) != len(truth):
                return f"dimension mismatch: the output has {len(found)} dimensions, expected are {len(truth)}"
            return ""
        if self.metric.name == "oks":
            if len(found) != len(truth):
                return f"the output has {len(found)} keypoints, expected are {len(truth)}"
            if self.sigmas is not None and len(self.sigmas) != len(truth):
                return f"there are {len(self.sigmas)} sigmas for {len(truth)} keypoints"
            flat = [point for point in (*found, *truth) if len(point) not in {2, 3}]
            return f"dimension mismatch: {shown(flat[0])} is not [x, y] or [x, y, visibility]" if flat else ""
        sizes = sorted({len(point) for point in (*found, *truth)})
        return f"dimension mismatch: points have {' and '.join(map(str, sizes))} dimensions" if len(sizes) > 1 else ""

    def _diagonal(self, expected: Any) -> float:
        size = self.page_size_of(expected)
        assert size is not None  # noqa: S101  # from_config has seen to it
        return math.hypot(*size)

    def _areas(self, expected: Any, count: int) -> list[float]:
        """The area of each expected object: one number for all, or one each."""
        assert self.area_path is not None  # noqa: S101  # from_config has seen to it
        value = self.area_path.find(expected)
        if isinstance(value, Missing):
            raise BadValue(str(value))
        listed = value.items if isinstance(value, Gathered) else value
        if not is_list(listed):
            return [number(listed)] * count
        if len(listed) != count:
            raise BadValue(f"there are {len(listed)} areas for {count} objects")
        return numbers(listed)


def _graded(verdict: Verdict, said: str, score: float) -> tuple[list[str], list[str]]:
    text = f"{said} scores {score:.4g}"
    return ([text], []) if verdict is Verdict.PASS else ([], [text])


def _point(value: Any) -> list[float]:
    if not is_list(value):
        raise BadValue(f"{shown(value)} is not a point")
    if not value:
        raise BadValue("a point needs at least one coordinate")
    return numbers(value)


def _points(value: Any) -> list[list[float]]:
    if not is_list(value) or not value:
        raise BadValue(f"{shown(value)} is not a set of points")
    return [_point(item) for item in value]


def _dots(item: Any) -> Rings:
    """The points of what was read, of a set all, as far as they lie in a plane."""
    return [[(point[0], point[1])] for point in (item if isinstance(item[0], list) else [item]) if len(point) >= 2]


def _is_batch(value: Any) -> bool:
    return is_list(value) and (not value or any(map(is_list, value)))


def _is_batch_of_sets(value: Any) -> bool:
    return is_list(value) and (not value or any(_is_batch(item) and item for item in value))
