"""The reference cases of ceilings: numbers found by enumeration."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run

CASES = json.loads(Path(__file__).with_name("ceiling_cases.json").read_text("utf-8"))


def contained(expected: Any, found: Any, where: str) -> None:
    if isinstance(expected, Mapping):
        assert expected.keys() <= found.keys(), where
        for key, value in expected.items():
            contained(value, found[key], f"{where}/{key}")
    elif isinstance(expected, list):
        assert len(expected) == len(found), where
        for place, (one, other) in enumerate(zip(expected, found, strict=True)):
            contained(one, other, f"{where}/{place}")
    else:
        assert found == (pytest.approx(expected, rel=0, abs=1e-12) if isinstance(expected, float) else expected), where


def written(case: Mapping[str, Any], folder: Path) -> list[str]:
    """The files of a case, and the arguments that name them."""
    extension = "jsonl" if case["task"] == "fields" else "ndjson"
    names = []
    for name, rows in {"truth": case["truth"], **case["systems"]}.items():
        (folder / f"{name}.{extension}").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        names.append(f"{name}.{extension}")
    if "schema" in case:
        (folder / "schema.json").write_text(json.dumps(case["schema"]), "utf-8")
        names += ["--schema", "schema.json"]
    return [*names, *case["args"]]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case(case: Mapping[str, Any], calque: Callable[..., Run], tmp_path: Path) -> None:
    run = calque("ceiling", *written(case, tmp_path), "--format", "json", "--quiet")
    contained(case["expect"], json.loads(run.out), "")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case_in_shards(case: Mapping[str, Any], calque: Callable[..., Run], tmp_path: Path) -> None:
    """Every document by itself, saved and merged: the same numbers."""
    documents = {row["doc_id"] for rows in (case["truth"], *case["systems"].values()) for row in rows}
    states = []
    for place, document in enumerate(sorted(documents, reverse=True)):
        part = {
            **case,
            "truth": [row for row in case["truth"] if row["doc_id"] == document],
            "systems": {name: [row for row in rows if row["doc_id"] == document] for name, rows in case["systems"].items()},
        }
        if not part["truth"] or not all(part["systems"].values()):
            pytest.skip("a file without any document is refused")
        calque("ceiling", *written(part, tmp_path), "--save", f"{place}.state", "--quiet")
        states.append(f"{place}.state")
    merged = calque("merge", *states, "--format", "json", "--quiet")
    contained(case["expect"], json.loads(merged.out), "")
