"""Section 4 of the detection contract: the JSON shape, its schema, and the reporting template."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from calque import Corpus, Detection, Evaluator, __version__
from calque.detection.presentation import result_schema
from calque.evaluation.presentation.sections import to_markdown
from tests.conformance import strategies
from tests.examples import examples
from tests.snapshots import BOX, predictions, truth, valid_predictions, valid_truth, write

RATIOS = {"precision", "recall", "f1", "mean_iou", "mean_coverage", "mean_purity"}
SCHEMA = Draft202012Validator(result_schema())


@pytest.fixture(scope="module")
def tree() -> dict[str, Any]:
    result: dict[str, Any] = json.loads(Evaluator(Detection()).update(valid_truth(), valid_predictions()).compute().to_json())
    return result


def test_the_keys_of_the_shape(tree: dict[str, Any]) -> None:
    assert {"task", "version", "signature", "thresholds", "metrics", "documents", "undefined", "issues"} <= tree.keys()
    assert tree["task"] == "detection"
    assert tree["version"] == __version__
    assert (
        tree["signature"]
        == f"calque {__version__} | detection | match:greedy | iou:0.5,0.75 | missing:penalize | maxdets:1,10,100"
    )
    assert tree["thresholds"] == [0.5, 0.75]
    assert tree["documents"] == {"only_truth": [], "only_predictions": []}
    assert tree["issues"] == []


def test_thresholds_as_keys_are_the_repr_of_the_number(tree: dict[str, Any]) -> None:
    assert list(tree["metrics"]) == ["0.5", "0.75"]
    odd = Evaluator(Detection(iou=(0.1 + 0.2, 1))).update(valid_truth(), valid_predictions()).compute().to_dict()
    assert list(odd["metrics"]) == ["0.30000000000000004", "1.0"]


def test_the_blocks_of_a_threshold(tree: dict[str, Any]) -> None:
    for block in tree["metrics"].values():
        assert {"micro", "macro_classes", "macro_documents", "per_class"} <= block.keys()
        assert block["micro"].keys() == {"tp", "fp", "fn", *RATIOS}
        assert block["macro_classes"].keys() >= RATIOS
        assert block["macro_documents"].keys() >= RATIOS
        assert list(block["per_class"]) == ["Figure", "Table"]
        for values in block["per_class"].values():
            assert values.keys() == {"tp", "fp", "fn", *RATIOS}
            assert all(isinstance(values[name], int) for name in ("tp", "fp", "fn"))


def test_a_class_without_any_object_is_there() -> None:
    files = truth({("a", 0): [("Figure", BOX)]}), predictions({("a", 0): []})
    per_class = Evaluator(Detection()).update(*files).compute().numbers["metrics"]["0.5"]["per_class"]
    assert per_class["Table"] == {"tp": 0, "fp": 0, "fn": 0, **dict.fromkeys(RATIOS)}


def test_undefined_names_paths_of_the_tree(tree: dict[str, Any]) -> None:
    assert tree["undefined"]["metrics.0.5.per_class.Table.mean_iou"] == "no pairs"


def test_issues_have_code_file_pointer_message_count() -> None:
    expected = valid_truth()
    for thing in expected["predictions"][0]["objects"]:
        thing["bbox"][2] = 1.0000000000000002
    (issue,) = Evaluator(Detection()).update(expected, valid_predictions()).compute().to_dict()["issues"]
    assert issue["code"] == "clipped"
    assert issue["severity"] == "note"
    assert issue["pointer"] == "/predictions/0/objects/0/bbox/2"
    assert issue["count"] == 2


def test_the_published_schema_is_a_schema(calque: Callable[..., Any]) -> None:
    run = calque("explain", "--json-schema", "detect")
    assert run.code == 0
    Draft202012Validator.check_schema(run.json)
    assert run.json == result_schema()


def test_the_command_prints_what_the_published_schema_describes(calque: Callable[..., Any], tmp_path: Path) -> None:
    files = write(tmp_path / "gt.json", valid_truth()), write(tmp_path / "pred.json", valid_predictions())
    schema = Draft202012Validator(calque("explain", "--json-schema", "detect").json)
    schema.validate(calque("detect", *files, "--format", "json").json)


@examples(20)
@given(strategies.pairs())
def test_every_result_is_what_the_published_schema_describes(files: tuple[Any, Any]) -> None:
    result = Evaluator(Detection(min_area=0.02, class_weight={"Table": 2.0})).update(*files).compute()
    SCHEMA.validate(json.loads(result.to_json()))


@pytest.mark.parametrize("path", [("metrics", "0.5", "micro", "tp"), ("metrics", "0.75", "per_class", "Table", "recall")])
def test_the_published_schema_refuses_other_shapes(tree: dict[str, Any], path: tuple[str, ...]) -> None:
    broken = json.loads(json.dumps(tree))
    node = broken
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = "high"
    assert not SCHEMA.is_valid(broken)


def test_the_json_is_strict() -> None:
    empty = Evaluator(Detection()).update(truth({("a", 0): []}), predictions({("a", 0): []})).compute()
    text = empty.to_json()
    assert "NaN" not in text
    assert all(not isinstance(value, float) or math.isfinite(value) for value in json.loads(text)["thresholds"])


MARKDOWN = """\
## Model: model-a

