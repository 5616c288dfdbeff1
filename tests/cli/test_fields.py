"""``calque fields``: files in, numbers out, and what happens to files that are not as they should be."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque.core.errors import ContractError
from calque.readers.records import LineRecords, read_record_pair, read_records
from tests.conftest import Run

SCHEMA = {"fields": {"vendor": {"type": "str", "threshold": 0.8}, "total": {"type": "float"}}}
TRUTH = [{"doc_id": name, "vendor": "Acme", "total": {"_value": 1.5, "_bbox": [0, 0, 4, 4]}} for name in ("a", "b", "c")]
FOUND = [
    {"doc_id": "c", "vendor": "Acme", "total": {"_value": 1.5, "_bbox": [0, 0, 4, 4], "_confidence": 0.9}},
    {"doc_id": "a", "vendor": {"_value": "Globex", "_confidence": 0.2}, "total": 1.5},
]


@pytest.fixture
def files(tmp_path: Path) -> Callable[..., tuple[str, str]]:
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))

    def write(truth: Any = TRUTH, found: Any = FOUND) -> tuple[str, str]:
        for name, records in (("gt", truth), ("pred", found)):
            (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records))
            (tmp_path / f"{name}.json").write_text(json.dumps(records))
        return "gt.jsonl", "pred.jsonl"

    return write


def test_json(calque: Callable[..., Run], files: Callable[..., tuple[str, str]]) -> None:
    run = calque("fields", *files(), "--schema", "schema.json", "--format", "json")
    assert run.code == 0
    keys = {"bbox_map_metrics", "confidence_metrics", "overall", "fields", "document_count", "unaccounted_boxes", "issues"}
    assert keys <= run.json.keys()
    assert run.json["document_count"] == 3
    assert run.json["documents"]["only_truth"] == ["b"]
    assert (run.json["overall"]["tp"], run.json["overall"]["fd"], run.json["overall"]["fn"]) == (3, 1, 2)
    assert run.json["bbox_map_metrics"]["fields"]["total"]["num_gt"] == 3


def test_all_inputs_say_the_same(calque: Callable[..., Run], files: Callable[..., tuple[str, str]], tmp_path: Path) -> None:
    gt, pred = files()
    for side, records in (("gt", TRUTH), ("pred", FOUND)):
        (tmp_path / side).mkdir()
        for each in records:
            body = {key: value for key, value in each.items() if key != "doc_id"}
            (tmp_path / side / f"{each['doc_id']}.json").write_text(json.dumps(body))
    arguments = ("--schema", "schema.json", "--format", "json")
    results = [
        calque("fields", gt, pred, *arguments).json,
        calque("fields", "gt.json", "pred.json", *arguments).json,
        calque("fields", "gt", "pred", *arguments).json,
        calque("fields", gt, pred, *arguments, "--jobs", "2").json,
        calque("fields", gt, pred, *arguments, "--id", "doc_id", "--jobs", "1").json,
    ]
    for each in results[1:]:
        assert {key: each[key] for key in ("overall", "fields", "bbox_map_metrics", "documents")} == {
            key: results[0][key] for key in ("overall", "fields", "bbox_map_metrics", "documents")
        }


def test_table_csv_and_outcomes(calque: Callable[..., Run], files: Callable[..., tuple[str, str]]) -> None:
    pair = files()
    table = calque("fields", *pair, "--schema", "schema.json").out
    for text in ("Fields", "Boxes", "Confidences", "1 documents only in the truth: b", "0 boxes unaccounted for"):
        assert text in table
    assert calque("fields", *pair, "--schema", "schema.json", "--format", "csv").out.splitlines()[1].startswith("vendor,1,0,1,")
    rows = [
        json.loads(line) for line in calque("fields", *pair, "--schema", "schema.json", "--format", "jsonl").out.splitlines()
    ]
    assert (rows[0]["document"], rows[0]["path"], rows[0]["reason"]) == ("a", "vendor", "below threshold")
    assert "| vendor |" in calque("fields", *pair, "--schema", "schema.json", "--format", "markdown").out
    assert "no truth" not in calque("fields", *files([{"vendor": "a"}], [{"vendor": "a"}]), "--schema", "schema.json").out


def test_without_a_schema_one_is_made_from_the_truth(calque: Callable[..., Run], files: Callable[..., tuple[str, str]]) -> None:
    run = calque("fields", *files(), "--format", "json")
    assert set(run.json["fields"]) == {"vendor", "total"}


def test_states_merge(calque: Callable[..., Run], files: Callable[..., tuple[str, str]]) -> None:
    whole = calque("fields", *files(), "--schema", "schema.json", "--format", "json").json
    calque("fields", *files(TRUTH[:1], FOUND[1:]), "--schema", "schema.json", "--save", "one.state")
    calque("fields", *files(TRUTH[1:], FOUND[:1]), "--schema", "schema.json", "--save", "two.state")
    merged = calque("merge", "two.state", "one.state", "--format", "json").json
    assert {key: merged[key] for key in ("overall", "fields", "bbox_map_metrics", "confidence_metrics")} == {
        key: whole[key] for key in ("overall", "fields", "bbox_map_metrics", "confidence_metrics")
    }


def test_a_broken_line_is_named_and_the_rest_evaluated(
    calque: Callable[..., Run], files: Callable[..., tuple[str, str]], tmp_path: Path
) -> None:
    gt, pred = files()
    lines = (tmp_path / pred).read_text().splitlines()
    (tmp_path / pred).write_text("\n".join([lines[0], '{"doc_id": "b", ', "[1]", "", "[" * 5_000, lines[1]]))
    run = calque("fields", gt, pred, "--schema", "schema.json", "--format", "json")
    assert run.code == 3
    assert run.json["overall"]["tp"] == 3
    issue = next(issue for issue in run.json["issues"] if issue["code"] == "broken-line")
    assert (issue["pointer"], issue["count"]) == ("line 2", 3)
    run = calque("fields", gt, pred, "--schema", "schema.json", "--strict")
    assert (run.code, "line 2" in run.err) == (2, True)


def test_broken_files_in_folders(calque: Callable[..., Run], files: Callable[..., tuple[str, str]], tmp_path: Path) -> None:
    files()
    for side in ("gt", "pred"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "a.json").write_text('{"vendor": "x"}')
    (tmp_path / "pred" / "b.json").write_text("{")
    assert calque("fields", "gt", "pred", "--schema", "schema.json").code == 3
    assert calque("fields", "gt", "pred", "--schema", "schema.json", "--strict").code == 2
    (tmp_path / "empty").mkdir()
    run = calque("fields", "gt", "empty", "--schema", "schema.json")
    assert (run.code, "no .json files" in run.err) == (2, True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"3", "records are an object or a list"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b'[{"id": "a"}, {"id": "a"}]', "'a' is there twice"),
        (b'[{"id": "a"}, {"vendor": "a"}]', "give every record an id"),
        (b'[{"id": 1.5}]', "give every record an id"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_files_that_are_refused(
    calque: Callable[..., Run], files: Callable[..., tuple[str, str]], tmp_path: Path, content: bytes, message: str
) -> None:
    files()
    (tmp_path / "odd.json").write_bytes(content)
    run = calque("fields", "gt.json", "odd.json", "--schema", "schema.json")
    assert run.code == 2
    assert message in run.err


def test_files_that_are_not_there(calque: Callable[..., Run], files: Callable[..., tuple[str, str]]) -> None:
    files()
    for name in ("nowhere.json", "nowhere.jsonl"):
        run = calque("fields", "gt.json", name, "--schema", "schema.json")
        assert (run.code, "does not exist" in run.err) == (2, True)
    assert calque("fields", "gt.json", "pred.json", "--schema", "nowhere.json").code == 2
    assert calque("fields", "gt.json", "pred.json", "--schema", "schema.json", "--iou", "2").code == 2


def test_odd_values_are_counted_and_the_rest_evaluated(
    calque: Callable[..., Run], files: Callable[..., tuple[str, str]]
) -> None:
    found = [
        {"doc_id": "a", "vendor": {"_value": "Acme", "_confidence": "high"}, "total": {"_value": 1.5, "_bbox": "left"}},
        {"doc_id": "b", "vendor": ["Acme"], "total": {"_value": float("nan"), "_bbox": [0, 0, float("nan"), 4]}},
        {"doc_id": "c", "vendor": None, "total": "one", "surprise": {"_value": 1, "_bbox": [0, 0, 1, 1]}},
    ]
    run = calque("fields", *files(TRUTH, found), "--schema", "schema.json", "--format", "json")
    assert run.code == 3
    assert {issue["code"]: issue["count"] for issue in run.json["issues"]} == {
        "odd-box": 2, "odd-confidence": 1, "wrong-type": 2, "no-confidence": 3,
    }  # fmt: skip
    assert run.json["unaccounted_boxes"] == 0
    assert run.json["overall"]["fa"] == 1


def test_records_without_ids_are_paired_by_line(calque: Callable[..., Run], files: Callable[..., tuple[str, str]]) -> None:
    bare = [{key: value for key, value in each.items() if key != "doc_id"} for each in TRUTH]
    run = calque("fields", *files(bare, bare), "--schema", "schema.json", "--format", "json")
    assert run.json["overall"]["cm_accuracy"] == 1.0
    run = calque("fields", *files(TRUTH, bare), "--schema", "schema.json", "--format", "json")
    assert run.json["overall"]["cm_accuracy"] == 1.0
    assert [issue["code"] for issue in run.json["issues"] if issue["code"] != "no-confidence"] == ["ids-on-one-side"]


def test_an_id_that_the_schema_declares_is_a_field(
    calque: Callable[..., Run], files: Callable[..., tuple[str, str]], tmp_path: Path
) -> None:
    (tmp_path / "own.json").write_text(json.dumps({"fields": {"doc_id": {"type": "str"}, **SCHEMA["fields"]}}))
    run = calque("fields", *files(TRUTH, TRUTH), "--schema", "own.json", "--format", "json")
    assert run.json["fields"]["doc_id"]["tp"] == 3


def test_records_by_id(tmp_path: Path) -> None:
    tree = {"a": {"vendor": "x"}, "b": {"vendor": "y"}}
    corpus = read_records(tree, declared=frozenset({"vendor"}))
    assert corpus.units() == ("a", "b")
    assert corpus.select(["b"]).record(0) == {"vendor": "y"}
    assert corpus.select(["b"]).select(["b"]).units() == ("b",)
    assert "2 documents" in repr(corpus)
    with pytest.raises(TypeError):
        read_records(5)
    (tmp_path / "a.jsonl").write_text("\n\n")
    with pytest.raises(ContractError):
        read_records(tmp_path / "a.jsonl")
    assert read_record_pair([5, {"id": "a"}], [{"id": "a"}])[0].issues[0].code == "broken-record"


def test_lines_with_a_mark_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "marked.txt"
    path.write_bytes(b'\xef\xbb\xbf{"id": 1, "v": 2}\n{"id": 2, "v": 3}\n')
    corpus = read_records(path)
    assert isinstance(corpus.records, LineRecords)
    assert (corpus.units(), corpus.record(0), corpus.record(1)) == ((1, 2), {"v": 2}, {"v": 3})


def test_start_up_imports_nothing_heavy(process: Callable[..., Run]) -> None:
    run = process("fields", "--help")
    assert run.code == 0
    heavy = "[name for name in ('numpy', 'pydantic', 'rapidfuzz') if name in sys.modules]"
    code = f"import sys, calque.fields.task, calque.cli.fields; print({heavy})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, encoding="utf-8").stdout == "[]\n"
