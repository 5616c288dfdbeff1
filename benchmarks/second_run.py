"""A second run for comparisons: the detections of a first one, with some lost, some new and all scores a little other.

python benchmarks/second_run.py DETECTIONS OUT
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path


def second_run(detections: list[dict[str, object]], seed: int = 5) -> list[dict[str, object]]:
    """The same seed gives the same run on every machine."""
    rng = random.Random(seed)  # noqa: S311  # data to be measured on, no secret
    kept: list[dict[str, object]] = []
    for detection in detections:
        if rng.random() < 0.06:
            continue
        score = float(str(detection["score"])) * rng.uniform(0.85, 1.1)
        x, y, width, height = (float(number) for number in detection["bbox"])  # type: ignore[attr-defined]  # four numbers
        shift = rng.gauss(0.0, 0.015)
        box = [round(x + shift * width, 2), round(y + shift * height, 2), width, height]
        kept.append({**detection, "bbox": box, "score": round(min(score, 1.0), 5)})
    return kept


if __name__ == "__main__":
    source, target = (Path(argument) for argument in sys.argv[1:3])
    target.write_text(json.dumps(second_run(json.loads(source.read_text()))))
