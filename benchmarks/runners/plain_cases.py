"""The same cases judged by a plain loop with nothing of calque's: no paths, no reasons, no results; the floor for any tool."""

from __future__ import annotations

import json
import math
import sys


def main() -> None:
    """Print the mean score and the share of cases that pass."""
    scores, passed = [], 0
    with open(sys.argv[1], encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            found, truth = case["output"], case["expected"]
            a, b = found["total"]["bbox"], truth["total"]["bbox"]
            iou = 0.0
            if a[0] <= a[2] and a[1] <= a[3]:
                shared = max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
                iou = shared / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared)
            near = math.dist(found["stamp"], truth["stamp"]) <= 10 + 1e-9
            scores.append((iou + near) / 2)
            passed += iou >= 0.7 - 1e-9 and near
    print(json.dumps([math.fsum(scores) / len(scores), passed / len(scores)]))


main()
