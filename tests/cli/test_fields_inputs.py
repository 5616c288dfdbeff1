"""``calque fields`` and files that are not what they seem: envelopes, no ids, several shards, files that change."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import ContractError, Evaluator, Fields
from calque.core.corpora.records import RecordCorpus
from calque.readers.records import read_record_pair
from tests.conftest import Run

Calque = Callable[..., Run]
NAMES = ("vendor", "number", "city", "street", "phone")
RECORDS = [{"id": f"d{i}", **{name: f"{name} {i}" for name in NAMES}} for i in range(6)]


def lines(path: str, records: list[Any]) -> str:
    Path(path).write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    return path


def bare(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key != "id"}


def codes(run: Run) -> list[str]:
    return [issue["code"] for issue in run.json["issues"]]


SHAPES = {
    "envelope": ("predictions-in-envelope", "data", lambda r: {"id": r["id"], "status": "ok", "data": bare(r)}),
    "deep envelope": ("predictions-in-envelope", "result.fields", lambda r: {"id": r["id"], "result": {"fields": bare(r)}}),
    "list envelope": ("predictions-in-envelope", "items[]", lambda r: {"id": r["id"], "items": [bare(r)]}),
    "wrapper": (
        "values-in-wrapper",
        "value",
        lambda r: {"id": r["id"], **{k: {"value": v, "confidence": 0.9} for k, v in bare(r).items()}},
    ),
    "other names": ("no-common-field", "vendor", lambda r: {"id": r["id"], **{k.upper(): v for k, v in bare(r).items()}}),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("by_schema", [False, True])
def test_fields_with_nothing_right_names_the_likely_cause(calque: Calque, shape: str, by_schema: bool) -> None:
    code, word, change = SHAPES[shape]
    Path("schema.json").write_text(json.dumps({"fields": {name: {"type": "str"} for name in NAMES}}))
    files = lines("t.jsonl", RECORDS), lines("p.jsonl", [change(record) for record in RECORDS])
    run = calque("fields", *files, "--format", "json", *(("--schema", "schema.json") if by_schema else ()))
    assert run.code == 3
    (issue,) = [each for each in run.json["issues"] if each["severity"] == "loss"]
    assert issue["code"] == code
    assert repr(word) in issue["message"]
    assert word in run.err


def test_fields_with_the_truth_in_an_envelope_names_its_key(calque: Calque) -> None:
    truth = [{"id": record["id"], "gt": bare(record)} for record in RECORDS]
    run = calque("fields", lines("t.jsonl", truth), lines("p.jsonl", RECORDS), "--format", "json")
    assert (run.code, codes(run)) == (3, ["truth-in-envelope"])


def test_fields_of_an_honest_run_without_a_right_value_exits_0(calque: Calque) -> None:
    wrong = [{"id": record["id"], **dict.fromkeys(NAMES, "zzz qqq")} for record in RECORDS]
    run = calque("fields", lines("t.jsonl", RECORDS), lines("p.jsonl", wrong), "--format", "json")
    assert (run.code, run.json["overall"]["tp"], codes(run)) == (0, 0, [])


def test_fields_with_one_right_value_exits_0(calque: Calque) -> None:
    found = [SHAPES["envelope"][2](record) for record in RECORDS[1:]] + RECORDS[:1]
    run = calque("fields", lines("t.jsonl", RECORDS), lines("p.jsonl", found), "--format", "json")
    assert run.code == 0
    assert run.json["overall"]["tp"] > 0


@pytest.mark.parametrize("truth", [[], [{}], [{"id": "d0"}], [{"id": "d0", "vendor": None}]])
@pytest.mark.parametrize("by_schema", [False, True])
def test_fields_with_an_empty_truth_exits_3(calque: Calque, truth: list[Any], by_schema: bool) -> None:
    Path("schema.json").write_text(json.dumps({"fields": {"vendor": {"type": "str"}}}))
    Path("t.json").write_text(json.dumps(truth))
    Path("p.json").write_text(json.dumps(RECORDS[:1]))
    run = calque("fields", "t.json", "p.json", "--format", "json", *(("--schema", "schema.json") if by_schema else ()))
    assert (run.code, codes(run)[0]) == (3, "no-truth")


def test_fields_without_a_common_document_exits_3(calque: Calque) -> None:
    run = calque("fields", lines("t.jsonl", RECORDS[:3]), lines("p.jsonl", RECORDS[3:]), "--format", "json")
    assert (run.code, codes(run)) == (3, ["no-common-document"])


def test_fields_without_ids_notes_that_records_are_paired_by_line(calque: Calque) -> None:
    records = [bare(record) for record in RECORDS]
    run = calque("fields", lines("t.jsonl", records), lines("p.jsonl", records[:-1]), "--format", "json")
    assert (run.code, codes(run)) == (0, ["paired-by-line"])
    assert "line" in run.err
    assert "--id FIELD" in run.json["issues"][0]["help"]


def test_fields_without_ids_in_another_order_names_the_field_that_pairs(calque: Calque) -> None:
    records = [bare(record) for record in RECORDS]
    files = lines("t.jsonl", records), lines("p.jsonl", records[::-1])
    run = calque("fields", *files, "--format", "json")
    assert codes(run) == ["paired-by-line"]
    assert "--id vendor" in run.json["issues"][0]["help"]
    better = calque("fields", *files, "--id", "vendor", "--format", "json")
    assert (codes(better), better.json["overall"]["cm_f1"]) == ([], 1.0)


def test_fields_of_one_record_each_says_nothing_of_lines(calque: Calque) -> None:
    Path("t.json").write_text(json.dumps(bare(RECORDS[0])))
    assert codes(calque("fields", "t.json", "t.json", "--format", "json")) == []


def test_record_corpus_with_many_ids_and_one_twice_is_refused_at_once() -> None:
    """Counting each id among all others would take minutes."""
    ids = (*(f"d{i}" for i in range(300_000)), "d299999")
    with pytest.raises(ValueError, match="d299999"):
        RecordCorpus(documents=ids, records=[{}] * len(ids))


def by_shards(records: list[Any], name: str, sizes: tuple[int, ...]) -> str:
    start = 0
    for number, size in enumerate(sizes):
        lines(f"{name}-{number}.jsonl", records[start : start + size])
        start += size
    return f"{name}-*.jsonl"


VALUES = ["7", "12", "13 March 2024", "$5.00", "A-17", "yes", "red", "blue"]


@pytest.mark.parametrize("sizes", [(4, 4), (1, 7), (1, 1, 6), (2, 3, 3)])
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("turned", [False, True])
def test_fields_of_shards_is_that_of_one_file(calque: Calque, sizes: tuple[int, ...], named: bool, turned: bool) -> None:
    def record(i: int, value: str) -> dict[str, Any]:
        return {**({"id": f"d{i}"} if named else {}), "v": value, **({"late": i} if i > 5 else {})}

    truth = [record(i, value) for i, value in enumerate(VALUES)]
    found = [record(i, value if i % 3 else "other") for i, value in enumerate(VALUES)]
    if turned and named:
        truth, found = truth[::-1], found[::-1]
    whole = calque("fields", lines("t.jsonl", truth), lines("p.jsonl", found), "--format", "json")
    shards = calque("fields", by_shards(truth, "ts", sizes), by_shards(found, "ps", sizes), "--format", "json")
    assert whole.code == shards.code
    left_out = {"sources", "issues"}
    assert {k: v for k, v in whole.json.items() if k not in left_out} == {
        k: v for k, v in shards.json.items() if k not in left_out
    }


def test_fields_explains_the_schema_of_all_shards(calque: Calque) -> None:
    pattern = by_shards([{"id": 1, "a": "x"}, {"id": 2, "b": 5}], "t", (1, 1))
    run = calque("fields", pattern, "--explain-schema", "--format", "json")
    assert {"a", "b"} <= {each["field"] for each in run.json["fields"]}


def replace_file(path: Path, text: str) -> None:
    other = path.with_name("other")
    other.write_text(text)
    os.replace(other, path)


def code_of(error: pytest.ExceptionInfo[ContractError]) -> str:
    return error.value.issues[0].code


@pytest.mark.parametrize("as_folder", [False, True])
def test_records_of_a_file_that_is_replaced_are_refused(tmp_path: Path, as_folder: bool) -> None:
    if as_folder:
        (tmp_path / "t").mkdir()
        path = tmp_path / "t" / "a.json"
        path.write_text(json.dumps({"v": 1}))
    else:
        path = Path(lines(str(tmp_path / "t.jsonl"), RECORDS))
    corpus, _ = read_record_pair(tmp_path / "t" if as_folder else path, [{"id": "a", "v": 1}])
    assert corpus.record(0)
    replace_file(path, json.dumps({"v": 2, "longer": 3}) + "\n")
    with pytest.raises(ContractError) as error:
        corpus.part([0]).record(0)
    assert code_of(error) == "changed"


@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "t"])
def test_fields_with_a_truth_that_changes_after_the_schema_is_made_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "t":
        path.mkdir()
    file = path / "d0.json" if name == "t" else path
    file.write_text(json.dumps({"id": "d0", "v": "old"}) + "\n")
    task = Fields.inferred(path)
    replace_file(file, json.dumps({"id": "d0", "v": "new and longer"}) + "\n")
    with pytest.raises(ContractError) as error:
        Evaluator(task).update(path, [{"id": "d0", "v": "old"}])
    assert code_of(error) == "changed"


def test_fields_of_a_folder_reports_files_that_it_does_not_read(calque: Calque) -> None:
    for side in ("t", "p"):
        Path(side).mkdir()
        Path(side, "a.json").write_text(json.dumps({"v": "x"}))
    for name in ("b.jsonl", "c.json.gz", "notes.txt", ".DS_Store"):
        Path("t", name).write_text("{}")
    Path("t", "more").mkdir()
    run = calque("fields", "t", "p", "--format", "json")
    assert run.code == 0
    (issue,) = run.json["issues"]
    assert (issue["code"], issue["count"]) == ("not-read", 4)
