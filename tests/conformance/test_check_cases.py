"""The reference cases of the checks contract, by id: seed scenarios (G…) and edge cases (E…)."""

import json
import logging
import math
from pathlib import Path
from typing import Any

import pytest

from calque import ConfigError
from calque.checks import Suite, evaluator

FILE = json.loads((Path(__file__).parent / "cases" / "checks.json").read_text())
TOLERANCE = FILE["tolerance"]


def restored(value: Any) -> Any:
    """``{"$float": "nan"}`` stands for the float."""
    if isinstance(value, dict):
        return float(value["$float"]) if set(value) == {"$float"} else {key: restored(item) for key, item in value.items()}
    return [restored(item) for item in value] if isinstance(value, list) else value


def cases(*kinds: str) -> list[Any]:
    return [
        pytest.param(restored(case), id=f"{case['id']}-{case['title'].replace(' ', '-')}")
        for case in FILE["cases"]
        if case["kind"] in kinds
    ]


def test_every_case_is_of_a_kind_that_is_run() -> None:
    assert {case["kind"] for case in FILE["cases"]} == {"evaluate", "property", "config_error", "config_warning"}


def close(actual: Any, wanted: Any) -> bool:
    if isinstance(wanted, list):
        return len(actual) == len(wanted) and all(close(a, b) for a, b in zip(actual, wanted, strict=True))
    if isinstance(wanted, int | float) and not isinstance(wanted, bool):
        return actual is not None and math.isclose(actual, wanted, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(actual == wanted)


@pytest.mark.parametrize("case", cases("evaluate"))
def test_evaluate(case: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    check = evaluator(case["config"])
    caplog.clear()
    outcome = check.evaluate(output=case["output"], expected=case["expected"])
    result = outcome.to_dict()
    json.dumps(result, allow_nan=False)
    expect = case["expect"]
    for key in {"score", "verdict", "misses"} & set(expect):
        assert close(result[key], expect[key]), (key, result[key])
    for key, wanted in expect.get("metadata", {}).items():
        assert close(result["metadata"][key], wanted), (key, result["metadata"])
    for key in ("hits", "misses"):
        assert set(expect.get(f"{key}_contains", [])) <= set(result[key])
    for word in expect.get("reasoning_contains", []):
        assert word.lower() in result["reasoning"].lower()
    for word in expect.get("misses_mentions", []):
        assert any(word in miss for miss in result["misses"])
    if expect.get("misses_nonempty"):
        assert result["misses"]
    if expect.get("logs_error"):
        assert [record.levelno for record in caplog.records if record.name == "calque"] == [logging.ERROR]
    assert set(expect.get("result_keys", [])) <= set(result)


@pytest.mark.parametrize("case", cases("property"))
def test_property(case: dict[str, Any]) -> None:
    distances = {}
    for metric in case["config"]["metrics"]:
        check = evaluator(
            {"type": "coordinate_distance", "point_path": "p", "expected_point_path": "p", "metric": metric, "threshold": 9}
        )
        distances[metric] = check.evaluate(case["output"], case["expected"]).metadata["distance"]
    assert distances == {metric: case["expect"][metric] for metric in case["config"]["metrics"]}
    assert distances["manhattan"] >= distances["euclidean"]


@pytest.mark.parametrize("case", cases("config_error"))
@pytest.mark.parametrize("way", ["evaluator", "suite"])
def test_config_error(case: dict[str, Any], way: str, tmp_path: Path) -> None:
    path = written(tmp_path, case["config"])
    with pytest.raises(ConfigError) as raised:
        evaluator(case["config"]) if way == "evaluator" else Suite.load(path)
    for text in case["expect"]["error_contains"]:
        assert text in str(raised.value)
    if way == "suite":
        assert "suite.yaml: line " in str(raised.value)


@pytest.mark.parametrize("case", cases("config_warning"))
@pytest.mark.parametrize("way", ["evaluator", "suite"])
def test_config_warning(case: dict[str, Any], way: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    if way == "evaluator":
        evaluator(case["config"])
    else:
        Suite.load(written(tmp_path, case["config"]))
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING and record.name == "calque"]
    assert any(text in line for text in case["expect"]["warning_contains"] for line in said)


def written(folder: Path, config: dict[str, Any]) -> Path:
    import yaml

    path = folder / "suite.yaml"
    path.write_text(yaml.safe_dump({"evaluators": [config], "cases": [{"id": "one", "output": {}, "expected": {}}]}))
    return path
