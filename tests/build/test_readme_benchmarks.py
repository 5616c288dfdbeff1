"""The benchmark table and chart of the README are what the kept runs give."""

from __future__ import annotations

import importlib
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def readme(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("readme")


def measured(**walls: float) -> dict[str, Any]:
    costs = {name: {"wall": wall, "memory": 40_000_000} for name, wall in walls.items()}
    tools = {name.replace("_", "-"): {"median": cost, "runs": [cost]} for name, cost in costs.items()}
    return {
        "machine": "a machine",
        "date": "a day",
        "command": "a command",
        "suites": {"detection": {"coco": {"tools": tools}}},
    }


def test_readme_shows_the_table_and_chart_of_the_kept_runs(readme: ModuleType) -> None:
    runs = json.loads(readme.RUNS.read_text("utf-8"))
    assert readme.table(runs) in readme.README.read_text("utf-8")
    assert readme.chart(runs) == readme.CHART.read_text("utf-8")
    assert all(readme.times(row, runs) for row in readme.ROWS)


def test_table_marks_the_fastest_tool_whoever_it_is(readme: ModuleType) -> None:
    shown = readme.table(measured(calque=0.4, hotcoco=0.3, pycocotools=60.0))
    assert re.findall(r"\*\*(.*?)\*\*", shown) == ["0.30 s"]
    assert shown.index("hotcoco") < shown.index("pycocotools")


def test_chart_is_svg_for_light_and_dark_pages_with_proportional_bars(readme: ModuleType) -> None:
    text = readme.chart(measured(calque=1.0, pycocotools=4.0))
    bars = [element for element in ET.fromstring(text).iter() if element.tag.endswith("rect")]
    assert [bar.get("class") for bar in bars] == ["bar calque", "bar"]
    assert float(bars[1].get("width", 0)) == pytest.approx(4 * float(bars[0].get("width", 0)))
    assert "prefers-color-scheme: dark" in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
