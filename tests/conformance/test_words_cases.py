"""Independent reference cases: LCS by subset enumeration, lattices by path enumeration, clean-up by hand."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from rapidfuzz.distance import LCSseq

from calque import CalqueError, Evaluator, Words
from calque.words import align, clean, oracle

CASES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("words_cases.json").read_text())["cases"]
pytestmark = pytest.mark.usefixtures("kernels")


def of_kind(*kinds: str) -> Any:
    chosen = [case for case in CASES if case["kind"] in kinds]
    return pytest.mark.parametrize("case", chosen, ids=[case["id"] for case in chosen])


def agrees(found: Any, expected: Any) -> bool:
    return bool(found == (pytest.approx(expected, abs=1e-9) if isinstance(expected, float) else expected))


@of_kind("sequence")
def test_sequence(case: dict[str, Any]) -> None:
    found = align(case["ref"], case["pred"])
    for name, expected in case["expect"].items():
        assert agrees(getattr(found, name), expected), name
    assert found.naive_matches <= found.matches <= found.bag_matches
    assert len(found.pairs) == found.matches
    assert all(case["ref"][i] == case["pred"][j] for i, j in found.pairs)


@of_kind("aggregate")
def test_aggregate(case: dict[str, Any]) -> None:
    expected = {unit: document["ref"] for unit, document in case["docs"].items()}
    found = {unit: document["pred"] for unit, document in case["docs"].items() if "pred" in document}
    numbers = Evaluator(Words(holdout=tuple(case["held_out"]))).update(expected, found).compute().to_dict()
    for unit, block in case["expect"]["per_doc"].items():
        assert all(agrees(numbers["documents"][unit][name], value) for name, value in block.items()), unit
    assert set(numbers["documents"]) == set(case["expect"]["per_doc"])
    for scope, name in itertools.product(("micro", "macro"), ("recall", "precision")):
        assert agrees(numbers[scope][name], case["expect"][f"{scope}_{name}"])
    assert numbers["counts"]["documents"] == case["expect"]["n_docs"]
    assert numbers["counts"]["documents_with_recall"] == case["expect"]["n_docs_macro_recall"]


@of_kind("sausage", "dag")
def test_lattice(case: dict[str, Any]) -> None:
    given = {name: case[name] for name in ("slots", "edges", "start", "finals") if name in case}
    if "error" in case["expect"]:
        with pytest.raises(CalqueError, match=case["expect"]["error"]):
            oracle(case["ref"], **given)
        return
    best = oracle(case["ref"], **given)
    found = {
        "oracle_matches": best.matches,
        "n_ref": best.n_ref,
        "oracle_recall": best.recall,
        "n_paths": best.n_paths,
        "min_words_of_optimal": len(best.words),
        "tie_broken_path": best.path,
        "tie_broken_words": best.words,
        "oracle_precision_of_tie_broken": best.precision,
        "oracle_edit_distance": best.edit_distance,
        "oracle_indel_distance": best.indel_distance,
        "oracle_f1": best.f1,
        "flat_upper_bound": best.flat_bound,
    }
    for name, expected in case["expect"].items():
        if name != "n_optimal_paths":
            assert agrees(found[name], expected), name
    assert best.matches == LCSseq.similarity(case["ref"], best.words) == len(best.pairs)
    assert best.matches <= best.flat_bound


@of_kind("cleanup")
def test_cleanup(case: dict[str, Any]) -> None:
    assert clean(case["input"], format=case["format"], **case["options"]) == case["expect"]["words"]
