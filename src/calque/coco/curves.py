"""Precision and recall from verdicts that somebody else may have made: `evalImgs` in, pycocotools' tables out."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from calque.base.columns import Array, Floats


class Chosen(NamedTuple):
    """The places of classes, area ranges and images among those that were evaluated, and limits, that are added up.

    pycocotools takes a place in the parameters of `accumulate` for the place among what was evaluated. So does this.
    """

    classes: list[int]
    areas: list[int]
    limits: list[Any]
    images: list[int]

    @classmethod
    def of(cls, wanted: Any, evaluated: Any) -> Chosen:
        """What the parameters have in common with those of the evaluation."""
        categories = set(evaluated.catIds if evaluated.useCats else [-1])
        areas, limits = set(map(tuple, evaluated.areaRng)), set(evaluated.maxDets)
        images = set(evaluated.imgIds)
        return cls(
            [place for place, category in enumerate(wanted.catIds) if category in categories],
            [place for place, area in enumerate(map(tuple, wanted.areaRng)) if area in areas],
            [limit for limit in wanted.maxDets if limit in limits],
            [place for place, image in enumerate(wanted.imgIds) if image in images],
        )


class Tables(NamedTuple):
    """Precision and score by threshold, recall point, class, area range and limit, and recall without the recall points."""

    precision: Floats
    recall: Floats
    scores: Floats

    @classmethod
    def empty(cls, p: Any) -> Tables:
        """-1 everywhere: nothing to find."""
        shape = counts(p)
        return cls(-np.ones(shape), -np.ones([shape[0], *shape[2:]]), -np.ones(shape))

    def evaluation(self, p: Any) -> dict[str, Any]:
        """What `accumulate` leaves in ``eval``."""
        return {
            "params": p,
            "counts": counts(p),
            "date": datetime.datetime.now().strftime("%Y-%m-%d %H:%M:%S"),
            "precision": self.precision,
            "recall": self.recall,
            "scores": self.scores,
        }


def counts(p: Any) -> list[int]:
    """How many thresholds, recall points, classes, area ranges and limits there are."""
    return [len(p.iouThrs), len(p.recThrs), len(p.catIds) if p.useCats else 1, len(p.areaRng), len(p.maxDets)]


def accumulated(verdicts: Any, p: Any, evaluated: Any) -> Tables:
    """The curves of verdicts in pycocotools' order: class, area range, image."""
    tables, chosen = Tables.empty(p), Chosen.of(p, evaluated)
    images, areas = len(evaluated.imgIds), len(evaluated.areaRng)
    for k, category in enumerate(chosen.classes):
        for a, area in enumerate(chosen.areas):
            first = (category * areas + area) * images
            there = [verdicts[first + image] for image in chosen.images]
            there = [verdict for verdict in there if verdict is not None]
            if not there or not (truths := sum(int(np.count_nonzero(np.asarray(one["gtIgnore"]) == 0)) for one in there)):
                continue
            for m, limit in enumerate(chosen.limits):
                _draw(tables, there, truths, p.recThrs, (k, a, m), limit)
    return tables


def _draw(
    tables: Tables, verdicts: Sequence[dict[str, Any]], truths: int, recalls: Any, at: tuple[int, int, int], limit: int
) -> None:
    """The curves of one class, area range and limit, at every threshold."""
    scores = np.concatenate([one["dtScores"][0:limit] for one in verdicts])
    order = np.argsort(-scores, kind="mergesort")
    scores = scores[order]
    matched = np.concatenate([matched_flags(one)[:, 0:limit] for one in verdicts], axis=1)[:, order]
    ignored = np.concatenate([np.asarray(one["dtIgnore"])[:, 0:limit] for one in verdicts], axis=1)[:, order]
    hits = np.cumsum(np.logical_and(matched, np.logical_not(ignored)), axis=1).astype(float)
    misses = np.cumsum(np.logical_and(np.logical_not(matched), np.logical_not(ignored)), axis=1).astype(float)
    for t, (tp, fp) in enumerate(zip(hits, misses, strict=True)):
        recall = tp / truths
        precision = tp / (fp + tp + np.spacing(1))
        envelope = np.maximum.accumulate(precision[::-1])[::-1]
        tables.recall[(t, *at)] = recall[-1] if len(tp) else 0
        places = np.searchsorted(recall, recalls, side="left")
        # pycocotools stops at the first recall that is never reached, whatever follows.
        beyond = np.flatnonzero(places >= len(tp))
        reached = places[: beyond[0]] if len(beyond) else places
        row = np.zeros((2, len(places)))
        row[0, : len(reached)], row[1, : len(reached)] = envelope[reached], scores[reached]
        k, a, m = at
        tables.precision[t, :, k, a, m], tables.scores[t, :, k, a, m] = row


def matched_flags(verdict: dict[str, Any]) -> Array:
    """Which detections are matched, by threshold."""
    return np.asarray(verdict.get("dtMatched", verdict["dtMatches"]))
