"""Whatever one case holds, the suite comes to its end and every other case keeps its verdict."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from calque import Evaluator
from calque.checks import Suite, evaluator
from calque.checks.evaluators.registry import KNOWN
from calque.checks.suites.cases import Case, CaseCorpus
from calque.checks.task import Checks
from tests.conftest import Run

PAIRED = {"bbox_path": "v", "expected_bbox_path": "v"}
POINTS = {"point_path": "v", "expected_point_path": "v", "threshold": 1}
EVALUATORS: dict[str, dict[str, Any]] = {
    "boxes": {"type": "iou_score", **PAIRED, "threshold": 0.5},
    "boxes by index": {"type": "iou_score", **PAIRED, "matching": "index", "metric": "giou"},
    "center": {"type": "iou_score", **PAIRED, "format": "cxcywh", "metric": "diou", "matching": "max_matches"},
    "polygons": {"type": "iou_score", **PAIRED, "format": "polygon", "metric": "center_in_box"},
    "convex": {"type": "iou_score", **PAIRED, "format": "polygon", "metric": "giou"},
    "quads": {"type": "iou_score", **PAIRED, "format": "quad", "metric": "diou", "on_invalid": "reject"},
    "rotated": {"type": "iou_score", **PAIRED, "format": "rotated", "metric": "dice"},
    "thousandths": {
        "type": "iou_score", **PAIRED, "format": "xyxy1000", "expected_format": "xyxy", "page_size_path": "size",
    },
    "every box": {"type": "iou_score", "bbox_path": "v[*]", "expected_bbox_path": "v[*]"},
    "points": {"type": "coordinate_distance", **POINTS},
    "hungarian": {"type": "coordinate_distance", **POINTS, "matching": "hungarian", "metric": "manhattan"},
    "graded": {"type": "coordinate_distance", **POINTS, "scoring": "exponential", "metric": "chebyshev"},
    "cosine": {"type": "coordinate_distance", **POINTS, "metric": "cosine"},
    "sets": {"type": "coordinate_distance", **POINTS, "metric": "hausdorff"},
    "keypoints": {"type": "coordinate_distance", **POINTS, "metric": "oks", "area_path": "size", "threshold": 0.5},
    "diagonal": {"type": "coordinate_distance", **POINTS, "normalize": "diagonal", "page_size_path": "size"},
    "equals": {"type": "equals", "path": "v"},
    "equals without case": {"type": "equals", "path": "v", "ignore_case": True, "ignore_whitespace": True},
    "contains": {"type": "contains", "path": "v"},
    "one_of": {"type": "one_of", "path": "v"},
    "regex": {"type": "regex", "path": "v"},
    "tolerance": {"type": "numeric_tolerance", "path": "v", "relative": 0.1},
    "every number": {"type": "numeric_tolerance", "path": "v[*]", "absolute": 1},
    "schema": {
        "type": "json_schema", "path": "v",
        "schema": {"uniqueItems": True, "multipleOf": 3, "items": {"$ref": "#"}, "enum": [1, [1]], "minLength": 2},
    },
    "detect": {"type": "detect", "path": "v", "measure": "recall@0.5"},
    "layout": {"type": "layout", "path": "v", "measure": "layout_correct_blocks"},
    "fields": {"type": "fields", "path": "v", "measure": "cm_f1"},
    "words": {"type": "words", "path": "v", "measure": "recall"},
    "tables": {"type": "tables", "path": "v", "measure": "teds"},
    "order": {"type": "order", "path": "v", "measure": "pairs"},
}  # fmt: skip
HUGE = [
    math.nan,
    math.inf,
    -math.inf,
    10**400,
    -(10**400),
    1e308,
    -1e308,
    5e-324,
    2**63,
    -(2**63) - 1,
    0,
    -0.0,
    True,
    False,
    None,
]
LEAVES = (
    st.sampled_from(HUGE)
    | st.integers(-5, 5)
    | st.floats(-10, 10)
    | st.text(max_size=3)
    | st.sampled_from(["", "1e999", "nan", " 7 ", "\ud800", "\0", "(", "<table>", "0", "a" * 50])
)
KEYS = st.sampled_from(["bbox", "label", "score", "text", "order", "cells", "rows", "id", "doc_id", "", "v", "page", "polygon"])
ODD = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12)


def nested(levels: int, inside: Any = 1) -> Any:
    for _ in range(levels):
        inside = [inside]
    return inside


GOOD = [
    Case("box", {"v": [0, 0, 2, 2]}, {"v": [0, 0, 2, 1], "size": [9, 9]}, position=0),
    Case("text", {"v": "abc"}, {"v": "abc"}, position=1),
]


def verdicts(name: str, odd: tuple[Any, Any, Any]) -> dict[Any, tuple[str, str, float]]:
    """What an evaluator says of two sound cases, with an odd one between them; the result is strict JSON."""
    output, expected, size = odd
    middle = Case("odd", {"v": output}, {"v": expected, "size": size}, position=1)
    corpus = CaseCorpus(cases=(GOOD[0], middle, GOOD[1]))
    result = Evaluator(Checks.of([EVALUATORS[name]])).update(corpus, corpus).compute()
    rows = json.loads(json.dumps(result.to_dict(), allow_nan=False))["results"]
    return {row["id"]: (row["verdict"], row["status"], row["score"]) for row in rows}


def test_every_built_in_evaluator_is_tried() -> None:
    assert {config["type"] for config in EVALUATORS.values()} == set(KNOWN) - {"command"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", EVALUATORS)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(odd=st.tuples(ODD, ODD, ODD))
@example(odd=([[]], [[]], [1, 1]))
@example(odd=([[], [[0, 0], [1, 0], [0, 1]]], [[[0, 0], [1, 0], [0, 1]]], [1, 1]))
@example(odd=([[0, 0, 1e308, 1e308]] * 2, [[-1e308, -1e308, 1e308, 1e308]] * 2, [1e308, 1e308]))
@example(odd=([[-1e308, -1e308], [1e308, 1e308], [1e308, -1e308]], [[-1e308, 1e308], [1e308, 0], [0, 1]], 1e-320))
@example(odd=([[1e308] * 2, [-1e308] * 2], [[-1e308] * 2, [1e308] * 2], [1e308, 1e308]))
@example(odd=([10**400] * 4, [10**400] * 4, [10**400, 1]))
@example(odd=([0, 0, 1, 1, 1e308], [0, 0, 1, 1, -1e308], 1))
@example(odd=([0, 0, 5e-324, 5e-324], [0, 0, 5e-324, 5e-324], [5e-324, 5e-324]))
@example(odd=([1e-320, 2, 1e-320, 0], [1e-320, 2, 1e-320, 0], [9, 9]))
@example(odd=([0, 0, 1e-310, 1e-310], [1, 1, 1, 1], [9, 9]))
@example(odd=([-1e308, -1e308, 1e308, 1e308], [0, 0, 1, 1], [9, 9]))
@example(odd=([8.1, -1e308, -0.0, 1, 1e308, 1e308, -1e308, 1e-320], [1, 1, 1e308, 2, 3, -1e308, 5, 9], [9, 9]))
@example(odd=([[-1e308, 5], [1e-320, 1e308], -8], [[-1e308, -1e308]], [9, 9]))
@example(odd=([[math.nan, math.inf]] * 3, [[math.nan, math.inf]] * 3, math.nan))
def test_odd_values_in_one_case_leave_all_others_as_they_are(name: str, odd: tuple[Any, Any, Any]) -> None:
    check_others(name, odd)


@pytest.mark.parametrize("levels", [400, 5_000])
@pytest.mark.parametrize("name", EVALUATORS)
def test_deep_nesting_in_one_case_leaves_all_others_as_they_are(name: str, levels: int) -> None:
    check_others(name, (nested(levels), nested(levels), [1, 1]))


def check_others(name: str, odd: tuple[Any, Any, Any]) -> None:
    outcome = evaluator(EVALUATORS[name]).evaluate({"v": odd[0]}, {"v": odd[1], "size": odd[2]})  # never raises
    assert 0.0 <= outcome.score <= 1.0
    found = verdicts(name, odd)
    assert set(found) == {"box", "odd", "text"}
    assert 0.0 <= found["odd"][2] <= 1.0
    alone = verdicts(name, (0, 0, 0))
    assert (found["box"], found["text"]) == (alone["box"], alone["text"])


@pytest.mark.parametrize("name", ["polygons", "quads", "boxes", "points", "sets"])
def test_check_with_an_empty_shape_in_a_batch_judges_all_other_cases(calque: Run, tmp_path: Path, name: str) -> None:
    ring = [[0, 0], [4, 0], [4, 4], [0, 4]]
    sound = {"polygons": [ring], "quads": [ring], "boxes": [[0, 0, 4, 4]], "points": [[1, 2]], "sets": [ring]}[name]
    lines = [
        {"id": identity, "output": {"v": [*sound, *more]}, "expected": {"v": [*sound, *more], "size": [9, 9]}}
        for identity, more in (("first", []), ("empty", [[]]), ("last", []))
    ]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (tmp_path / "s.yaml").write_text(f"data: d.jsonl\nevaluators: [{json.dumps(EVALUATORS[name])}]\n", encoding="utf-8")
    done = calque("check", str(tmp_path / "s.yaml"), "--format", "jsonl")
    rows = {row["id"]: row for row in map(json.loads, done.out.splitlines())}
    assert (rows["first"]["verdict"], rows["last"]["verdict"]) == ("pass", "pass")
    assert (rows["empty"]["status"], done.code) == ("error", 3)


@pytest.mark.parametrize("shape", ["json", "jsonl", "table", "markdown", "csv", "junit", "github", "latex"])
def test_check_prints_odd_values_in_every_format(calque: Run, tmp_path: Path, shape: str) -> None:
    """Numbers that only YAML can write, half of a surrogate pair, deep nesting."""
    values = [".nan", "-.inf", "1" * 400, '"\\0"', "[[]]", "{}", "0x" + "f" * 5_000, nested(60)]
    cases = "\n".join(f"- {{id: 'c{n}', output: {{v: {v}}}, expected: {{v: {v}}}}}" for n, v in enumerate(values) if n != 6)
    listed = json.dumps([{**config, "name": name} for name, config in EVALUATORS.items()])
    (tmp_path / "s.yaml").write_text(f"evaluators: {listed}\ncases:\n{cases}\n", encoding="utf-8")
    done = calque("check", str(tmp_path / "s.yaml"), "--format", shape, "--checkpoint", "kept", "--report", "r.html")
    assert done.code in (1, 3)
    assert "should not happen" not in done.err


def test_number_of_too_many_digits_is_refused_in_every_notation(tmp_path: Path) -> None:
    for number in ("1" * 5_000, "0x" + "f" * 5_000, "0o" + "7" * 5_000):
        (tmp_path / "s.yaml").write_text(
            f"evaluators: [{{type: equals}}]\ncases: [{{id: 1, output: {number}}}]", encoding="utf-8"
        )
        with pytest.raises(Exception, match="too many digits"):
            Suite.load(tmp_path / "s.yaml")


ODD_SETTINGS: list[list[Any]] = [
    [{"type": "equals", "weight": 1e308}] * 3,
    [{"type": "equals", "weight": 5e-324}] * 2,
    [[], 5, None, {"type": ["x"]}, {"type": {}}, {}],
    [{"type": "equals", "name": "\ud800"}],
    [{"type": "regex", "pattern": "("}, {"type": "equals", "path": "[99999999999999999999999]"}],
    [{"type": "numeric_tolerance", "value": 10**400}],
    [{"type": "numeric_tolerance", "value": 1, "absolute": 1e308, "relative": 1e308}],
    [{**POINTS, "type": "coordinate_distance", "threshold": 5e-324, "scoring": "exponential"}],
    [{**POINTS, "type": "coordinate_distance", "metric": "oks", "area_path": "s", "sigmas": [1e-200], "threshold": 1}],
    [{**PAIRED, "type": "iou_score", "page_size": [1e308, 5e-324], "format": "xyxy1000", "expected_format": "xyxy"}],
    [{"type": "json_schema", "schema": nested(300)}],
    [{"type": "command", "command": 5}, {"type": "fields", "measure": 5, "options": {"schema": 5}}],
]


@pytest.mark.parametrize("own", ODD_SETTINGS, ids=lambda own: str(own)[:40])
def test_odd_evaluators_of_one_case_leave_all_others_as_they_are(calque: Run, tmp_path: Path, own: list[Any]) -> None:
    value = {"v": [[0, 0]], "s": 1}
    lines: list[dict[str, Any]] = [{"id": name, "output": value, "expected": value} for name in ("first", "odd", "last")]
    lines[1]["evaluators"] = own
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (tmp_path / "s.yaml").write_text("data: d.jsonl\nevaluators: [{type: equals}]\n", encoding="utf-8")
    line = (
        "check",
        str(tmp_path / "s.yaml"),
        "--format",
        "json",
        "--checkpoint",
        "kept",
        "--save",
        "s.state",
        "--report",
        "r.html",
    )
    for _ in range(2):
        done = calque(*line)
        assert done.code in (0, 1, 3)
        verdicts = {row["id"]: row["verdict"] for row in done.json["results"]}
        assert (verdicts["first"], verdicts["last"]) == ("pass", "pass")
        assert done.json["summary"]["cases"] == 3


def test_weights_beyond_the_range_of_numbers_keep_the_mean(tmp_path: Path) -> None:
    for weight in (1e308, 1.0, 5e-324):
        (tmp_path / "s.yaml").write_text(
            f"evaluators: [{{type: equals, weight: {weight}}}, {{type: equals, value: 2, weight: {weight}}}]\n"
            "cases: [{id: 1, output: 1, expected: 1}]\n",
            encoding="utf-8",
        )
        assert Suite.load(tmp_path / "s.yaml").run()["score"] == 0.5


def test_odd_inputs_of_a_system_leave_all_cases_judged(tmp_path: Path) -> None:
    deep = "[" * 90 + "1" + "]" * 90
    (tmp_path / "s.yaml").write_text(
        f"system: {{command: [{sys.executable}, -c, 'print(1)']}}\nevaluators: [{{type: equals, value: 1}}]\n"
        f"cases: [{{id: a, input: {deep}}}, {{id: b, input: .nan}}]\n",
        encoding="utf-8",
    )
    rows = Suite.load(tmp_path / "s.yaml", allow_commands=True).run().to_dict()["results"]
    assert [row["id"] for row in rows] == ["a", "b"]
