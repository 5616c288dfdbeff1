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
from calque.readers.line_records import LineRecords
from calque.readers.records import read_record_pair, read_records
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
    for text in ("Fields", "Boxes", "Confidences", "1 document only in the truth: b", "0 boxes unaccounted for"):
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
    assert run.json["schema"] == {"inferred_from": "3 documents of the truth"}
    first = calque("fields", *files()).out.splitlines()[0]
    assert "No schema was given: it was made from 3 documents of the truth" in first
    assert calque("fields", *files(), "--schema", "schema.json", "--format", "json").json["schema"] == {"inferred_from": None}


def test_the_schema_is_explained_and_saved(
    calque: Callable[..., Run], files: Callable[..., tuple[str, str]], tmp_path: Path
) -> None:
    gt, pred = files()
    run = calque("fields", gt, "--explain-schema", "--write-schema", "made.json")
    assert (run.code, run.out.splitlines()[0]) == (0, "How fields are compared")
    for text in ("vendor", "free text, by the look of 3 values", "0.9", "made from 3 documents of the truth"):
        assert text in run.out
    rows = calque("fields", gt, "--explain-schema", "--format", "json").json["fields"]
    assert [(row["field"], row["comparator"]) for row in rows] == [("vendor", "levenshtein"), ("total", "numeric")]
    assert len(calque("fields", gt, "--explain-schema", "--format", "jsonl").out.splitlines()) == 2
    assert calque("fields", gt, "--explain-schema", "--format", "csv").out.startswith("field,type,comparator,")
    assert "| vendor |" in calque("fields", gt, "--explain-schema", "--format", "markdown").out
    numbers = ("overall", "fields", "bbox_map_metrics")
    both = [calque("fields", gt, pred, *given, "--format", "json").json for given in ((), ("--schema", "made.json"))]
    assert [both[0][key] for key in numbers] == [both[1][key] for key in numbers]
    calque("fields", gt, pred, "--write-schema", "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "made.json").read_text()
    assert calque("fields", gt, "--write-schema", "alone.json").out == ""
    assert (tmp_path / "alone.json").read_text() == (tmp_path / "made.json").read_text()


def test_explaining_refuses_what_it_cannot_do(calque: Callable[..., Run], files: Callable[..., tuple[str, str]]) -> None:
    gt, pred = files()
    assert (run := calque("fields", gt)).code == 2
    assert "Missing argument 'PREDICTIONS'" in run.err
    assert (run := calque("fields", gt, pred, "--write-schema", gt)).code == 2
    assert "is read by this command" in run.err
    assert calque("fields", gt, pred, "--write-schema", "nowhere/schema.json").code == 2
    assert calque("fields", "nowhere.jsonl", "--explain-schema").code == 2


def test_errors_side_by_side(calque: Callable[..., Run], files: Callable[..., tuple[str, str]]) -> None:
    pair = files()
    run = calque("fields", *pair, "--schema", "schema.json", "--errors")
    assert (run.code, run.out.splitlines()[0]) == (0, "Wrong values")
    assert run.out.splitlines()[2].split() == ["a", "vendor", "wrong", "Acme", "Globex"]
    rows = calque("fields", *pair, "--schema", "schema.json", "--errors", "--format", "json").json["errors"]
    assert [(row["document"], row["kind"]) for row in rows] == [("a", "wrong"), ("b", "missing"), ("b", "missing")]
    lines = calque("fields", *pair, "--schema", "schema.json", "--errors", "--format", "jsonl").out.splitlines()
    assert [json.loads(line) for line in lines] == rows
    assert calque("fields", *pair, "--schema", "schema.json", "--errors", "--format", "csv").out.count("\n") == 4
    assert "no value is wrong" in calque("fields", *files(TRUTH, TRUTH), "--schema", "schema.json", "--errors").out
    assert calque("fields", *pair, "--errors", "--brief").code == 2


def test_what_is_brief_speaks_of_boxes_where_there_are_some(
    calque: Callable[..., Run], files: Callable[..., tuple[str, str]]
) -> None:
    plain = [{"doc_id": "a", "vendor": "Acme", "total": 1.5}]
    for given, spoken in (((), True), ((plain, plain), False)):
        run = calque("fields", *files(*given), "--schema", "schema.json", "--brief")
        assert (run.code, "AP50" in run.out) == (0, spoken)


def test_a_truth_of_which_nothing_can_be_read_is_told_before_that_no_schema_can_be_made(
    calque: Callable[..., Run], tmp_path: Path
) -> None:
    (tmp_path / "cut.ndjson").write_text('{"doc_id": "a", "total": [1')
    (tmp_path / "hollow.ndjson").write_text('{"doc_id": "a"}\n')
    for name, said in (
        ("cut", "is not JSON: the text ends too early"),
        ("hollow", "its documents have no values; give a schema"),
    ):
        run = calque("fields", f"{name}.ndjson", "hollow.ndjson")
        assert (run.code, run.out) == (2, "")
        assert said in run.err


def test_one_line_a_document(calque: Callable[..., Run], files: Callable[..., tuple[str, str]], tmp_path: Path) -> None:
    pair = files()
    run = calque("fields", *pair, "--schema", "schema.json", "--documents", "documents.jsonl")
    assert (run.code, "Fields" in run.out) == (0, True)
    rows = [json.loads(line) for line in (tmp_path / "documents.jsonl").read_text().splitlines()]
    assert [(row["document"], row["wrong"], row["wrong_fields"]) for row in rows] == [
        ("a", 1, ["vendor"]), ("b", 2, ["vendor", "total"]), ("c", 0, []),
    ]  # fmt: skip
    calque("fields", *pair, "--schema", "schema.json", "--documents", "documents.csv")
    assert (tmp_path / "documents.csv").read_text().startswith("document,score,wrong,")
    for name in (pair[0], "nowhere/documents.jsonl"):
        assert calque("fields", *pair, "--schema", "schema.json", "--documents", name).code == 2
    for option in (("--errors",), ("--documents", "x.jsonl"), ("--save", "x.state")):
        run = calque("fields", pair[0], "--explain-schema", *option)
        assert (run.code, "needs an evaluation" in run.err) == (2, True)


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
    assert (issue["pointer"], issue["count"]) == ("line 2 column 16", 3)
    run = calque("fields", gt, pred, "--schema", "schema.json", "--strict")
    assert (run.code, "line 2" in run.err) == (2, True)


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("gt.jsonl", '{"doc_id": "a", "total": 1}\n{"doc_id": "b", "vendor": {"_value": 1, "_value": 2}}\n', "line 2: /vendor"),
        ("gt.jsonl", '{"doc_id": "a", "doc_id": "b"}\n{"doc_id": "c"}\n', "line 1"),
        ("gt.json", '[{"doc_id": "a", "total": 1, "total": 2}]', "/0"),
        ("gt/a.json", '{"total": 1, "total": 2}', "a.json"),
    ],
)
def test_a_key_that_occurs_twice_is_named(
    calque: Callable[..., Run], files: Callable[..., tuple[str, str]], tmp_path: Path, name: str, text: str, place: str
) -> None:
    _, found = files()
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    truth = name.partition("/")[0]
    run = calque("fields", truth, found, "--schema", "schema.json", "--format", "json")
    assert run.code == 3
    issue = next(issue for issue in run.json["issues"] if issue["code"] == "duplicate-key")
    assert (issue["pointer"], issue["count"]) == (place, 1)
    refused = calque("fields", truth, found, "--schema", "schema.json", "--strict")
    assert refused.code == 2
    assert f"{place}: the key" in refused.err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"doc_id": "a", "total":', "line 1 column 25: is not JSON: the text ends too early"),
        ('{"doc_id": "a" "total": 1}', "line 1 column 16: is not JSON: expecting ',' delimiter"),
    ],
)
def test_a_broken_line_says_where_and_why(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "gt.jsonl"
    path.write_text(line + '\n{"doc_id": "b"}\n')
    with pytest.raises(ContractError, match=message):
        read_records(path, strict=True)


def test_long_files_are_read_side_by_side(
    files: Callable[..., tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth, found = (str(tmp_path / name) for name in files())
    alone = read_record_pair(truth, found)
    monkeypatch.setattr("calque.readers.records.LONG", 0)
    beside = read_record_pair(truth, found, jobs=2)
    for one, other in zip(alone, beside, strict=True):
        assert one.documents == other.documents
        assert [one.record(place) for place in range(len(one))] == [other.record(place) for place in range(len(other))]
    for path in (found, truth):
        Path(path).write_text("{")
        with pytest.raises(ContractError, match=path):
            read_record_pair(truth, found, strict=True, jobs=2)


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
    assert (run.code, "contains no files" in run.err) == (2, True)


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
        "odd-box": 2, "odd-confidence": 1, "wrong-type": 2, "no-confidence": 2,
    }  # fmt: skip
    assert run.json["unaccounted_boxes"] == 0
    assert run.json["overall"]["fa"] == 0
    assert (run.json["not_in_schema"], run.json["boxes"]["ignored"]) == ({"surprise": 1}, 1)


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


def test_strict_names_the_document_from_any_number_of_workers(
    calque: Callable[..., Run], files: Callable[..., tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("calque.fields.scoring.FEW", 1)
    truth = [{"doc_id": f"{number:03}", "vendor": "Acme"} for number in range(80)]
    found = [{**each, "total": {"_value": 1, "_bbox": [1, 2] if each["doc_id"] == "077" else [1, 2, 3, 4]}} for each in truth]
    pair = files(truth, found)
    for jobs in ("1", "2"):
        run = calque("fields", *pair, "--schema", "schema.json", "--strict", "--jobs", jobs)
        assert (run.code, "document 077: total" in run.err, "Traceback" in run.err) == (2, True, False)


def test_folders_are_paired_by_file_name_and_ids_inside_are_no_fields(
    calque: Callable[..., Run], files: Callable[..., tuple[str, str]], tmp_path: Path
) -> None:
    files()
    for side in ("gt", "pred"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "a.json").write_text(json.dumps({"id": side, "vendor": "Acme"}))
    run = calque("fields", "gt", "pred", "--schema", "schema.json", "--format", "json")
    assert (run.code, run.json["overall"]["tp"], run.json["overall"]["fa"]) == (0, 1, 0)
    (tmp_path / "pred" / "gone.json").symlink_to(tmp_path / "nowhere.json")
    assert calque("fields", "gt", "pred", "--schema", "schema.json").code == 3
    (tmp_path / "pred" / "gone.json").unlink()
    (tmp_path / "pred" / "a.JSON").write_text('{"vendor": "Acme"}')
    run = calque("fields", "gt", "pred", "--schema", "schema.json")
    assert (run.code, "'a' is there twice" in run.err) == (2, True)


def test_an_id_key_that_no_record_has_is_refused(calque: Callable[..., Run], files: Callable[..., tuple[str, str]]) -> None:
    for pair in (files(), ("gt.json", "pred.json")):
        run = calque("fields", *pair, "--schema", "schema.json", "--id", "number")
        assert (run.code, "no record has the key 'number'" in run.err) == (2, True)


@pytest.mark.parametrize("policy", ["penalize", "intersect"])
def test_documents_on_one_side_by_policy(
    calque: Callable[..., Run], files: Callable[..., tuple[str, str]], policy: str
) -> None:
    pair = files(TRUTH[:2], [{**TRUTH[0]}, {**TRUTH[2], "doc_id": "z"}])
    run = calque("fields", *pair, "--schema", "schema.json", "--missing", policy, "--format", "json")
    assert run.json["documents"] == {"only_truth": ["b"], "only_predictions": ["z"]}
    entry = run.json["overall"]
    expected = {"penalize": (2, 2, 2, 3), "intersect": (2, 0, 0, 1)}[policy]
    assert (entry["tp"], entry["fn"], entry["fa"], run.json["document_count"]) == expected
    assert run.json["bbox_map_metrics"]["fields"]["total"]["num_gt"] == (2 if policy == "penalize" else 1)


@pytest.mark.parametrize("accounting", ["complete", "paired"])
def test_lines_that_windows_writes(
    calque: Callable[..., Run], files: Callable[..., tuple[str, str]], tmp_path: Path, accounting: str
) -> None:
    gt, pred = files()
    arguments = ("--schema", "schema.json", "--accounting", accounting, "--format", "json")
    plain = calque("fields", gt, pred, *arguments).json
    for name in (gt, pred):
        text = (tmp_path / name).read_text().replace("\n", "\r\n")
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert calque("fields", gt, pred, *arguments).json == plain


DEEP = '{"_value": ' * 64 + '{"_value": "Acme", "_bbox": [0, 0, 1, 1]}' + "}" * 64
ODD_LINES = {
    "not UTF-8": (b'{"doc_id": "a", "vendor": "\xff"}', "broken-line", 3),
    "a number without end": (b'{"doc_id": "a", "total": ' + b"9" * 5_000 + b"}", "broken-line", 3),
    "a huge number": (b'{"doc_id": "a", "total": ' + b"9" * 400 + b"}", "wrong-type", 0),
    "64 levels of values": (b'{"doc_id": "a", "vendor": %s}' % DEEP.encode(), "no-confidence", 0),
    "64 levels of lists": (b'{"doc_id": "a", "vendor": %s}' % (b"[" * 64 + b"]" * 64), "wrong-type", 0),
    "64 levels of unknown objects": (b'{"doc_id": "a", "x": %s1%s}' % (b'{"y": ' * 64, b"}" * 64), "", 0),
    "5,000 levels": (b'{"doc_id": "a", "x": %s%s}' % (b"[" * 5_000, b"]" * 5_000), "broken-line", 3),
    "a page that is none": (b'{"doc_id": "a", "vendor": {"_value": "x", "_bbox": [0,0,1,1], "_page": []}}', "odd-page", 3),
    "half a surrogate": (b'{"doc_id": "a", "vendor": "\\ud800"}', "", 0),
    "NaN": (b'{"doc_id": "a", "total": {"_value": NaN, "_confidence": NaN}}', "odd-confidence", 3),
    "wrong types": (b'{"doc_id": "a", "vendor": {"x": 1}, "total": [1]}', "wrong-type", 0),
    "a list too long": (b'{"doc_id": "a", "vendor": "x", "tags": %s}' % json.dumps([1] * 100_001).encode(), "", 0),
}


@pytest.mark.parametrize("name", ODD_LINES)
def test_odd_lines_have_a_clear_outcome(
    calque: Callable[..., Run], files: Callable[..., tuple[str, str]], tmp_path: Path, name: str
) -> None:
    gt, _ = files()
    line, code, status = ODD_LINES[name]
    (tmp_path / "odd.jsonl").write_bytes(line + b'\n{"doc_id": "b", "vendor": "Acme"}\n')
    for pair in ((gt, "odd.jsonl"), ("odd.jsonl", gt)):
        for form in ("json", "jsonl"):
            run = calque("fields", *pair, "--schema", "schema.json", "--format", form)
            assert (run.code, "should not happen" in run.err) == (status, False)
        result = calque("fields", *pair, "--schema", "schema.json", "--format", "json").json
        assert result["unaccounted_boxes"] == 0
        assert result["fields"]["vendor"]["tp"] >= 1
        assert not code or code in {issue["code"] for issue in result["issues"]}


def test_repeated_keys_lose_no_box(calque: Callable[..., Run], files: Callable[..., tuple[str, str]], tmp_path: Path) -> None:
    files()
    (tmp_path / "odd.json").write_text('[{"doc_id": "a", "total": {"_value": 1, "_value": 1.5, "_bbox": [0, 0, 4, 4]}}]')
    run = calque("fields", "gt.json", "odd.json", "--schema", "schema.json", "--format", "json")
    assert run.json["boxes"]["predicted"] == 1
    assert run.json["fields"]["total"]["tp"] == 1


@pytest.mark.parametrize("name", ["records.json", "records.jsonl", None])
def test_a_repeated_id_is_told_with_its_file_and_a_remedy(tmp_path: Path, name: str | None) -> None:
    records = [{"id": 8, "vendor": "Acme"}, {"id": 7, "vendor": "Acme"}, {"id": 7, "vendor": "Globex"}]
    source: Any = records
    if name is not None:
        lines = "".join(json.dumps(each) + "\n" for each in records)
        source = tmp_path / name
        source.write_text(lines if name.endswith("l") else json.dumps(records))
    with pytest.raises(ContractError, match="document 7 is there twice") as refused:
        read_records(source)
    (issue,) = refused.value.issues
    assert (issue.code, issue.file, issue.help) == ("repeated-id", str(source) if name else "", "ids must be unique")
