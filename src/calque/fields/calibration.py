"""What confidences are worth: discrimination, calibration, review budgets, and from where on to accept without review."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calque.core.columns import Array, Flags, Floats, Ints, Table
from calque.core.measures import Undefined

BINS = 10
BUDGETS = (0.1, 0.3, 0.5)
SWEEP_POINTS = 200
"""How many points of the sweep a result lists at most; the operating point looks at all."""


def confidence_metrics(ratings: Table, keys: Sequence[str], fields_total: int) -> dict[str, Any]:
    """``confidence_metrics``: everything together and each key by itself, and how many fields have a confidence."""
    key, match, confidence = ratings.array("key"), ratings.array("match"), ratings.array("confidence")
    # Ties are ranked as the original ranks them: by key in the order of its first row, then by row.
    seen, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    by_first = np.argsort(first, kind="stable")
    rank = np.empty(len(seen), dtype=np.int64)
    rank[by_first] = np.arange(len(seen))
    order = np.argsort(rank[inverse], kind="stable")
    bounds = np.searchsorted(rank[inverse][order], np.arange(len(seen) + 1))
    match, confidence = match[order], confidence[order]
    fields = {
        keys[seen[k]]: metrics(match[bounds[n] : bounds[n + 1]], confidence[bounds[n] : bounds[n + 1]])
        for n, k in enumerate(by_first)
    }
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
    """AUROC, Brier score, calibration error and error capture of some fields."""
    return {
        "auroc": {"value": auroc(match, confidence)},
        "brier_score": {"value": brier(match, confidence)},
        "ece": calibration_error(match, confidence),
        "error_capture_at_budget": error_capture(match, confidence),
    }


def auroc(match: Flags, confidence: Floats) -> float | Undefined:
    """How often a right field has a higher confidence than a wrong one; equal ones count half.

    >>> auroc(np.array([True, False, True]), np.array([0.9, 0.5, 0.5]))
    0.75
    """
    right, wrong = int(match.sum()), int((~match).sum())
    if not right or not wrong:
        return Undefined(
            "no confidences" if not len(match) else f"all {len(match):,} fields are {'right' if right else 'wrong'}"
        )
    _, place, size = np.unique(confidence, return_inverse=True, return_counts=True)
    last = np.cumsum(size)
    ranks = (last - (size - 1) / 2)[place]
    return float((ranks[match].sum() - right * (right + 1) / 2) / (right * wrong))


def brier(match: Flags, confidence: Floats) -> float | Undefined:
    """The mean squared difference between confidence and outcome."""
    if not len(match):
        return Undefined("no confidences")
    return math.fsum(((confidence - match) ** 2).tolist()) / len(match)


def calibration_error(match: Flags, confidence: Floats) -> dict[str, Any]:
    """The mean distance between confidence and accuracy over equal bins, and the bins: the reliability curve."""
    if not len(match):
        return {"value": Undefined("no confidences"), "bins": []}
    edges = [(index + 1) / BINS for index in range(BINS)]
    place = np.minimum(np.searchsorted(edges, confidence, side="right"), BINS - 1)
    bins = []
    total = 0.0
    for index in range(BINS):
        inside = place == index
        count = int(inside.sum())
        accuracy = int(match[inside].sum()) / count if count else 0.0
        mean = math.fsum(confidence[inside].tolist()) / count if count else 0.0
        total += count / len(match) * abs(accuracy - mean)
        bins.append({"range": [index / BINS, edges[index]], "count": count, "accuracy": accuracy, "mean_confidence": mean})
    return {"value": total, "bins": bins}


def error_capture(match: Flags, confidence: Floats) -> dict[str, Any]:
    """What share of the errors a review of the least confident fields finds, against a review of random ones."""
    errors = int((~match).sum())
    if not errors:
        return {"value": Undefined("no errors" if len(match) else "no confidences"), "budgets": {}}
    worst_first: Ints = np.argsort(confidence, kind="stable")
    caught = np.cumsum(~match[worst_first])
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
    best_first = np.argsort(-confidence, kind="stable")
    ranked, right = confidence[best_first], np.cumsum(match[best_first])
    last = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True)) if len(ranked) else np.zeros(0, dtype=np.int64)
    accepted = last + 1
    total_right = int(right[-1]) if len(right) else 0
    return {
        "confidence": ranked[last],
        "precision": right[last] / accepted if len(last) else np.zeros(0),
        "recall": right[last] / total_right if total_right else np.zeros(len(last)),
        "accepted": accepted / len(ranked) if len(last) else np.zeros(0),
    }


def acceptance(ratings: Table, target: float) -> dict[str, Any]:
    """The sweep, and the lowest confidence that keeps the target precision for all that is accepted."""
    curve = sweep(ratings.array("match"), ratings.array("confidence"))
    size = len(curve["confidence"])
    shown = np.unique(np.linspace(0, size - 1, min(size, SWEEP_POINTS)).astype(np.int64)).tolist()
    points = [{name: float(values[index]) for name, values in curve.items()} for index in shown]
    good = np.flatnonzero(curve["precision"] >= target)
    if not len(good):
        reason = "no confidences" if not size else f"no confidence reaches a precision of {target:g}"
        point: Any = dict.fromkeys(curve, Undefined(reason))
        return {"target_precision": target, "operating_point": point, "meaning": _nothing(target), "sweep": points}
    chosen = {name: float(values[good[-1]]) for name, values in curve.items()}
    return {"target_precision": target, "operating_point": chosen, "meaning": sentence(chosen), "sweep": points}


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