### Detection Metrics (T=0.5)

| Class | Precision | Recall |
| :--- | ---: | ---: |
| Figure | 1.0000 | 1.0000 |
| Table | 0.0000 | 0.0000 |
| all (micro) | 0.5000 | 0.5000 |

### Optional Detection Metrics (T=0.75)

| Class | Precision | Recall |
| :--- | ---: | ---: |
| Figure | 1.0000 | 1.0000 |
| Table | 0.0000 | 0.0000 |
| all (micro) | 0.5000 | 0.5000 |

### Spatial Metrics

| Class | Mean IoU | Mean Coverage | Mean Purity |
| :--- | ---: | ---: | ---: |
| Figure | 0.9500 | 0.9500 | 1.0000 |
| Table | – | – | – |
"""


def test_markdown_is_the_reporting_template_filled_in() -> None:
    result = Evaluator(Detection()).update(valid_truth(), valid_predictions()).compute()
    text = to_markdown(result.template())
    assert text.startswith(MARKDOWN)
    assert "no pairs (Table)" in text
    assert "missing:penalize" in text.splitlines()[-1]


def test_markdown_escapes_what_a_model_calls_itself() -> None:
    found = predictions({("a", 0): [("Figure", BOX, 0.5)]}, model="yolo_v8|<b>*best*\n# boo")
    result = Evaluator(Detection()).update(truth({("a", 0): [("Figure", BOX)]}), found).compute()
    heading, second, *_ = to_markdown(result.template()).splitlines()
    assert heading == r"## Model: yolo\_v8\|\<b\>\*best\*\\n# boo"
    assert second == ""


@pytest.mark.parametrize(
    ("least", "told"), [(0.0, []), (0.5, ["not counted, predictions: 1 low score"])], ids=["all count", "one does not"]
)
def test_the_overview_names_a_side_only_when_something_of_it_does_not_count(least: float, told: list[str]) -> None:
    expected = Corpus.from_arrays([[0, 0, 5, 5]] * 2, ["Table"] * 2, documents=["a", "b"])
    found = Corpus.from_arrays([[0, 0, 5, 5]] * 2, ["Table"] * 2, documents=["a", "b"], scores=[1.0, 0.1])
    printed = str(Evaluator(Detection(min_score=least)).update(expected, found).compute())
    assert [line for line in printed.splitlines() if line.startswith("not counted")] == told


@pytest.mark.parametrize(("view", "more"), [("kinds", {"subtypes", "flags"}), ("tide", set())])
def test_only_the_own_kinds_have_subtypes_and_flags(view: str, more: set[str]) -> None:
    errors = Evaluator(Detection(errors=view)).update(valid_truth(), valid_predictions()).compute().numbers["errors"]
    assert errors.keys() & {"subtypes", "flags"} == more
