"""Every task gives the same bits for any number of workers, which do take part."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from calque import Detection, Evaluator, Fields, Words
from calque.checks import Suite
from calque.comparators import register_comparator
from calque.corpus.words import WordCorpus
from calque.readers.records import read_record_pair
from calque.words import build_lattice
from tests.snapshots import predictions, truth

pytestmark = pytest.mark.long  # workers are real processes, which takes its time
SCHEMA = {
    "fields": {
        "vendor": {"type": "str"},
        "where": {"type": "str", "comparator": "same_process"},
        "lines": {"type": "list[object]", "fields": {"text": {"type": "str"}}},
    }
}
HERE = os.getpid()


def same_process(truth: str, found: str) -> float:
    """A comparator of one's own: 1 where the tests run, 0 in any other process."""
    return float(os.getppid() != int(truth) and found == truth)


def states(task: object, *sides: object) -> set[bytes]:
    return {Evaluator(task, jobs=jobs).update(*sides).state() for jobs in (1, 2, 3)}  # type: ignore[arg-type]  # any task


def records(count: int) -> list[list[dict[str, object]]]:
    chance = random.Random("records")

    def record(number: int) -> dict[str, object]:
        lines = [{"text": {"_value": f"line {chance.randint(0, 3)}", "_confidence": chance.random()}} for _ in range(3)]
        return {"id": f"d{number}", "vendor": chance.choice(["Acme", "Acme Corp", ""]), "lines": lines}

    return [[record(number) for number in range(count) if chance.random() > 0.05] for _ in range(2)]


