"""What confidences are worth: discrimination, calibration, review budgets, and from where on to accept without review."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from calque.core.columns import Array, Codes, Flags, Floats, Ints, Table
from calque.core.measures import Undefined, counts, fraction_mean, fraction_sums
from calque.fields.book import class_of

BINS = 10
BUDGETS = (0.1, 0.3, 0.5)
SWEEP_POINTS = 200
"""How many points of the sweep a result lists at most; the operating point looks at all."""
CLASS_SWEEP_POINTS = 20
"""The same for each class."""


class Ranked(NamedTuple):
    """Rated fields from the least confident on. Equal ones stand by key in the order of its first row, then by row."""

    match: Flags
    """Whether the field is right."""
    confidence: Floats
    key: Codes

    @classmethod
    def of(cls, ratings: Table) -> Ranked:
        """The ratings of a ledger, ranked."""
        match, confidence, key = ratings.array("match"), ratings.array("confidence"), ratings.array("key")
        first = np.full(int(key.max(initial=0)) + 1, len(key))
        first[key[::-1]] = np.arange(len(key))[::-1]
        place = np.argsort(np.argsort(first, kind="stable"))
        grouped = by_code(place[key], len(place))
        order = grouped[np.argsort(confidence[grouped], kind="stable")]
        return cls(match[order], confidence[order], key[order])


def by_code(codes: Array, size: int) -> Ints:
    """The rows by code, those of one code in their order."""
    # Numbers of 16 bits are sorted by counting, in a moment.
    return np.argsort(codes.astype(np.uint16) if size <= 1 << 16 else codes, kind="stable").astype(np.int64)


def groups_of(codes: Array, names: Sequence[str]) -> dict[str, Ints]:
    """The rows of each name that has some, in their order."""
    rows = by_code(codes, len(names))
    bounds = np.searchsorted(codes[rows], np.arange(len(names) + 1))
    return {name: rows[start:end] for name, start, end in zip(names, bounds, bounds[1:], strict=False) if start < end}


def confidence_metrics(ranked: Ranked, keys: Sequence[str], fields_total: int) -> dict[str, Any]:
    """``confidence_metrics``: everything together and each key by itself, and how many fields have a confidence."""
    match, confidence, key = ranked
    fields = {name: metrics(match[rows], confidence[rows]) for name, rows in groups_of(key, keys).items()}
    return {
        "overall": metrics(match, confidence),
        "fields": fields,
        "coverage": {
            "fields_with_confidence": len(confidence),
            "fields_total": fields_total,
            "ratio": len(confidence) / fields_total if fields_total else 0.0,
        },
    }


def metrics(match: Flags, confidence: Floats) -> dict[str, Any]:
    """AUROC, Brier score, calibration error and error capture of some fields, here and below by rising confidence."""
    return {
        "auroc": {"value": auroc(match, confidence)},
        "brier_score": {"value": brier(match, confidence)},
        "ece": calibration_error(match, confidence),
        "error_capture_at_budget": error_capture(match),
    }


def auroc(match: Flags, confidence: Floats) -> float | Undefined:
    """How often a right field has a higher confidence than a wrong one; equal ones count half.

    >>> auroc(np.array([True, False, True]), np.array([0.5, 0.5, 0.9]))
    0.75
    """
    right, wrong = int(match.sum()), int((~match).sum())
    if not right or not wrong:
        return Undefined(
            "no confidences" if not len(match) else f"all {len(match):,} fields are {'right' if right else 'wrong'}"
        )
    last = last_of_level(confidence) + 1
    rights = np.diff(np.cumsum(match)[last - 1], prepend=0)
    # Twice the rank of each level, so that sums stay whole numbers.
    ranks = last + np.concatenate([[0], last[:-1]]) + 1
    return (int((ranks * rights).sum()) - right * (right + 1)) / (2 * right * wrong)


def last_of_level(confidence: Floats) -> Ints:
    """The last row of each distinct confidence."""
    return np.flatnonzero(np.append(confidence[1:] != confidence[:-1], len(confidence) > 0)).astype(np.int64)


def brier(match: Flags, confidence: Floats) -> float | Undefined:
    """The mean squared difference between confidence and outcome."""
    if not len(match):
        return Undefined("no confidences")
    return fraction_mean((confidence - match) ** 2)


def calibration_error(match: Flags, confidence: Floats) -> dict[str, Any]:
    """The mean distance between confidence and accuracy over equal bins, and the bins: the reliability curve."""
    if not len(match):
        return {"value": Undefined("no confidences"), "bins": []}
    edges = [(index + 1) / BINS for index in range(BINS)]
    place = np.minimum(np.searchsorted(edges, confidence, side="right"), BINS - 1)
    sizes, rights = counts(place, BINS).tolist(), counts(place[match], BINS).tolist()
    sums = fraction_sums(confidence, place, BINS).tolist()
    bins = []
    total = 0.0
    for index, (count, right, summed) in enumerate(zip(sizes, rights, sums, strict=True)):
        accuracy, mean = (right / count, summed / count) if count else (0.0, 0.0)
        total += count / len(match) * abs(accuracy - mean)
        bins.append({"range": [index / BINS, edges[index]], "count": count, "accuracy": accuracy, "mean_confidence": mean})
    return {"value": total, "bins": bins}


def error_capture(match: Flags) -> dict[str, Any]:
    """What share of the errors a review of the least confident fields finds, against a review of random ones."""
    errors = int((~match).sum())
    if not errors:
        return {"value": Undefined("no errors" if len(match) else "no confidences"), "budgets": {}}
    caught = np.cumsum(~match)
    budgets = {}
    for budget in BUDGETS:
        reviewed = max(1, int(len(match) * budget))
        share, random = int(caught[reviewed - 1]) / errors, reviewed / len(match)
        budgets[f"{budget:.2f}"] = {
            "fields_reviewed": reviewed,
            "errors_found": int(caught[reviewed - 1]),
            "pct_errors_caught": share,
            "pct_errors_random": random,
            "gain": share / random,
        }
    return {"value": budgets[f"{BUDGETS[len(BUDGETS) // 2]:.2f}"]["gain"], "budgets": budgets}


def sweep(match: Flags, confidence: Floats) -> dict[str, Array]:
    """For each confidence, from the highest: precision, recall and share of what is accepted from there on."""
    best_first, right = confidence[::-1], np.cumsum(match[::-1])
    last = last_of_level(best_first)
    accepted = last + 1
    total_right = int(match.sum())
    return {
        "confidence": best_first[last],
        "precision": right[last] / accepted,
        "recall": right[last] / total_right if total_right else np.zeros(len(last)),
        "accepted": accepted / max(len(match), 1),
    }


def acceptance(ranked: Ranked, keys: Sequence[str], target: float) -> dict[str, Any]:
    """From where on to accept without review, for everything together and for each class of fields by itself."""
    classes, code = np.unique([class_of(key) for key in keys], return_inverse=True)
    groups = groups_of(code[ranked.key], classes.tolist())
    whole = operating_point(ranked.match, ranked.confidence, target, SWEEP_POINTS)
    fields = {
        name: operating_point(ranked.match[rows], ranked.confidence[rows], target, CLASS_SWEEP_POINTS)
        for name, rows in groups.items()
    }
    return {"target_precision": target, **whole, "fields": fields}


def operating_point(match: Flags, confidence: Floats, target: float, most: int) -> dict[str, Any]:
    """The lowest confidence that keeps the target precision for all that is accepted, in words too, and the sweep."""
    curve = sweep(match, confidence)
    size = len(curve["confidence"])
    shown = range(size) if size <= most else np.linspace(0, size - 1, most).astype(np.int64).tolist()
    points = [{name: float(values[index]) for name, values in curve.items()} for index in shown]
    good = np.flatnonzero(curve["precision"] >= target)
    if not len(good):
        reason = "no confidences" if not size else f"no confidence reaches a precision of {target:g}"
        return {"operating_point": dict.fromkeys(curve, Undefined(reason)), "meaning": _nothing(target), "sweep": points}
    chosen = {name: float(values[good[-1]]) for name, values in curve.items()}
    return {"operating_point": chosen, "meaning": sentence(chosen), "sweep": points}


def sentence(point: Mapping[str, float]) -> str:
    """What an operating point means.

    >>> sentence({"confidence": 0.83, "precision": 0.9912, "accepted": 0.71})
    'accepting fields from a confidence of 0.83 automates 71 % at 99.1 % precision'
    """
    return (
        f"accepting fields from a confidence of {point['confidence']:.4g} automates {100 * point['accepted']:.3g} % "
        f"at {100 * point['precision']:.3g} % precision"
    )


def _nothing(target: float) -> str:
    return f"no field can be accepted unseen at {100 * target:.3g} % precision"
