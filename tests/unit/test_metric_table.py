"""A declared metric table: values, names, addresses, schema, CSV, directions, scopes and bootstrap replicates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from typing import Any

import jsonschema
import numpy as np
import pytest

from calque.base.columns import Table
from calque.evaluation.ledger import Ledger
from calque.evaluation.measures import MeasureName, Undefined, settle
from calque.evaluation.metric_names import direction
from calque.evaluation.metrics import (
    Block,
    Count,
    CsvRows,
    Each,
    Formula,
    MeanOfClasses,
    MeanOfDocuments,
    Metric,
    MetricTable,
    PlainMetrics,
    Tally,
    WeightedBlock,
    add_up,
    block_of,
)
from calque.evaluation.presentation.result_schema import COUNT, SHARE
from calque.evaluation.task import Task
from calque.statistics.bootstrap import repeat_documents

TP, FP, FN, IOU = Count("tp"), Count("fp"), Count("fn"), Count("iou")
COUNTS = (
    Metric("tp", "TP", "Matches.", value=TP),
    Metric("fp", "FP", "False positives.", value=FP, better="lower", on_request=True),
)
RATIOS = (
    Metric("precision", "precision", "TP / all predictions.", undefined="no predictions", value=TP / (TP + FP)),
    Metric("f1", "F1", "Harmonic mean.", undefined="nothing", value=2 * TP / (2 * TP + FP + FN), aliases=("dice",)),
    Metric("loss", "loss", "Misses.", undefined="no truth", value=1 - TP / (TP + FN), better="lower"),
    Metric("mean_iou", "mean IoU", "How well boxes agree.", undefined="no pairs", value=IOU / TP),
    Metric("twice", "twice", "", value=Formula(lambda sums: 2.0 * sums["tp"], ("tp",)), support=TP, better="neither"),
)


@dataclass(frozen=True)
class Settings:
    labels: tuple[str, ...] = ()
    iou: tuple[float, ...] = (0.5, 0.75)

    def shows(self, label: str) -> bool:
        return not self.labels or label in self.labels

    def weight(self, label: str) -> float | None:
        return None if not self.shows(label) else 2.0 if label == "a" else 1.0


AT_THRESHOLD = Block({
    "micro": block_of((*COUNTS, *RATIOS), scope="", scopes={"micro": "all together"}),
    "macro_classes": block_of(
        RATIOS[:4],
        scope="macro_classes",
        over=MeanOfClasses(weights=Settings.weight),
        scopes={"macro_classes": "the mean of classes"},
    ),
    "weighted": block_of(RATIOS[:2], scope="weighted", over=MeanOfClasses(weight=TP + FN), on_request=True),
    "macro_documents": block_of(RATIOS[:4], scope="macro_documents", over=MeanOfDocuments(exact=True)),
    "per_class": Each(
        block_of((*COUNTS, *RATIOS)), by="label", over="label", shown=Settings.shows, present=TP + FP + FN
    ),
})  # fmt: skip
HELD_OUT = Block({"held_out": Metric("held_out", kind=SHARE)}, scope="route_by")
TABLE = MetricTable(
    "toy",
    (*COUNTS, *RATIOS, Metric("AP", kind=SHARE), Metric("held_out", kind=SHARE)),
    Block(
        {
            "metrics": Each(AT_THRESHOLD, by="threshold", first=lambda task: repr(task.iou[0])),
            "coco": Block({"AP": Metric("AP", kind=SHARE)}, others={"AR([0-9]+|inf)": Each(Metric("", kind=SHARE), by="name")}),
            "route": Block({}, others={"by:.*": Each(HELD_OUT, by="label", prefix="by:")}),
            "documents": Each(Block({"tp": COUNTS[0]}), by="label", listed=False),
            "counts": {"type": "object"},
        },
        order=("coco",),
    ),
)  # fmt: skip


def ledger(seed: int, documents: int = 7, rows: int = 60) -> Ledger:
    """Random outcomes: 0 is a match, 1 a false positive and 2 a miss."""
    made = np.random.default_rng(seed)
    unit = np.sort(made.integers(0, documents, rows)).astype(np.int32)
    table = Table({
        "unit": unit, "label": made.integers(0, 3, rows).astype(np.int32), "outcome": made.integers(0, 3, rows),
        "iou": made.random(rows),
    })  # fmt: skip
    return Ledger(units=tuple(range(documents)), tables={"rows": table}, names={"label": ("a", "b", "c", "never")})


def rows(threshold: float, ledger: Ledger) -> Tally:
    table, tally = ledger.table("rows"), Tally(ledger)
    matched = (table.array("outcome") == 0) & (table.array("iou") >= threshold)
    missed = (table.array("outcome") == 2) | ((table.array("outcome") == 0) & ~matched)
    tally.count("tp", table, matched, by="label")
    tally.count("fp", table, table.array("outcome") == 1, by="label")
    tally.count("fn", table, missed, by="label")
    tally.add("iou", table, table.array("iou"), matched, by="label")
    return tally


def compute(task: Settings, ledger: Ledger) -> dict[str, Any]:
    at = {}
    for threshold in task.iou:
        sums = add_up(AT_THRESHOLD, lambda _task, part, t=threshold: rows(t, part), task, ledger)
        at[repr(threshold)] = PlainMetrics(AT_THRESHOLD, task, ledger, sums).tree({})
    return {
        "metrics": at, "coco": {"AP": 0.5, "AR10": 0.25}, "route": {"by:vendor": {"held_out": 0.5}},
        "documents": {"d": {"tp": 1}}, "counts": {"pages": 3},
    }  # fmt: skip


def weighted(task: Settings, ledger: Ledger, threshold: float) -> WeightedBlock:
    return WeightedBlock(AT_THRESHOLD, task, rows(threshold, ledger), MeasureName("", threshold=threshold))


def value(tree: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        tree = tree[key]
    return tree


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("labels", [(), ("a", "c")])
def test_replicates_are_the_metrics_of_repeated_documents(seed: int, labels: tuple[str, ...]) -> None:
    task, whole = Settings(labels), ledger(seed)
    weights = np.random.default_rng(seed).poisson(1.0, (7, 5)).astype(np.int32)
    weights[:, 0] = 1
    for threshold in task.iou:
        part = weighted(task, whole, threshold)
        found = part.replicates(weights, list(part.measures()))
        assert found.keys() == part.measures().keys()
        for column in range(weights.shape[1]):
            tree, _ = settle(compute(task, repeat_documents(whole, weights[:, column])))
            known = dict.fromkeys(TABLE.names(tree))
            for name, values in found.items():
                expected = value(tree, TABLE.address(MeasureName.parse(name), task)) if name in known else None
                if expected is None:
                    assert math.isnan(values[column]), name
                else:
                    assert values[column] == pytest.approx(expected, abs=1e-12), name


def test_parts_of_a_ledger_add_up_to_the_same_bits() -> None:
    task, whole = Settings(), ledger(1, rows=200)
    parts = [whole.select(units) for units in ((0, 3), (1, 2, 5), (4, 6))]
    places = [np.array(units) for units in ((0, 3), (1, 2, 5), (4, 6))]

    class Parted(Ledger):
        def pieces(self) -> Any:
            from calque.evaluation.ledger import Piece

            yield from (Piece(part, place) for part, place in zip(parts, places, strict=True))

        def fold(self, work: Any) -> Any:
            return reduce(lambda one, other: one.join(other), map(work, self.pieces()))

    parted = Parted(units=whole.units, tables=whole.tables, names=whole.names)
    assert compute(task, parted) == compute(task, whole)


def test_names_follow_the_tree_and_lead_to_their_values() -> None:
    task = Settings()
    tree = compute(task, ledger(0))
    names = TABLE.names(tree)
    assert names[:3] == ["AP", "AR10", "tp@0.5"]
    assert "held_out" not in {MeasureName.parse(name).name for name in names if not name.startswith("route_by.")}
    assert "route_by.held_out/vendor" in names
    assert "f1@0.75/c" in names
    assert not [name for name in names if "never" in name or name == "tp/d"]
    for name in names:
        assert isinstance(value(tree, TABLE.address(MeasureName.parse(name), task)), float | int | Undefined)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("f1", ("metrics", "0.5", "micro", "f1")),
        ("micro.f1@0.75", ("metrics", "0.75", "micro", "f1")),
        ("macro_documents.f1", ("metrics", "0.5", "macro_documents", "f1")),
        ("f1/a", ("metrics", "0.5", "per_class", "a", "f1")),
        ("AP", ("coco", "AP")),
        ("AR100", ("coco", "AR100")),
        ("route_by.held_out/vendor", ("route", "by:vendor", "held_out")),
        ("unknown@0.5", ("metrics", "0.5", "micro", "unknown")),
        ("macro.f1@0.5", ("metrics", "0.5", "macro", "f1")),
    ],
)
def test_address_of_a_name(name: str, path: tuple[str, ...]) -> None:
    assert TABLE.address(MeasureName.parse(name), Settings()) == path


class Toy(Task):
    """A task with the table."""

    name = "toy of the metric table"

    @classmethod
    def metric_table(cls) -> MetricTable:
        return TABLE

    def score(self, truth: Any, predictions: Any, *, jobs: int = 1) -> Ledger:
        raise NotImplementedError


def test_titles_and_aliases_mean_metrics() -> None:
    names = ("Dice@0.5/a", "mean IoU", "MEAN_IOU", "unknown")
    assert [str(Toy.full_name(MeasureName.parse(name))) for name in names] == ["f1@0.5/a", "mean_iou", "mean_iou", "unknown"]


def test_direction_of_metrics() -> None:
    names = ("tp@0.5", "fp/a", "twice", "macro_classes.loss", "unknown")
    assert [direction(Toy, name) for name in names] == [1, -1, 0, -1, 1]


def test_comparisons_leave_out_what_is_on_request() -> None:
    shown = TABLE.names(compute(Settings(), ledger(0)), requested=False)
    assert "tp@0.5" in shown
    assert not [name for name in shown if name.startswith(("fp", "weighted."))]


def test_schema_describes_the_values() -> None:
    tree, _ = settle(compute(Settings(), ledger(0)))
    schema = TABLE.schema()
    jsonschema.validate(tree, {**schema, "required": list(TABLE.result.fields)})
    assert schema["properties"]["coco"]["patternProperties"] == {"^AR([0-9]+|inf)$": SHARE}
    assert schema["properties"]["metrics"]["additionalProperties"]["properties"]["micro"]["properties"]["tp"] == COUNT


def test_explain_knows_scopes_and_definitions() -> None:
    assert TABLE.scopes("f1") == {"micro": "all together", "macro_classes": "the mean of classes"}
    assert "twice" not in [metric.name for metric in TABLE.explained()]


def test_undefined_values_have_the_reason_of_their_block() -> None:
    empty = Ledger(units=(), tables={"rows": ledger(0).table("rows").cut(0, 0)}, names={"label": ("a",)})
    tree = compute(Settings(), empty)["metrics"]["0.5"]
    assert tree["micro"]["f1"] == Undefined("nothing")
    assert tree["macro_classes"]["f1"] == Undefined("no class has a value")
    assert tree["macro_documents"]["f1"] == Undefined("no document has a value")
    assert tree["per_class"] == {}


def test_support_is_the_documents_of_the_denominator() -> None:
    task, whole = Settings(), ledger(2, rows=12)
    table = whole.table("rows")
    support = weighted(task, whole, 0.5).measures()
    matched = (table.array("outcome") == 0) & (table.array("iou") >= 0.5)
    of_class = matched & (table.array("label") == 0)
    assert set(np.flatnonzero(support["mean_iou@0.5"].documents)) == set(table.array("unit")[matched])
    assert set(np.flatnonzero(support["mean_iou@0.5/a"].documents)) == set(table.array("unit")[of_class])
    assert support["tp@0.5"].documents.all()
    assert set(support["macro_classes.f1@0.5"].classes) == {"a", "b", "c", "never"}


def test_csv_has_a_row_per_metric_unless_rows_are_declared() -> None:
    tree = {"accuracy": 0.5, "per_class": {"a": {"accuracy": 1.0}}, "lists": [1, 2], "sizes": {"pages": 3}}
    accuracy = Metric("accuracy", value=TP / FP)
    result = block_of([accuracy], {"per_class": Each(block_of([accuracy]), by="label", over="label")})
    plain = MetricTable("toy", (accuracy,), result)
    assert plain.csv_rows(tree) == [{"measure": "accuracy", "value": 0.5}, {"measure": "accuracy/a", "value": 1.0}]
    declared = MetricTable("toy", (accuracy,), result, csv=(
        CsvRows("", {"class": ""}, only=("accuracy", "missing"), joined=("sizes", "lists")),
        CsvRows("per_class", keys=("class",)),
        CsvRows("not there"),
        lambda tree: iter([{"class": "extra", "pages": tree["sizes"]["pages"]}]),
    ))  # fmt: skip
    assert declared.csv_rows(tree) == [
        {"class": "", "accuracy": 0.5, "missing": "", "pages": 3, "lists": 2},
        {"class": "a", "accuracy": 1.0},
        {"class": "extra", "pages": 3},
    ]


def test_table_without_rows_does_not_compute() -> None:
    with pytest.raises(TypeError, match="does not say which rows to count"):
        TABLE.compute(Settings(), ledger(0))


ASKED = Metric("asked", value=TP, asked=lambda task: bool(task.labels))
PARTLY = Block(
    {
        "documents": Each(
            Block({"tp": COUNTS[0], "empty": {"type": "boolean"}}, {"asked": ASKED}), by="label", over="document"
        ),
        "given": block_of(COUNTS, {"note": {"type": "string"}}),
    },
    {"extra": block_of([ASKED], asked=lambda task: bool(task.labels))},
)


def partly(task: Settings, whole: Ledger, **supplied: Any) -> dict[str, Any]:
    sums = add_up(PARTLY, lambda _task, part: rows(0.5, part), task, whole)
    return PlainMetrics(PARTLY, task, whole, sums).tree(supplied)


def test_settings_decide_about_metrics_and_blocks() -> None:
    whole = ledger(0, documents=2, rows=9)
    without, with_it = partly(Settings(), whole), partly(Settings(("a",)), whole)
    assert "extra" not in without
    assert list(without["documents"]["0"]) == ["tp"]
    assert list(with_it["documents"]["0"]) == ["tp", "asked"]
    assert with_it["extra"]["asked"] == with_it["given"]["tp"]
    replicates = {
        task: WeightedBlock(PARTLY, task, rows(0.5, whole), MeasureName("")).measures()
        for task in (Settings(), Settings(("a",)))
    }
    assert [sorted(names) for names in replicates.values()] == [["fp", "tp"], ["asked", "fp", "tp"]]


def test_task_supplies_values_and_keys_of_entries() -> None:
    whole = ledger(0, documents=2, rows=9)
    made = partly(Settings(), whole, documents={"1": {"empty": True}}, given={"note": "n"})
    assert [list(entry) for entry in made["documents"].values()] == [["tp"], ["tp", "empty"]]
    assert list(made["given"]) == ["tp", "fp", "note"]
    whole_block = {"note": "n", "fp": 1, "tp": 2}
    assert list(partly(Settings(), whole, given=whole_block)["given"].items()) == list(whole_block.items())
