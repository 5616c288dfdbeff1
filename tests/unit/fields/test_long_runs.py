"""Evaluations that are longer than memory: what waits in a file gives the same numbers as what does not."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import CalqueError, Evaluator, MergeError
from calque.base.columns import Strings, Table
from calque.comparators import BaseComparator, register_comparator
from calque.engines import warnings_to
from calque.evaluation import evaluator as evaluator_module
from calque.evaluation.ledger import UNIT, Ledger
from calque.evaluation.storage import ranking
from calque.evaluation.storage.partitioned import MOST_BYTES, PartCollector, PartitionedLedger
from calque.fields import BBoxMAPAccumulator, BulkStructuredModelEvaluator, ConfidenceAccumulator, Fields, scoring

FIELDS = {"total": {"type": "float"}, "lines": {"type": "list[object]", "fields": {"text": {"type": "str"}}}}
SCHEMA = {"fields": FIELDS}


def rich(value: Any, dice: random.Random, *, rated: bool) -> dict[str, Any]:
    left = dice.choice([0, 1, 5])
    wrapped = {"_value": value, "_bbox": [left, 0, left + 10, 10]}
    return {**wrapped, "_confidence": dice.choice([0.2, 0.5, 0.9, dice.random()])} if rated and dice.random() < 0.8 else wrapped


def records(count: int, seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    dice = random.Random(seed)  # test data
    sides: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
    for number in range(count):
        texts = [f"line {dice.randrange(4)}" for _ in range(dice.randrange(4))]
        for side, rated in zip(sides, (False, True), strict=True):
            if dice.random() < 0.95:
                lines = [{"text": rich(text if dice.random() < 0.8 else "other", dice, rated=rated)} for text in texts]
                side.append({"id": number, "total": rich(float(dice.randrange(3)), dice, rated=rated), "lines": lines})
    return sides


def short_of_memory(patch: pytest.MonkeyPatch, rows: int = 7) -> None:
    patch.setattr(evaluator_module, "MOST_BYTES", 4000)
    patch.setattr(ranking, "RANGE_ROWS", rows)
    patch.setattr(scoring, "AT_ONCE", 5)


@given(st.integers(0, 30), st.integers(0, 10**6), st.integers(1, 50))
def test_numbers_are_the_same_to_the_bit(count: int, seed: int, rows: int) -> None:
    truth, found = records(count, seed)
    task = Fields(schema=SCHEMA)
    whole = Evaluator(task).update(truth, found).compute().to_json()
    with pytest.MonkeyPatch.context() as patch:
        short_of_memory(patch, rows)
        long = Evaluator(task, keep="numbers").update(truth, found)
        assert long.compute().to_json() == whole
        assert long.compute().to_json() == whole
        assert Evaluator.from_state(long.state()).compute().to_json() == whole


@given(st.integers(0, 10**6), st.permutations(range(6)))
def test_neither_order_nor_merging_changes_a_bit(seed: int, order: list[int]) -> None:
    truth, found = records(30, seed)
    task = Fields(schema=SCHEMA)
    whole = Evaluator(task).update(truth, found).compute().to_json()
    with pytest.MonkeyPatch.context() as patch:
        short_of_memory(patch)
        updated, merged = Evaluator(task, keep="numbers"), Evaluator(task, keep="numbers")
        for shard in order:
            part = [[record for record in side if record["id"] % 6 == shard] for side in (truth, found)]
            updated.update(*part)
            merged.merge(Evaluator(task, keep="numbers").update(*part))
        assert updated.compute().to_json() == merged.compute().to_json() == whole


def test_a_long_run_lies_in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, found = records(60, 1)
    short_of_memory(monkeypatch)
    long = Evaluator(Fields(schema=SCHEMA), keep="numbers").update(truth, found).ledger()
    assert isinstance(long, PartitionedLedger)
    assert len(long.parts) > 3
    whole = Evaluator(Fields(schema=SCHEMA, keep_outcomes=False)).update(truth, found).ledger()
    assert not isinstance(whole, PartitionedLedger)
    assert long.units == whole.units
    assert long.names.items() <= whole.names.items()
    for name in ("documents", "counts", "boxes", "ratings"):
        for column in whole.table(name):
            assert long.table(name).array(column).tobytes() == whole.table(name).array(column).tobytes()


def test_what_is_kept_for_outcomes_stays_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    short_of_memory(monkeypatch)
    assert not isinstance(Evaluator(Fields(schema=SCHEMA)).update(*records(60, 1)).ledger(), PartitionedLedger)


def test_an_update_that_fails_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, found = records(40, 2)
    short_of_memory(monkeypatch)
    evaluator = Evaluator(Fields(schema=SCHEMA, strict=True), keep="numbers").update(truth[:20], found[:20])
    before = evaluator.compute().to_json()
    broken = [*found[20:], {"id": 999, "total": {"_value": 1.0, "_bbox": "here"}}]
    with pytest.raises(CalqueError, match="999"):
        evaluator.update(truth[20:], broken)
    assert evaluator.compute().to_json() == before


def test_accumulators_are_the_same_too(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, found = ({record["id"]: record for record in side} for side in records(50, 3))

    def computed() -> dict[str, Any]:
        bulk = BulkStructuredModelEvaluator(SCHEMA, [BBoxMAPAccumulator(), ConfidenceAccumulator()])
        for unit in sorted(truth.keys() & found.keys(), reverse=True):
            bulk.update(truth[unit], found[unit], doc_id=unit)
        return bulk.compute().accumulator_metrics

    whole = computed()
    short_of_memory(monkeypatch)
    monkeypatch.setattr("calque.fields.accumulators.MOST_BYTES", 500)
    monkeypatch.setattr("calque.fields.bulk.BUFFER", 4)
    assert computed() == whole


EVALUATING = """
import sys
import numpy as np
from calque import Evaluator
from calque.evaluation import evaluator as evaluator_module
from calque.base.columns import Table
from calque.evaluation.ledger import Ledger
from calque.fields import Fields

