"""What frameworks do with pycocotools, done with calque in its place: every number, id, flag and line is the same."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.coco.both import printed
from tests.coco.sets import written

SCRIPTS = sorted((Path(__file__).parent / "frameworks").glob("*.py"))
SETS = {"usual": {}, "many classes": {"classes": 7, "images": 12}, "one image": {"images": 1, "classes": 1, "dense": 12}}
QUICK, SLOW = [("usual", 0), ("one image", 1)], [("usual", 1), ("one image", 0), ("many classes", 0), ("many classes", 1)]

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # the scripts leave files to the collector


def compare(one: Any, other: Any, place: str = "$") -> None:
    """Numbers to 1e-12, everything else exactly."""
    assert type(one) is type(other), place
    if isinstance(one, dict):
        assert list(one) == list(other), place
        for key in one:
            compare(one[key], other[key], f"{place}.{key}")
    elif isinstance(one, list):
        assert len(one) == len(other), place
        for number, (a, b) in enumerate(zip(one, other, strict=True)):
            compare(a, b, f"{place}[{number}]")
    elif isinstance(one, float):
        assert (math.isnan(one) and math.isnan(other)) or abs(one - other) <= 1e-12, (place, one, other)
    else:
        assert one == other, place


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
@pytest.mark.parametrize(("name", "seed"), [*QUICK, *(pytest.param(*row, marks=pytest.mark.long) for row in SLOW)])
def test_the_script_prints_the_same(script, name, seed, tmp_path):
    files = written(tmp_path, seed, **SETS[name])
    theirs, ours = (json.loads(printed(script, *files, calque=calque).splitlines()[-1]) for calque in (False, True))
    compare(theirs, ours)
