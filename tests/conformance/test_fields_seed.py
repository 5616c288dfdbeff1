"""The code of the source document on box metrics: only its imports are changed, its numbers are the corrected ones."""

from __future__ import annotations

import json
from typing import Any

import pytest

from calque import ComparableField, StructuredModel
from calque.comparators import BBoxIoUComparator, LevenshteinComparator, NumericComparator
from calque.fields import BBoxMAPAccumulator, BulkStructuredModelEvaluator, ConfidenceAccumulator


class Invoice(StructuredModel):
    vendor_name: str = ComparableField(comparator=LevenshteinComparator(), threshold=0.8)
    invoice_number: str = ComparableField(comparator=LevenshteinComparator(), threshold=0.9)
    total_amount: float = ComparableField(comparator=NumericComparator(), threshold=0.95)


ground_truth = Invoice.from_json({
    "vendor_name": {"_value": "Acme Corp", "_bbox": [[10, 20], [200, 50]]},
    "invoice_number": {"_value": "INV-2024-001", "_bbox": [[10, 60], [200, 90]]},
    "total_amount": {"_value": 1500.00, "_bbox": [[10, 100], [200, 130]]},
})  # fmt: skip

prediction = Invoice.from_json({
    "vendor_name": {"_value": "Acme Corp", "_confidence": 0.95, "_bbox": [[12, 18], [198, 52]]},
    "invoice_number": {"_value": "INV-2024-001", "_confidence": 0.9, "_bbox": [[10, 60], [200, 90]]},
    "total_amount": {"_value": 1500.00, "_confidence": 0.85, "_bbox": [[50, 200], [150, 230]]},
})  # fmt: skip

wrong = Invoice.from_json({**prediction.raw_json(), "total_amount": {"_value": 1600.00, "_confidence": 0.4}})

dataset = [(ground_truth, prediction)]


def test_bulk_evaluation(capsys: pytest.CaptureFixture[str]) -> None:
    evaluator = BulkStructuredModelEvaluator(
        accumulators=[BBoxMAPAccumulator()],
    )
    for gt, pred in dataset:
        evaluator.update(gt, pred)
    result = evaluator.compute()
    bbox_metrics = result.accumulator_metrics["bbox_map_metrics"]
    print(f"mAP@[.50:.95]: {bbox_metrics['mean_ap']:.3f}")
    print(f"mAP@.50: {bbox_metrics['map_50']:.3f}")
    print(f"Coverage: {bbox_metrics['coverage']}")
    assert capsys.readouterr().out == (
        "mAP@[.50:.95]: 0.600\nmAP@.50: 0.667\nCoverage: {'fields_with_bbox': 3, 'fields_total': 3, 'ratio': 1.0}\n"
    )
    assert set(bbox_metrics) == {"mean_ap", "map_50", "map_75", "iou_thresholds", "fields", "coverage"}
    assert bbox_metrics["iou_thresholds"] == [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]
    assert bbox_metrics["fields"]["vendor_name"] == pytest.approx({
        "ap": 0.8, "ap_50": 1.0, "ap_75": 1.0, "mean_iou": 0.8659217877094972, "num_gt": 1, "num_detections": 1,
    })  # fmt: skip
    assert bbox_metrics["fields"]["total_amount"]["mean_iou"] == 0.0


def both() -> list[Any]:
    return [
        ConfidenceAccumulator(),
        BBoxMAPAccumulator(),
    ]


def test_combining_with_confidence_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    evaluator = BulkStructuredModelEvaluator(accumulators=both())
    for gt, pred in [*dataset, (ground_truth, wrong)]:
        evaluator.update(gt, pred)
    metrics = evaluator.compute().accumulator_metrics
    print(f"mAP: {metrics['bbox_map_metrics']['mean_ap']:.3f}")
    print(f"AUROC: {metrics['confidence_metrics']['overall']['auroc']['value']:.3f}")
    assert capsys.readouterr().out == "mAP: 0.600\nAUROC: 1.000\n"


def test_auroc_of_the_example_itself_is_undefined() -> None:
    evaluator = BulkStructuredModelEvaluator(accumulators=both())
    evaluator.update(ground_truth, prediction)
    computed = evaluator.compute()
    assert computed.confidence_metrics is not None
    assert computed.confidence_metrics["overall"]["auroc"] == {"value": None}
    assert computed.result.undefined["confidence_metrics.overall.auroc.value"] == "all 3 fields are right"


def test_single_document_sanity_check(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.warns(UserWarning, match="noisy"):
        result = ground_truth.compare_with(
            prediction,
            add_bbox_metrics=True,
            document_field_comparisons=True,
        )
    bbox_metrics = result["bbox_metrics"]
    print(f"Mean AP: {bbox_metrics['mean_ap']:.3f}")
    for field, m in bbox_metrics["fields"].items():
        print(f" {field}: mean_iou={m['mean_iou']:.3f}, AP={m['ap']:.3f}")
    assert capsys.readouterr().out == (
        "Mean AP: 0.600\n invoice_number: mean_iou=1.000, AP=1.000\n"
        " total_amount: mean_iou=0.000, AP=0.000\n vendor_name: mean_iou=0.866, AP=0.800\n"
    )
    assert [row["expected_key"] for row in result["field_comparisons"]] == ["vendor_name", "invoice_number", "total_amount"]


def test_iou_thresholds() -> None:
    for thresholds, expected in ((0.5, 0.6667), ([0.5, 0.75, 0.9], 0.5556)):
        evaluator = BulkStructuredModelEvaluator(accumulators=[BBoxMAPAccumulator(iou_thresholds=thresholds)])
        evaluator.update(ground_truth, prediction)
        metrics = evaluator.compute().accumulator_metrics["bbox_map_metrics"]
        assert metrics["mean_ap"] == pytest.approx(expected, abs=1e-4)
    with pytest.warns(UserWarning, match="noisy"):
        single = ground_truth.compare_with(prediction, add_bbox_metrics=True, bbox_iou_thresholds=0.5)["bbox_metrics"]
    assert single["mean_ap"] == single["map_50"] == pytest.approx(2 / 3)
    assert single["map_75"] is None


def test_bbox_iou_comparator(capsys: pytest.CaptureFixture[str]) -> None:
    cmp = BBoxIoUComparator(threshold=0.5)
    iou = cmp.compare([[0, 0], [100, 50]], [[10, 5], [110, 55]])
    print(f"IoU: {iou:.3f}")
    assert capsys.readouterr().out == "IoU: 0.681\n"
    assert iou == pytest.approx(4050 / 5950)


def test_checkpointing_and_sharding() -> None:
    """Accumulators and the evaluator have states of plain JSON values."""
    pairs = [(ground_truth, prediction, "a"), (ground_truth, wrong, "b"), (wrong, prediction, "c")]
    whole = BulkStructuredModelEvaluator(accumulators=both())
    whole.update_batch(pairs)
    states = []
    for entry in reversed(pairs):
        shard = BulkStructuredModelEvaluator(accumulators=both())
        shard.update(*entry)
        states.append(json.loads(json.dumps(shard.get_state())))
    merged = BulkStructuredModelEvaluator(accumulators=both())
    merged.load_state(states[0])
    for state in states[1:]:
        merged.merge_state(state)
    assert merged.compute().accumulator_metrics == whole.compute().accumulator_metrics
    assert merged.compute().metrics == whole.compute().metrics
    assert merged.compute().field_metrics == whole.compute().field_metrics
