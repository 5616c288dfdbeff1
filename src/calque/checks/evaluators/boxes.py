"""The ``iou_score`` evaluator: boxes and polygons, one by one or in batches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calque.checks.evaluators import settings
from calque.checks.evaluators.outcome import LOGGER, Outcome, Status, Verdict, reaches, unusable
from calque.checks.evaluators.paths import Missing
from calque.checks.evaluators.settings import SHARED_KEYS, Complaints, Key, Keys, choice
from calque.checks.evaluators.two_sides import (
    MATCHINGS,
    CaseSide,
    GeometricCheck,
    Matching,
    Rings,
    common_settings,
    look_up,
    nothing_there,
    pair_up,
    rings_of,
)
from calque.checks.shapes.coordinates import BadValue
from calque.checks.shapes.formats import FORMATS, Format, is_batch
from calque.checks.shapes.overlap import MEASURES, Measure, Overlap, meeting, overlap, overlaps
from calque.checks.shapes.regions import Box, Region, Shape

TYPE = "iou_score"
INVALID = "Invalid bounding box format"
AGGREGATES = ("mean_iou", "f1", "precision", "recall")
_format = settings.one_of(FORMATS, "Invalid bbox format", "valid formats are")
_FORMAT_SCHEMA = {"enum": list(FORMATS)}

KEYS = Keys(
    TYPE,
    (
        *SHARED_KEYS,
        Key("bbox_path", settings.path, settings.PATH_SCHEMA, "where the output has the box or boxes", required=True),
        Key("expected_bbox_path", settings.path, settings.PATH_SCHEMA, "where the expected data has them", required=True),
        Key("format", _format, {**_FORMAT_SCHEMA, "default": "xyxy"}, "how boxes are written", "xyxy"),
        Key("expected_format", _format, _FORMAT_SCHEMA, "how expected boxes are written, if differently"),
        choice("metric", MEASURES, "iou", "how well two boxes fit"),
        Key("threshold", settings.fraction("threshold").check, settings.fraction("").schema, "score from which a case passes"),
        Key(
            "match_threshold",
            settings.fraction("match_threshold").check,
            settings.fraction("").schema,
            "in a batch: score from which a pair counts as found; the threshold by default, else 0.5",
        ),
        choice("matching", MATCHINGS, "hungarian", "in a batch: which box is compared with which"),
        choice("aggregate", AGGREGATES, "mean_iou", "in a batch: what becomes the score"),
        choice("on_invalid", ("repair", "reject"), "repair", "polygons that cross themselves"),
    ),
)


@dataclass(frozen=True, kw_only=True)
class BoxCheck(GeometricCheck):
    """Compares boxes by how much they overlap."""

    found_format: Format
    truth_format: Format
    measure: Measure
    match_threshold: float
    matching: Matching
    aggregate: str
    reject_crossing: bool

    @classmethod
    def from_config(cls, raw: Mapping[str, Any], complaints: Complaints) -> BoxCheck:
        """The evaluator that the settings describe; what is wrong with them goes to the complaints."""
        values = KEYS.read(raw, complaints)
        found_format = FORMATS[values["format"]]
        truth_format = FORMATS[values["expected_format"] or values["format"]]
        sized = values["page_size"] is not None or values["page_size_path"] is not None
        if found_format.per_mille != truth_format.per_mille and not sized:
            complaints.add(
                raw,
                "expected_format",
                f"{found_format.name} cannot be compared with {truth_format.name} without the size of the page",
                help="add page_size: [width, height] or page_size_path",
            )
        if values["threshold"] is not None and "verdict_ranges" in raw:
            LOGGER.warning("%s: verdict_ranges do nothing beside a threshold", values["name"] or TYPE)
        return cls(
            **common_settings(TYPE, "bbox", values),
            found_format=found_format,
            truth_format=truth_format,
            measure=MEASURES[values["metric"]],
            match_threshold=values["match_threshold"] or values["threshold"] or 0.5,
            matching=values["matching"],
            aggregate=values["aggregate"],
            reject_crossing=values["on_invalid"] == "reject",
        )

    def evaluate(self, output: Any, expected: Any) -> Outcome:
        """What this evaluator says of a case. Bad data never raises: it scores 0 and says why."""
        try:
            page = self._page(expected)
        except BadValue as error:
            return unusable([INVALID], f"expected: {error}", {}, status=Status.ERROR)
        found, truth = self._side("output", output, page), self._side("expected", expected, page)
        if isinstance(found, Missing) or isinstance(truth, Missing):
            return nothing_there(found, truth, {})
        if found.batch or truth.batch:
            return self._batch(found, truth)
        complaints = [*found.complaints(), *truth.complaints()]
        if complaints:
            return unusable([INVALID], "; ".join(complaints), {}, status=_blame(truth))
        return self._single(found.items[0], truth.items[0])  # type: ignore[arg-type]  # no complaint: both are shapes

    def shapes(self, output: Any, expected: Any) -> dict[str, Rings]:
        """The boxes and polygons of both sides."""
        try:
            page = self._page(expected)
        except BadValue:
            return {}
        sides = {"found": self._side("output", output, page), "truth": self._side("expected", expected, page)}
        return rings_of(
            sides, lambda shape: [list(ring) for ring in (shape.rings if isinstance(shape, Region) else [shape.corners])]
        )

    def _page(self, expected: Any) -> tuple[float, float] | None:
        """Return the size of the page, if boxes have to be converted to its units."""
        needed = self._converts(self.found_format) or self._converts(self.truth_format)
        return self.page_size_of(expected) if needed else None

    def _side(self, name: str, data: Any, page: tuple[float, float] | None) -> CaseSide[Shape] | Missing:
        path, format = (self.found_path, self.found_format) if name == "output" else (self.truth_path, self.truth_format)

        def read(value: Any) -> Shape:
            shape = format.read(value)
            if self.reject_crossing and isinstance(shape, Region) and shape.repaired:
                raise BadValue("the polygon crosses itself")
            return _on_page(shape, page) if self._converts(format) else shape

        return look_up(name, path, data, read, lambda value: is_batch(value, format))

    def _converts(self, format: Format) -> bool:
        return format.per_mille and not (self.found_format.per_mille and self.truth_format.per_mille)

    def _single(self, found: Shape, truth: Shape) -> Outcome:
        shared = overlap(found, truth)
        value = self.measure.value(found, truth, shared)
        score = min(max(value, 0.0), 1.0)
        verdict = self._verdict(score)
        metadata: dict[str, Any] = {
            "iou": shared.iou,
            "intersection_area": shared.area(shared.intersection),
            "union_area": shared.area(shared.union),
        }
        if self.measure.name != "iou":
            metadata |= {"metric": self.measure.name, self.measure.name: value}
        if isinstance(found, Region) or isinstance(truth, Region) or found.area == 0 or truth.area == 0:
            metadata |= _remarks({"output": [found], "expected": [truth]}, single=True)
        said = f"{self.measure.name} {score:.4g}"
        hits, misses = self._said(verdict, said)
        return Outcome(score, verdict, hits, misses, f"{said}: {verdict}, {self._limits()}", metadata)

    def _verdict(self, score: float) -> Verdict:
        if self.threshold is None:
            return self.ranges.verdict(score)
        return Verdict.PASS if reaches(score, self.threshold) else Verdict.FAIL

    def _limits(self) -> str:
        if self.threshold is not None:
            return f"threshold {self.threshold:g}"
        return f"no threshold (pass from {self.ranges.pass_from:g}, partial from {self.ranges.partial_from:g})"

    def _said(self, verdict: Verdict, said: str) -> tuple[list[str], list[str]]:
        limit = self.ranges.pass_from if self.threshold is None else self.threshold
        if verdict is Verdict.PASS:
            return [f"bbox matches above {limit:g}"], []
        if verdict is Verdict.PARTIAL:
            return [], [f"bbox matches in part: {said} is below {limit:g}"]
        low = self.ranges.partial_from if self.threshold is None else self.threshold
        return [], [f"bbox does not match: {said} is below {low:g}"]

    def _batch(self, found: CaseSide[Shape], truth: CaseSide[Shape]) -> Outcome:
        pairs = self._pairs(found, truth)
        counts = _Counts(len(found.items), len(truth.items), sum(reaches(pair.score, self.match_threshold) for pair in pairs))
        total = math.fsum(pair.score for pair in pairs)
        numbers = {
            "mean_iou": 1.0 if counts.empty else total / max(counts.found, counts.truth),
            "precision": counts.share(counts.found),
            "recall": counts.share(counts.truth),
            "f1": counts.f1,
        }
        score = numbers[self.aggregate]
        verdict = self._verdict(score) if counts.empty or (counts.found and counts.truth) else Verdict.FAIL
        metadata = {
            "ious": [pair.iou for pair in pairs],
            "pairs": [[pair.found, pair.truth, pair.score] for pair in pairs],
            "tp": counts.tp,
            "fp": counts.found - counts.tp,
            "fn": counts.truth - counts.tp,
            **{name: numbers[name] for name in ("precision", "recall", "f1")},
            "mean_iou": numbers["mean_iou"],
            "mean_iou_matched": total / len(pairs) if pairs else None,
            "mean_iou_truth": total / counts.truth if counts.truth else None,
            "match_threshold": self.match_threshold,
            "aggregate": self.aggregate,
        }
        if self.measure.name != "iou":
            metadata["metric"] = self.measure.name
        metadata |= _remarks({"output": found.items, "expected": truth.items}, single=False)
        return self._batch_outcome(score, verdict, metadata, pairs, counts, [*found.complaints(), *truth.complaints()], truth)

    def _batch_outcome(
        self,
        score: float,
        verdict: Verdict,
        metadata: dict[str, Any],
        pairs: Sequence[_Pair],
        counts: _Counts,
        complaints: list[str],
        truth: CaseSide[Shape],
    ) -> Outcome:
        hits, misses = self._said(verdict, f"{self.aggregate} {score:.4g}")
        missed = set(range(counts.truth))
        made_up = set(range(counts.found))
        for pair in pairs:
            if reaches(pair.score, self.match_threshold):
                hits.append(f"output[{pair.found}] matches expected[{pair.truth}]: {self.measure.name} {pair.score:.4g}")
                missed.discard(pair.truth)
                made_up.discard(pair.found)
        misses += [f"expected[{position}] was not found" for position in sorted(missed)]
        misses += [f"output[{position}] matches nothing" for position in sorted(made_up)]
        reasoning = (
            f"{counts.tp} of {counts.truth} expected found, {counts.found - counts.tp} more in the output; "
            f"{self.aggregate} {score:.4g}: {verdict}, {self._limits()}"
        )
        status = Status.OK
        if complaints:
            misses.insert(0, INVALID)
            reasoning = f"{'; '.join(complaints)}; {reasoning}"
            status = _blame(truth)
            LOGGER.error("%s: %s", self.name, "; ".join(complaints))
        return Outcome(score, verdict, hits, misses, reasoning, metadata, status)

    def _pairs(self, found: CaseSide[Shape], truth: CaseSide[Shape]) -> list[_Pair]:
        rows, columns = found.usable(), truth.usable()
        shapes: list[list[Any]] = [
            [side.items[place] for place in usable] for side, usable in ((found, rows), (truth, columns))
        ]
        if self.matching == "index":
            row, column = ({place: position for position, place in enumerate(usable)} for usable in (rows, columns))
            chosen = [(row[place], column[place]) for place in rows if place in column]
            candidates = chosen
        else:
            candidates = meeting(shapes[0], shapes[1])
        shared = overlaps(shapes[0], shapes[1], candidates)
        values = {(i, j): self._score(shapes[0][i], shapes[1][j], area) for (i, j), area in shared.items()}
        if self.matching != "index":
            chosen = pair_up(_matrix(values, len(rows), len(columns)), self.matching, self.match_threshold)
        return [
            _Pair(rows[i], columns[j], values.get((i, j), 0.0), shared[i, j].iou if (i, j) in shared else 0.0)
            for i, j in chosen
        ]

    def _score(self, found: Any, truth: Any, shared: Overlap) -> float:
        return min(max(self.measure.value(found, truth, shared), 0.0), 1.0)


def _on_page(shape: Shape, page: tuple[float, float] | None) -> Shape:
    """A box in thousandths of the page, in the page's own units."""
    assert page is not None and isinstance(shape, Box)  # noqa: S101, PT018  # from_config has seen to it
    width, height = page[0] / 1000, page[1] / 1000
    return Box(shape.left * width, shape.top * height, shape.right * width, shape.bottom * height)