def test_fields(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("calque.fields.scoring.FEW", 1)
    monkeypatch.setattr("calque.fields.scoring.AT_ONCE", 70)
    sides = records(150)
    task = Fields(schema={"fields": {name: SCHEMA["fields"][name] for name in ("vendor", "lines")}})
    alone = states(task, *sides)
    assert len(alone) == 1
    for side, name in zip(sides, ("truth.jsonl", "found.jsonl"), strict=True):
        (tmp_path / name).write_text("".join(json.dumps(each) + "\n" for each in side))
    monkeypatch.setattr("calque.readers.records.LONG", 0)
    read = [read_record_pair(tmp_path / "truth.jsonl", tmp_path / "found.jsonl", jobs=jobs) for jobs in (1, 2, 3)]
    numbers = {json.dumps(Evaluator(task, jobs=3).update(*pair).compute().numbers) for pair in read}
    assert numbers == {json.dumps(Evaluator(task).update(*sides).compute().numbers)}


def test_fields_in_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("calque.fields.scoring.FEW", 1)
    for side, name in zip(records(30), ("truth", "found"), strict=True):
        (tmp_path / name).mkdir()
        for each in side:
            (tmp_path / name / f"{each['id']}.json").write_text(json.dumps(each))
    task = Fields(schema={"fields": {"vendor": {"type": "str"}}})
    assert len(states(task, tmp_path / "truth", tmp_path / "found")) == 1


def test_comparators_of_ones_own_go_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calque.fields.scoring.FEW", 1)
    register_comparator("same_process", same_process)
    side = [{"id": number, "where": str(HERE)} for number in range(40)]
    task = Fields(schema={"fields": {"where": SCHEMA["fields"]["where"]}})
    alone, together = (Evaluator(task, jobs=jobs).update(side, side).compute()["cm_recall"] for jobs in (1, 2))
    assert (alone, together) == (1.0, 0.0)


def test_what_cannot_be_sent_is_compared_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calque.fields.scoring.FEW", 1)
    register_comparator("here_only", lambda truth, found: float(os.getpid() == HERE))
    side = [{"id": number, "text": "x"} for number in range(40)]
    task = Fields(schema={"fields": {"text": {"type": "str", "comparator": "here_only"}}})
    assert Evaluator(task, jobs=2).update(side, side).compute()["cm_recall"] == 1.0


def test_words() -> None:
    chance = random.Random("words")
    sides = [{f"d{k}": chance.choices(["the", "cat", "sat", "on"], k=20) for k in range(30)} for _ in range(2)]
    lattices = {unit: build_lattice({"one": words, "two": words[::-1]}) for unit, words in sides[1].items()}
    found = WordCorpus.of({unit: tuple(words) for unit, words in sides[1].items()}, lattices=lattices)
    assert len(states(Words(lattice="given", characters=True, errors=5), sides[0], found)) == 1


@pytest.mark.parametrize("settings", [{"lattice": "given", "errors": 3}, {"characters": "graphemes", "stop_words": ("the",)}])
def test_many_words(settings: dict[str, object]) -> None:
    chance = random.Random("many words")
    sides = [{f"d{k}": chance.choices(["the", "cät", "sat", "on"], k=9) for k in range(260) if k % 50} for _ in range(2)]
    lattices = {unit: build_lattice({"one": words, "two": words[::-1]}) for unit, words in sides[1].items()}
    given = lattices if "lattice" in settings else {}
    found = WordCorpus.of({unit: tuple(words) for unit, words in sides[1].items()}, lattices=given)
    task = Words(**settings)  # type: ignore[arg-type]  # as the cases give them
    assert len(found.units()) >= task.worth_processes() > 0
    assert len(states(task, sides[0], found)) == 1


def test_comparisons(tmp_path: Path) -> None:
    chance = random.Random("comparisons")
    for name in ("truth", "one", "two"):
        lines = ("\t".join((f"d{k:03}", str(place), chance.choice("abc"))) for k in range(210) for place in range(5))
        (tmp_path / f"{name}.tsv").write_text("docid\twordid\tword\n" + "\n".join(lines) + "\n")
    command = [sys.executable, "-m", "calque", "compare", "--task", "words", "truth.tsv", "one.tsv", "two.tsv", "--cer"]
    told = {
        subprocess.run(
            [*command, "--replicates", "100", "--format", "json", "--jobs", str(jobs)],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            check=True,
        ).stdout
        for jobs in (1, 2, 3)
    }
    assert len(told) == 1


def test_checks(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text("import os\ndef judge(output, expected):\n    return {'score': 1, 'metadata': {'process': os.getpid()}}\n")
    cases = [{"id": k, "output": {"b": [0, 0, 2, 2 + k % 3]}, "expected": {"b": [0, 0, 2, 1 + k % 2]}} for k in range(650)]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    head = "evaluators:\n  - {type: iou_score, bbox_path: b, expected_bbox_path: b, threshold: 0.5}\n"
    (tmp_path / "suite.yaml").write_text(head + "data: cases.jsonl\n")
    suite = Suite.load(tmp_path / "suite.yaml")
    assert len({suite.run(jobs=jobs).to_json() for jobs in (1, 2, 3)}) == 1
    assert len(states(suite.task(), suite.corpus(), suite.corpus())) == 1
    (tmp_path / "suite.yaml").write_text("evaluators:\n  - {type: own}\ndata: cases.jsonl\n")
    suite = Suite.load(tmp_path / "suite.yaml", evaluators={"own": f"{own}:judge"})
    workers = {row["metadata"]["process"] for row in suite.run(jobs=2).listed()}
    assert os.getpid() not in workers


def test_detection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calque.engines.threads.ROWS_WORTH_THREADS", 1)
    chance = random.Random("boxes")

    def boxes(make: Callable[..., object]) -> list[object]:
        corners = [
            (chance.uniform(0, 0.4), chance.uniform(0, 0.4), chance.uniform(0.5, 1), chance.uniform(0.5, 1)) for _ in range(5)
        ]
        return [make(corner) for corner in corners]

    pages = [(f"d{k}.pdf", 0) for k in range(20)]
    expected = truth({page: boxes(lambda box: ("Figure", box)) for page in pages})
    found = predictions({page: boxes(lambda box: ("Figure", box, chance.random())) for page in pages})
    assert len(states(Detection(), expected, found)) == 1
