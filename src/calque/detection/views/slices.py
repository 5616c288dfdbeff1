"""Slices of detection: the metrics of documents that share a value, at every threshold, and three averages of COCO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from calque.detection import numbers
from calque.detection.task import Detection
from calque.evaluation.ledger import Ledger
from calque.evaluation.presentation.result_schema import COUNT, SHARE, Schema, map_of, object_of
from calque.evaluation.slices import SliceView, slices_schema
from calque.evaluation.task import Task

AVERAGES = ("AP", "AP50", "AP75")
SCOPES = ("micro", "macro_classes", "per_class")


class DetectionSlices(SliceView):
    """Metrics by threshold, and averages. The table shows the lowest threshold."""

    notes = ("the JSON has each class and threshold",)

    def measure(self, task: Task, ledger: Ledger) -> Mapping[str, Any]:
        """Return the metrics without views and error types, which a slice does not have."""
        assert isinstance(task, Detection)  # noqa: S101  # the view of this task
        return numbers.measure(replace(task, errors="none"), ledger)

    def block(self, numbers: Mapping[str, Any]) -> dict[str, Any]:
        """Return three scopes of each threshold, and three averages."""
        return {
            "metrics": {text: {scope: block[scope] for scope in SCOPES} for text, block in numbers["metrics"].items()},
            "coco": {name: numbers["coco"][name] for name in AVERAGES},
        }

    def averaged(self, block: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the ratios over all classes at each threshold, and the averages."""
        ratios = [ratio.name for ratio in numbers.RATIOS]
        metrics = {text: {name: scopes["micro"][name] for name in ratios} for text, scopes in block["metrics"].items()}
        return {"metrics": metrics, "coco": block["coco"]}

    def cells(self, averaged: Mapping[str, Any]) -> Sequence[Any]:
        """Return the ratios at the lowest threshold, and the averages."""
        return [*next(iter(averaged["metrics"].values())).values(), *averaged["coco"].values()]

    def head(self, averaged: Mapping[str, Any]) -> Sequence[str]:
        """Return the titles of the ratios, and the names of the averages."""
        return [*(ratio.title for ratio in numbers.RATIOS), *averaged["coco"]]

    def title(self, column: str, averaged: Mapping[str, Any]) -> str:
        """Return the title of the table, with the threshold."""
        return f"By {column} (IoU ≥ {next(iter(averaged['metrics']))})"

    def rows(self, numbers: Mapping[str, Any]) -> list[dict[str, Any]]:  # noqa: ARG002  # CSV has no slices of detection
        """Return no rows."""
        return []

    def schema(self, numbers: Mapping[str, Schema]) -> dict[str, Schema]:  # noqa: ARG002  # a slice has fewer scopes
        """Return the JSON Schema of slices under their key."""
        return _schema()


def _schema() -> dict[str, Schema]:
    ratios = {ratio.name: SHARE for ratio in numbers.RATIOS}
    counted = object_of({**dict.fromkeys(("tp", "fp", "fn"), COUNT), **ratios})
    at_threshold = object_of({"micro": counted, "macro_classes": object_of(ratios), "per_class": map_of(counted)})
    averages = object_of(dict.fromkeys(AVERAGES, SHARE))
    means = object_of({"metrics": map_of(object_of(ratios)), "coco": averages})
    return slices_schema({"metrics": map_of(at_threshold), "coco": averages}, means)
