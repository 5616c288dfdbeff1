"""Seeded cases for the benchmark of suites: JSON Lines with a box and a point each, and the suite that judges them.

    python benchmarks/check_cases.py 10000 [--cache FOLDER]

prints, as JSON, where the files are.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

GENERATOR_VERSION = 1  # Part of the cache's key: raise it with any change to the bytes written.
DEFAULT_CACHE = Path(__file__).resolve().parent / ".cache"
SUITE = """\
name: speed
evaluators:
  - {type: iou_score, bbox_path: total.bbox, expected_bbox_path: total.bbox, threshold: 0.7}
  - {type: coordinate_distance, point_path: stamp, expected_point_path: stamp, threshold: 10}
gate: {mean_score: 0}
data: cases.jsonl
"""


def case(rng: random.Random, number: int) -> dict[str, object]:
    """A box and a point, and what a model made of them."""
    left, top = rng.uniform(0, 500), rng.uniform(0, 500)
    box = [left, top, left + rng.uniform(10, 200), top + rng.uniform(10, 200)]
    found = [value + rng.gauss(0, 3) for value in box]
    point = [rng.uniform(0, 500), rng.uniform(0, 500)]
    return {
        "id": f"doc-{number:07d}",
        "output": {"total": {"bbox": found}, "stamp": [point[0] + rng.gauss(0, 4), point[1]]},
        "expected": {"total": {"bbox": box}, "stamp": point},
    }


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    arguments = parser.parse_args()
    folder = arguments.cache / f"check-cases-{arguments.count}-v{GENERATOR_VERSION}"
    files = {name: folder / name for name in ("suite.yaml", "cases.jsonl")}
    if not all(path.exists() for path in files.values()):
        folder.mkdir(parents=True, exist_ok=True)
        rng = random.Random(arguments.count)  # noqa: S311  # data, not secrets
        lines = (json.dumps(case(rng, number)) + "\n" for number in range(arguments.count))
        files["cases.jsonl"].write_text("".join(lines), encoding="utf-8")
        files["suite.yaml"].write_text(SUITE, encoding="utf-8")
    print(json.dumps({name: str(path) for name, path in files.items()}))


if __name__ == "__main__":
    main()
