"""Independent reference cases of tables: PubTabNet, OmniDocBench, table-transformer, docling-eval, grits-metric and apted."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from calque import CalqueError, ContractError, Evaluator, Tables
from calque.tables import compare, parse, teds

CASES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("tables_cases.json").read_text("utf-8"))["cases"]
CLOSE, SINGLE_PRECISION = 1e-12, 1e-6
pytestmark = pytest.mark.usefixtures("kernels")


def of_kind(kind: str) -> Any:
    chosen = [case for case in CASES if case["kind"] == kind]
    return pytest.mark.parametrize("case", chosen, ids=[case["id"] for case in chosen])


def agrees(found: Any, expected: Any, close: float = CLOSE) -> bool:
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(
            key in found and agrees(found[key], value, close) for key, value in expected.items()
        )
    if isinstance(expected, float) and found is not None:
        return math.isclose(found, expected, rel_tol=0, abs_tol=close)
    return bool(found == expected)


@of_kind("pair")
def test_pair(case: dict[str, Any]) -> None:
    expect = dict(case["expect"])
    kinds, header = expect.pop("errors", None), expect.pop("header", None)
    for mode, numbers in expect.items():
        found = compare(case["truth"], case["pred"], compat=None if mode == "default" else mode).to_dict()
        close = SINGLE_PRECISION if mode == "table-transformer" else CLOSE
        for name, value in numbers.items():
            assert agrees(found[name], value, close), (mode, name, found[name], value)
    found = compare(case["truth"], case["pred"]).to_dict()
    if kinds is not None:
        assert set(found["errors"]) == set(kinds)
        assert all(agrees(found["errors"][kind]["cost"], float(block["cost"])) for kind, block in kinds.items())
    if header is not None:
        assert agrees(found["header"], header)


@of_kind("pair")
def test_costs_add_up_to_the_distance_and_losses_to_what_teds_lacks(case: dict[str, Any]) -> None:
    found = compare(case["truth"], case["pred"]).to_dict()
    assert math.fsum(block["cost"] for block in found["errors"].values()) == pytest.approx(found["distance"], abs=1e-9)
    assert math.fsum(block["loss"] for block in found["errors"].values()) == pytest.approx(1 - found["teds"], abs=1e-9)


@of_kind("adjacency2019")
def test_relations_of_2019(case: dict[str, Any]) -> None:
    found = compare(case["truth"], case["pred"], adjacency="2019")["adjacency"]
    assert agrees(found, case["expect"]["icdar2019"])


@of_kind("corpus")
def test_corpus(case: dict[str, Any], tmp_path: Path) -> None:
    for side in ("truth", "pred"):
        (tmp_path / side).mkdir()
        for name, texts in case["files"].items():
            (tmp_path / side / f"{name}.html").write_text(texts[side], "utf-8")
    found = Evaluator(Tables()).update(tmp_path / "truth", tmp_path / "pred").compute().to_dict()
    expect = dict(case["expect"])
    for unit, block in expect.pop("documents").items():
        assert found["documents"][unit]["pairs"] == block["pairs"]
        assert found["documents"][unit]["teds"] == pytest.approx(block["teds"], abs=CLOSE)
    for scope, numbers in expect.items():
        assert agrees(found[scope], numbers), scope


@of_kind("bad")
def test_bad(case: dict[str, Any]) -> None:
    expect = case["expect"]
    if "raises" in expect:
        with pytest.raises({"ContractError": ContractError, "ValueError": ValueError}[expect["raises"]]):
            compare(case["truth"], case["pred"])
        return
    found = compare(case["truth"], case["pred"]).to_dict()
    for name, value in expect.items():
        assert name == "no_crash" or agrees(found[name], value), name


def test_the_short_functions_say_what_compare_says() -> None:
    case = next(case for case in CASES if case["id"] == "teds-th-for-td")
    for mode in (None, "pubtabnet"):
        found = compare(case["truth"], case["pred"], compat=mode)
        assert teds(case["truth"], case["pred"], compat=mode) == found["teds"]
        assert teds(case["truth"], case["pred"], structure_only=True, compat=mode) == found["teds_struct"]
    assert parse(case["truth"]).header[:5] == (True, True, True, True, False)


def test_several_tables_or_none_are_no_table() -> None:
    one = "<table><tr><td>a</td></tr></table>"
    for text in ("", "no table", one + one):
        with pytest.raises(ValueError, match="exactly one table"):
            parse(text)
    with pytest.raises(CalqueError, match="cells at row 0"):
        parse({"cells": [{"row": 0, "column": 0}, {"row": 0, "column": 0}]})
