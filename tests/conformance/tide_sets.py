"""Generated sets for TIDE's kinds. Run as a script where tidecv is installed, it writes down what tidecv makes of them."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

SEEDS = range(12)
EXPECTED = Path(__file__).parent / "expected" / "tidecv-1.0.1.json"
"""For each seed: how many errors of each kind tidecv counts, and what AP50 would gain (in per cent)."""

Row = tuple[int, int, tuple[float, float, float, float], float]
"""(image, class, x y w h, score); truths have the score 0."""


def generated(seed: int, pages: int = 40, classes: int = 3) -> tuple[list[Row], list[Row]]:
    """Truths, and predictions with every kind of slip. Scores are distinct: among equals tidecv goes by its own order."""
    dice = random.Random(seed)
    truths: list[Row] = []
    founds: list[tuple[int, int, tuple[float, float, float, float]]] = []
    for image in range(pages):
        here = [
            (
                dice.randrange(classes),
                (dice.uniform(0, 400), dice.uniform(0, 400), dice.uniform(20, 150), dice.uniform(20, 150)),
            )
            for _ in range(dice.randrange(6))
        ]
        truths += [(image, label, box, 0.0) for label, box in here]
        for label, (x, y, w, h) in here:
            for _ in range(dice.choice([0, 1, 1, 1, 2, 3])):
                slip = dice.choice([2, 10, 40])
                moved = x + dice.gauss(0, slip), y + dice.gauss(0, slip), w * dice.uniform(0.7, 1.4), h * dice.uniform(0.7, 1.4)
                founds.append((image, label if dice.random() < 0.8 else dice.randrange(classes), moved))
        if dice.random() < 0.3:
            founds.append((image, dice.randrange(classes), (dice.uniform(0, 900), dice.uniform(0, 900), 50.0, 60.0)))
    scores = dice.sample(range(1, 100_000), len(founds))
    return truths, [(*found, score / 100_000) for found, score in zip(founds, scores, strict=True)]


def ask_tidecv(truths: list[Row], founds: list[Row]) -> dict[str, Any]:
    """Counts and gains by TIDE's names."""
    from tidecv import TIDE, Data

    truth_data, found_data = Data("truth"), Data("found")
    for image in sorted({row[0] for row in (*truths, *founds)}):
        truth_data.add_image(image, str(image))
    for image, label, box, _ in truths:
        truth_data.add_ground_truth(image, label, list(box))
    for image, label, box, score in founds:
        found_data.add_detection(image, label, score, list(box))
    run = TIDE().evaluate(truth_data, found_data, mode=TIDE.BOX)
    return {
        "ap50": run.ap,
        "counts": {kind.short_name: count for kind, count in run.count_errors().items()},
        "gains": {kind.short_name: gain for kind, gain in run.fix_main_errors().items()},
    }


if __name__ == "__main__":
    answers = {str(seed): ask_tidecv(*generated(seed)) for seed in SEEDS}
    EXPECTED.parent.mkdir(exist_ok=True)
    EXPECTED.write_text(json.dumps(answers, indent=1) + "\n", "utf-8")
    sys.stdout.write(f"wrote {EXPECTED.name}\n")
