"""``calque validate --as fields`` says what ``calque fields`` says, with and without a schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run

Calque = Callable[..., Run]
SCHEMA = {"fields": {"id": {"type": "str"}, "total": {"type": "float"}}}


def write(name: str, content: Any) -> str:
    Path(name).write_text(json.dumps(content))
    return name


CASES = {
    "an id that is a field": ([{"id": "x", "total": 1.0}, {"id": "x", "total": 2.0}], 0),
    "an id that is a number": ([{"id": 1.5, "total": 1.0}, {"id": "b", "total": 2.0}], 0),
    "a malformed box": ([{"id": "x", "total": {"_value": 1.0, "_bbox": [1, 2]}}], 3),
    "an odd confidence": ([{"id": "x", "total": {"_value": 1.0, "_confidence": 7}}], 3),
    "no object": ([{"id": "x", "total": 1.0}, 5], 3),
    "no values": ([{"id": None, "total": None}], 3),
}


@pytest.mark.parametrize("case", CASES)
def test_validate_of_two_files_says_what_fields_says(calque: Calque, case: str) -> None:
    records, code = CASES[case]
    truth, found, schema = write("t.json", records), write("p.json", records), write("s.json", SCHEMA)
    fields = calque("fields", truth, found, "--schema", schema, "--format", "json")
    validate = calque("validate", truth, found, "--as", "fields", "--schema", schema, "--format", "json")
    assert (fields.code, validate.code) == (code, code)
    said = {issue["code"] for report in validate.json["files"] for issue in report["issues"]}
    assert said == {issue["code"] for issue in fields.json["issues"]}


@pytest.mark.parametrize("case", ["an id that is a field", "an id that is a number", "a malformed box", "an odd confidence"])
def test_validate_of_one_file_reads_it_under_the_schema(calque: Calque, case: str) -> None:
    records, code = CASES[case]
    run = calque(
        "validate", write("t.json", records), "--as", "fields", "--schema", write("s.json", SCHEMA), "--format", "json"
    )
    assert run.code == code


def test_validate_of_one_file_counts_an_issue_once(calque: Calque) -> None:
    records, _ = CASES["a malformed box"]
    run = calque("validate", write("t.json", records), "--as", "fields", "--format", "json")
    assert run.code == 3
    assert [(issue["code"], issue["count"]) for issue in run.json["files"][0]["issues"]] == [("odd-box", 1)]


@pytest.mark.parametrize("schema", [{"fields": {"a": {"type": "nonsense"}}}, {"fields": {}}, {"properties": 5}])
def test_validate_of_one_file_refuses_a_broken_schema(calque: Calque, schema: Any) -> None:
    name = write("s.json", schema)
    truth = write("t.json", [{"a": 1}])
    assert calque("validate", truth, "--as", "fields", "--schema", name).code == 2
    assert calque("fields", truth, truth, "--schema", name).code == 2