FIELDS = 100
evaluator_module.MOST_BYTES = int(sys.argv[2])
evaluator = Evaluator(Fields(schema={"fields": {"a": {"type": "str"}}}), keep="numbers")
# What comparing makes of documents: one has a field that is right, all have boxes and confidences that differ.
like = evaluator.task.score(*next(evaluator.task.batches([{"a": "x"}], [{"a": "x"}])))
random = np.random.default_rng(0)
for first in range(0, int(sys.argv[1]), 500):
    unit = np.repeat(np.arange(500, dtype=np.int32), FIELDS)
    confidence, match, yes = random.random(len(unit)), random.random(len(unit)) < 0.9, np.ones(len(unit), dtype=np.bool_)
    code = np.zeros(len(unit), dtype=np.int32)
    tables = {name: table.take(np.zeros(500 * bool(table.height), dtype=np.int64)) for name, table in like.tables.items()}
    for table in tables.values():
        table.array("unit")[:] = np.arange(table.height)
    tables["boxes"] = Table({"unit": unit, "label": code, "has_truth": yes, "has_found": yes, "iou": random.random(len(unit)),
                             "confidence": confidence, "match": match})
    tables["ratings"] = Table({"unit": unit, "key": code, "match": match, "confidence": confidence})
    names = {**like.names, "key": ("a",)}
    evaluator.add(Ledger(units=tuple(range(first, first + 500)), tables=tables, names=names, details=like.details))
numbers = evaluator.compute().numbers
status = open("/proc/self/status").read()
print(numbers["bbox_map_metrics"]["fields"]["a"]["num_detections"], status.partition("VmHWM:")[2].split()[0])
"""


def peak(documents: int, most_bytes: int) -> int:
    """The most kilobytes that a process has which evaluates so many documents and keeps so much of them in memory."""
    command = [sys.executable, "-c", EVALUATING, str(documents), str(most_bytes)]
    counted, kilobytes = map(int, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert counted == documents * 100
    return kilobytes


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell a process its own peak")
def test_four_times_the_documents_need_no_more_memory() -> None:
    """What is left of growth is noise: a fraction of what a quarter of them takes when they stay in memory."""
    few, many, everything = 10_000, 40_000, 1 << 40
    before = peak(few, MOST_BYTES)
    in_a_file, in_memory = peak(many, MOST_BYTES) - before, peak(few, everything) - before
    assert in_a_file < in_memory / 2


def test_a_document_that_an_accumulator_saw_twice_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calque.fields.accumulators.MOST_BYTES", 0)
    bulk = BulkStructuredModelEvaluator(SCHEMA, [ConfidenceAccumulator()])
    bulk.update({"total": 1.0}, {"total": {"_value": 1.0, "_confidence": 0.5}}, doc_id="a")
    bulk.compute()
    [accumulator] = bulk.accumulators
    accumulator.merge_state(accumulator.get_state())
    with pytest.raises(MergeError, match="seen twice: document 'a'"):
        accumulator.compute()


@dataclass(frozen=True)
class Fatal(BaseComparator):
    """Stands for a system that ends processes when memory runs out."""

    def _compare(self, truth: object, found: object) -> float:
        os._exit(1)


def test_a_worker_that_ends_by_itself_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calque.fields.scoring.FEW", 1)
    register_comparator("fatal", Fatal)
    records = [{"a": "x"}] * 100
    task = Fields(schema={"fields": {"a": {"type": "str", "comparator": "fatal"}}})
    with warnings_to(lambda _: None), pytest.raises(CalqueError, match="fewer --jobs"):
        Evaluator(task, jobs=2).update(records, records)


def test_strings_come_back_from_the_file() -> None:
    def ledger(unit: str, *words: str) -> Ledger:
        table = Table({UNIT: np.zeros(len(words), dtype=np.int32), "word": Strings.pack(words)})
        return Ledger(units=(unit,), tables={"words": table})

    parts = PartCollector(0)
    parts.add(ledger("b", "Straße", ""))
    parts.add(ledger("a", "x"))
    joined = parts.ledger()
    assert joined.units == ("a", "b")
    words = joined.table("words")["word"]
    assert isinstance(words, Strings)
    assert words.tolist() == ["x", "Straße", ""]
    assert [chunk.array(UNIT).tolist() for chunk in joined.chunks("words")] == [[1, 1], [0]]


def test_a_temporary_folder_that_cannot_be_written_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    truth, found = records(40, 4)
    short_of_memory(monkeypatch)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(CalqueError, match=r"gone.*TMPDIR"):
        Evaluator(Fields(schema=SCHEMA), keep="numbers").update(truth, found)


def test_issues_are_shown_at_one_place_however_long_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, found = records(40, 5)
    odd = [{**record, "total": {"_value": 1.0, "_confidence": 7}} for record in found]
    task = Fields(schema=SCHEMA)
    whole = Evaluator(task).update(truth, odd).issues()
    short_of_memory(monkeypatch)
    assert Evaluator(task, keep="numbers").update(truth, odd).issues() == whole
    assert json.dumps([issue.to_dict() for issue in whole]).count("odd-confidence") == 1
