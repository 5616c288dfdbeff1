"""The reference cases of the fields contract: stickler 1.0.0's numbers, to 1e-9, in paired accounting."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from calque import Evaluator, Fields, StructuredModel

FOLDER = Path(__file__).parent / "fields"
CASES = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
COMPARED = ("bbox_map_metrics", "confidence_metrics", "overall", "fields", "document_count")


def differences(ours: Any, theirs: Any, path: str = "") -> list[str]:
    """Where two JSON trees differ; numbers may differ by 1e-9."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        keys = [f"{path}: keys {set(ours) ^ set(theirs)}"] if set(ours) != set(theirs) else []
        return keys + [line for key in set(ours) & set(theirs) for line in differences(ours[key], theirs[key], f"{path}/{key}")]
    if isinstance(ours, list) and isinstance(theirs, list):
        lengths = [f"{path}: {len(ours)} and {len(theirs)} entries"] if len(ours) != len(theirs) else []
        pairs = enumerate(zip(ours, theirs, strict=False))
        return lengths + [line for index, (a, b) in pairs for line in differences(a, b, f"{path}/{index}")]
    if isinstance(ours, float | int) and isinstance(theirs, float | int) and not isinstance(ours, bool):
        return [] if abs(ours - theirs) <= 1e-9 else [f"{path}: {ours} and {theirs}"]
    return [] if ours == theirs else [f"{path}: {ours!r} and {theirs!r}"]


def task_of(case: dict[str, Any], **settings: Any) -> Fields:
    iou = {} if case["iou_thresholds"] is None else {"iou": tuple(case["iou_thresholds"])}
    return Fields(schema=case["schema"], **iou, **settings)


def sides(case: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    return [each["gt"] for each in case["documents"]], [each["pred"] for each in case["documents"]]


def test_there_are_cases() -> None:
    assert len(CASES) == 39


@pytest.mark.parametrize("name", CASES)
def test_paired_accounting_gives_the_reference_numbers(name: str, kernels: str) -> None:
    case = CASES[name]
    result = Evaluator(task_of(case, accounting="paired")).update(*sides(case)).compute()
    expected = {key: case["expected"][key] for key in COMPARED}
    assert differences({key: result.to_dict()[key] for key in COMPARED}, expected) == []


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case["assignment_ties"]])
def test_paired_accounting_walks_the_reference_rows(name: str) -> None:
    case = CASES[name]
    result = Evaluator(task_of(case, accounting="paired")).update(*sides(case)).compute()
    rows: dict[str, list[dict[str, Any]]] = {str(number): [] for number in range(len(case["documents"]))}
    table = result.ledger.table("rows")
    paths = zip(table["truth_path"], table["found_path"], strict=True)
    values = zip(paths, table.array("match").tolist(), table.array("score").tolist(), strict=True)
    for unit, ((truth, found), match, score) in zip(table.array("unit").tolist(), values, strict=True):
        rows[str(unit)].append({"gt_path": truth or None, "pred_path": found or None, "match": match, "score": score})
    assert differences(list(rows.values()), [each["rows"] for each in case["expected"]["per_document"]]) == []


@pytest.mark.parametrize("name", CASES)
def test_compare_with_gives_the_reference_numbers_of_each_document(name: str) -> None:
    case = CASES[name]
    model = StructuredModel.model_from_config(case["schema"])
    for document, expected in zip(case["documents"], case["expected"]["per_document"], strict=True):
        truth, found = model.from_json(document["gt"]), model.from_json(document["pred"])
        for fd, reference in ((False, expected), (True, expected["recall_with_fd"])):
            result = truth.compare_with(
                found, include_confusion_matrix=True, document_non_matches=True, recall_with_fd=fd, accounting="paired"
            )
            matrix = result["confusion_matrix"]
            for scope in ("overall", "aggregate"):
                flat = {**matrix[scope], **matrix[scope]["derived"]}
                assert differences({key: flat[key] for key in reference[scope]}, reference[scope]) == []
        assert differences(result["field_scores"], expected["field_scores"]) == []
        assert result["overall_score"] == pytest.approx(expected["overall_score"], abs=1e-9)
        assert len(result["non_matches"]) == expected["n_non_matches"]


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case["expected"]["two_shard_merge"]])
@pytest.mark.parametrize("accounting", ["paired", "complete"])
def test_two_shards_merge_to_the_same_bits(name: str, accounting: str) -> None:
    case = CASES[name]
    task = task_of(case, accounting=accounting)
    truth, found = ([{"doc_id": f"{n:03}", **each} for n, each in enumerate(side)] for side in sides(case))
    whole = Evaluator(task).update(truth, found)
    half = len(truth) // 2
    shards = [Evaluator(task).update(truth[part], found[part]) for part in (slice(half, None), slice(half))]
    merged = Evaluator.from_state(shards[0].state()).merge(shards[1])
    assert merged.compute().to_json() == whole.compute().to_json()
    if accounting == "paired":
        reference = case["expected"]["two_shard_merge"]
        assert merged.compute()["mean_ap"] == pytest.approx(reference["bbox_mean_ap"], abs=1e-9)
        assert merged.compute().numbers["document_count"] == reference["document_count"]


@pytest.mark.parametrize("name", CASES)
def test_complete_accounting_sees_every_box(name: str) -> None:
    case = CASES[name]
    numbers = Evaluator(task_of(case)).update(*sides(case)).compute().numbers
    boxes = [json.dumps(side).count('"_bbox"') - json.dumps(side).count('"_bbox": null') for side in sides(case)]
    classes = numbers["bbox_map_metrics"]["fields"].values()
    assert numbers["unaccounted_boxes"] == 0
    assert [sum(each["num_gt"] for each in classes), sum(each["num_detections"] for each in classes)] == boxes


def test_the_two_accountings_agree_where_no_box_gets_lost() -> None:
    for name, case in CASES.items():
        if case["tag"] == "core" and name not in ("items_pred_empty_list", "items_null_leaf"):
            both = [
                Evaluator(task_of(case, accounting=kind)).update(*sides(case)).compute().numbers
                for kind in ("paired", "complete")
            ]
            assert differences(both[0]["bbox_map_metrics"], both[1]["bbox_map_metrics"]) == [], name
            assert differences(both[0]["overall"], both[1]["overall"]) == [], name


def test_boxes_of_null_lists_are_missed_and_those_of_made_up_items_are_false() -> None:
    missed = CASES["items_pred_null_list"]
    fields = Evaluator(task_of(missed)).update(*sides(missed)).compute().numbers["bbox_map_metrics"]["fields"]
    assert {name: each["num_gt"] for name, each in fields.items() if name.startswith("line")} == {
        f"line_items[].{leaf}": 3 for leaf in ("description", "quantity", "unit_price", "amount")
    }
    made_up = CASES["items_gt_empty_pred_full"]
    fields = Evaluator(task_of(made_up)).update(*sides(made_up)).compute().numbers["bbox_map_metrics"]["fields"]
    assert {(each["num_gt"], each["ap"]) for name, each in fields.items() if name.startswith("line")} == {(0, None)}
    assert sum(each["num_detections"] for name, each in fields.items() if name.startswith("line")) > 0
