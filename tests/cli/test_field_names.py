"""``calque fields`` and odd field names and values: dots, brackets, empty names, lone surrogates, zero bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import ConfigError, Fields
from tests.conftest import Run

Calque = Callable[..., Run]
COLLIDING: dict[str, dict[str, Any]] = {
    "dot": {"a.b": "x", "a": {"b": "y"}},
    "dot and list": {"a.b": "x", "a": [{"b": "y"}]},
    "brackets": {"a[].b": "x", "a": [{"b": "y"}]},
    "two levels": {"a": {"b.c": "x", "b": {"c": "y"}}},
    "empty name": {"": "x", '""': "y"},
    "empty name below": {"a": {"": "x"}, 'a.""': "y"},
}
ODD: dict[str, dict[str, Any]] = {
    "empty name": {"": "x", "a": "y"},
    "empty name of an object": {"": {"": "x", "b": "y"}},
    "empty name in a list": {"items": [{"": "x", "b": 1}, {"": "z"}]},
    "empty name with a box": {"": {"_value": "x", "_bbox": [0, 0, 1, 1], "_confidence": 0.5}},
    "dot": {"a.b": "x", "a": "y"},
    "brackets": {"a[0]": "x", "a": ["y"]},
    "lone surrogates": {"a\ud800": "\udfff", "b": ["\ud800"]},
    "zero byte": {"a\0b": "x\0"},
    "line ends": {"a\nb": "x\r\ny", "c\u2028": "\u2028"},
    "formula": {"=1+1": "=cmd()", "b": "@x"},
}


def write(name: str, record: dict[str, Any]) -> str:
    Path(name).write_text(json.dumps([{"id": "1", **record}]))
    return name


@pytest.mark.parametrize("case", COLLIDING)
def test_fields_with_names_that_collide_refuses_and_names_both(calque: Calque, case: str) -> None:
    name = write("t.json", COLLIDING[case])
    run = calque("fields", name, name)
    assert run.code == 2
    assert "reported as" in run.err
    assert "should not happen" not in run.err


@pytest.mark.parametrize("case", COLLIDING)
def test_schema_with_names_that_collide_is_refused(case: str) -> None:
    def field(value: Any) -> dict[str, Any]:
        if isinstance(value, list):
            return {"type": "list[object]", "fields": field(value[0])["fields"]}
        return (
            {"type": "object", "fields": {k: field(v) for k, v in value.items()}}
            if isinstance(value, dict)
            else {"type": "str"}
        )

    with pytest.raises(ConfigError, match="reported as"):
        Fields(schema={"fields": field(COLLIDING[case])["fields"]})


@pytest.mark.parametrize("case", ODD)
@pytest.mark.parametrize("right", [True, False])
def test_fields_with_odd_names_and_values_counts_each_field(calque: Calque, case: str, right: bool) -> None:
    other = {key: value if right else "other" for key, value in ODD[case].items()}
    files = write("t.json", ODD[case]), write("p.json", other)
    run = calque("fields", *files, "--format", "json")
    assert run.code == 0
    strict = json.loads(run.out.encode("utf-8", "surrogatepass").decode("utf-8", "replace"))
    assert len(strict["fields"]) >= len(ODD[case])
    assert run.json["overall"]["tp"] == (sum(len(v) if isinstance(v, list) else 1 for v in ODD[case].values()) if right else 0)
    assert "" not in run.json["fields"]


@pytest.mark.parametrize("case", ODD)
def test_every_output_of_odd_names_and_values_is_written(calque: Calque, case: str) -> None:
    other = dict.fromkeys(ODD[case], "other")
    files = write("t.json", ODD[case]), write("p.json", other)
    for format in ("table", "csv", "markdown", "jsonl"):
        assert calque("fields", *files, "--format", format).code == 0
    assert calque("fields", *files, "--errors").code == 0
    assert calque("fields", files[0], "--explain-schema").code == 0
    assert calque("fields", *files, "--report", "r.html", "--documents", "d.csv", "--save", "a.state").code == 0
    assert calque("fields", files[0], files[0], "--save", "b.state", "--write-schema", "s.json").code == 0
    assert calque("fields", *files, "--schema", "s.json").code == 0
    assert calque("merge", "a.state", "--format", "json").code == 0
    assert calque("compare", "a.state", "b.state").code == 0