@dataclass(frozen=True, slots=True)
class _Pair:
    found: int
    truth: int
    score: float
    iou: float


@dataclass(frozen=True, slots=True)
class _Counts:
    found: int
    truth: int
    tp: int

    @property
    def empty(self) -> bool:
        return self.found == self.truth == 0

    def share(self, whole: int) -> float:
        """Of nothing expected and nothing found all is right; else nothing of nothing counts 0."""
        if self.empty:
            return 1.0
        return self.tp / whole if whole else 0.0

    @property
    def f1(self) -> float:
        precision, recall = self.share(self.found), self.share(self.truth)
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _matrix(values: Mapping[tuple[int, int], float], height: int, width: int) -> Any:
    import numpy as np

    matrix = np.zeros((height, width))
    for key, value in values.items():
        matrix[key] = value
    return matrix


def _blame(truth: CaseSide[Shape]) -> Status:
    """A bad expected value is the author's error; a bad output is the model's failure."""
    return Status.ERROR if truth.complaints() else Status.OK


def _remarks(sides: Mapping[str, Sequence[Shape | BadValue]], *, single: bool) -> dict[str, Any]:
    """What a reader should know of the shapes: which have no area, which were repaired, which could not be read."""
    remarks: dict[str, list[str]] = {"degenerate": [], "repaired": [], "invalid": []}
    for side, items in sides.items():
        for position, item in enumerate(items):
            place = side if single else f"{side}[{position}]"
            if isinstance(item, BadValue):
                remarks["invalid"].append(place)
            elif isinstance(item, Region) and item.repaired:
                remarks["repaired"].append(place)
            elif item.area == 0:
                remarks["degenerate"].append(place)
    return {name: places for name, places in remarks.items() if places}
