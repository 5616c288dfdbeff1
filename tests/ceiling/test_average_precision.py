"""AP of a ceiling: of each system that of ``detect``, of routes the best class by class, and no selection has more."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calque import Ceiling, Detection, Evaluator
from calque.geometry.forms import COCO_THRESHOLDS
from tests.ceiling.oracle.boxes import Object, iou, largest_pairing
from tests.ceiling.test_against_enumeration import SEEDS, Drawn, write


def bound(truths: list[Object], boxes: list[Object]) -> float:
    """The mean over thresholds and classes with truths of the share of recall points that a largest pairing reaches."""
    values = []
    for threshold in COCO_THRESHOLDS:
        for label in {g.label for g in truths}:
            own = [g for g in truths if g.label == label]
            wanted = [
                [at for at, p in enumerate(boxes) if (p.page, p.label) == (g.page, g.label) and iou(g.box, p.box) >= threshold]
                for g in own
            ]
            matches = largest_pairing(wanted)
            points = np.linspace(0, 1, 101) <= matches / len(own)
            values.append(float(points.sum() / 101) if matches else 0.0)
    return math.fsum(values) / len(values)


def expected(drawn: Drawn, files: list[str], documents: list[str]) -> Any:
    drawn.min_score = None  # AP sees boxes below the lowest score
    truths = drawn.objects(drawn.truth, documents, -1, crowd=False)
    if not truths:
        return None
    found = [drawn.objects(rows, documents, at, crowd=False) for at, rows in enumerate(drawn.systems.values())]
    task = Detection(labels=drawn.kept, errors="none")
    alone = [Evaluator(task).update(files[0], file).compute() for file in files[1:]]
    labels = sorted({g.label for g in truths})
    best = [max(result[f"AP/{label}"] for result in alone) for label in labels]
    return {
        "single": {name: result["AP"] for name, result in zip(drawn.systems, alone, strict=True)},
        "route_class": math.fsum(best) / len(best),
        "select_bound": bound(truths, [p for own in found for p in own]),
    }


@pytest.mark.parametrize("seeds", SEEDS)
def test_average_precision(seeds: range, tmp_path: Path) -> None:
    judged = 0
    for seed in seeds:
        drawn = Drawn(random.Random(seed))
        scored = all(row.get("scores") is not None for rows in drawn.systems.values() for row in rows)
        if drawn.layout or not scored:
            continue
        files = [write(tmp_path, name, rows) for name, rows in {"t": drawn.truth, **drawn.systems}.items()]
        task = Ceiling(labels=drawn.kept, min_score=drawn.min_score, splits=1)
        made = Evaluator(task).update(files[0], files[1:]).compute().to_dict()["ap"]
        told = expected(drawn, files, drawn.documents)
        if told is None:
            assert made is None, seed
            continue
        judged += 1
        assert made["single"] == told["single"], seed
        assert made["route_class"] == pytest.approx(told["route_class"], abs=1e-12), seed
        assert made["select_bound"] == pytest.approx(told["select_bound"], abs=1e-12), seed
        assert max(made["single"].values()) <= made["route_class"] + 1e-12 <= made["select_bound"] + 2e-12, seed
    assert judged > len(seeds) / 4


def test_without_scores_there_is_no_average_precision(tmp_path: Path) -> None:
    row = {"doc_id": "d", "boxes": [[0, 0, 9, 9]], "labels": ["A"]}
    files = [write(tmp_path, "t", [row]), write(tmp_path, "a", [{**row, "scores": [0.5]}]), write(tmp_path, "b", [row])]
    result = Evaluator(Ceiling()).update(files[0], files[1:]).compute()
    assert result.to_dict()["ap"] is None
    assert result.undefined["ap"] == "1 prediction has no score"


def test_one_box_without_a_score_is_no_ranking() -> None:
    box = {"image": "p", "category": "a", "bbox": [0, 0, 9, 9]}
    task = Ceiling(boxes="xyxy", units="pixels")
    scored, bare = (Evaluator(task).update([box], {"one": [{**box, **score}]}).compute() for score in ({"score": 0.5}, {}))
    assert scored.numbers["ap"]["single"] == {"one": pytest.approx(1.0)}
    assert (bare.numbers["ap"], bare.undefined["ap"]) == (None, "1 prediction has no score")
