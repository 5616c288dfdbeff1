"""The reference cases of reading order: numbers found by looking at every pair."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run

CASES = json.loads(Path(__file__).with_name("order_cases.json").read_text("utf-8"))


def contained(expected: Any, found: Any, where: str) -> None:
    if isinstance(expected, Mapping):
        assert expected.keys() <= found.keys(), where
        for key, value in expected.items():
            contained(value, found[key], f"{where}/{key}")
    else:
        assert found == (pytest.approx(expected, rel=0, abs=1e-12) if isinstance(expected, float) else expected), where


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case(case: Mapping[str, Any], calque: Callable[..., Run], tmp_path: Path) -> None:
    paths = []
    for folder, side in (("t", "truth"), ("p", "pred")):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / f"d.{case[side]['name']}"
        path.write_text(case[side]["text"], "utf-8")
        paths.append(str(path))
    run = calque("order", *paths, *case["args"], "--format", "json")
    assert run.code == case["exit"]
    contained(case["expect"], json.loads(run.out), "")
