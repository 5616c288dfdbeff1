"""What a ceiling says of its rungs, at the limits of its words; and what systems are called."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calque import Ceiling, ConfigError, Corpus, Evaluator
from calque.ceiling.fields.leaves import groups
from calque.ceiling.fields.scoring import most_alike
from calque.ceiling.outcomes import _first
from calque.ceiling.presentation import _ladder, _nobody, _right, _worth, headline, rungs
from calque.ceiling.systems import Systems, by_name, check_names
from calque.fields.schemas.plain_form import compile_plan


def block(**more: Any) -> dict[str, Any]:
    single = {name: {"recall": share, "tp": hits} for name, share, hits in (("a", 0.5, 5), ("b", 0.75, 7))}
    return {
        "truth": 10, "single": single, "best": {"system": "b", "held_out": 0.7, "f1": 0.75}, "route": {}, "repairable": 0.5,
        "order": [{"system": "b", "recall": 0.75, "matches": 7}], "select": {"matches": 9, "recall": 0.9}, **more,
    }  # fmt: skip


def numbers(*names: str, kind: str = "boxes") -> dict[str, Any]:
    return {"systems": names or ("a", "b"), "kind": kind}


def test_the_best_system_stands_first() -> None:
    made = list(rungs(numbers(), block()))
    assert [(title, held, remark, shown) for title, _, held, remark, shown in made] == [
        ("b", 0.7, "best single", True),
        ("a", "", "", False),
        ("select boxes of b", "", "", False),
        ("select boxes of both", "", "+ 2 truths, 50.0 % of the misses", True),
    ]
    alone = list(rungs(numbers("b"), block()))
    assert [(title, remark) for title, _, _, remark, _ in alone] == [
        ("b", ""),
        ("select boxes of b", "+ 2 truths, 50.0 % of the misses"),
    ]


@pytest.mark.parametrize(("documents", "said"), [(49, True), (50, False)])
def test_below_fifty_documents_what_is_held_out_is_called_pessimistic(documents: int, said: bool) -> None:
    suspects = {"label": 0, "agreed": 0, "unfound": 1, "listed": []}
    given = {**numbers(), "documents": {"counted": documents}}
    notes = _ladder(given, "0.5", block(missed={"unfound": 1, "contested": 0}, suspects=suspects)).notes
    assert (
        any(note == f"held out is pessimistic with {documents} documents: a choice is made on half of them" for note in notes)
        == said
    )


def test_routes_votes_and_edges_are_rungs() -> None:
    route = {"by:lang": {"f1": 0.8, "held_out": 0.75}, "document": {"f1": 0.9}, "class": None}
    votes = {"1": {"recall": 0.9}, "2": {"recall": 0.4}}
    agreement = {"1": {"n": 4, "right": 1}, "2": {"n": 8, "right": 6}}
    edges = {"recombine": {"recall": 0.95}, "average": {"recall": 0.9}}
    select = {"matches": 7, "recall": 0.7, "pool": 12}
    made = list(rungs(numbers(), block(route=route, votes=votes, agreement=agreement, majority=2, select=select, **edges)))
    assert [(title, held, remark, shown) for title, _, held, remark, shown in made[2:]] == [
        ("votes: both (majority)", "", "right when both agree 0.75, alone 0.25", True),
        ("votes: any", "", "", False),
        ("route by lang", 0.75, "5.0 points better held out", True),
        ("route by document, perfect", "", "", False),
        ("select boxes of b", "", "", False),
        ("select boxes of both", "", "7 of 12 boxes kept", True),
        ("recombine edges", "", "", False),
        ("average edges", "", "", False),
    ]


@pytest.mark.parametrize(
    ("agreement", "told"),
    [
        ({1: (4, 1), 2: (8, 6), 3: (2, 2)}, "right when 3 agree 1.00, alone 0.25"),
        ({1: (4, 1), 2: (8, 6), 3: (0, 0)}, "right when 2 agree 0.75, alone 0.25"),
        ({1: (0, 0), 2: (8, 6), 3: (0, 0)}, "right when 2 agree 0.75"),
        ({1: (4, 1), 2: (0, 0), 3: (0, 0)}, "right when alone 0.25"),
        ({1: (0, 0), 2: (0, 0), 3: (0, 0)}, ""),
    ],
)
def test_who_agrees_is_right_so_often(agreement: dict[int, tuple[int, int]], told: str) -> None:
    assert _right({wanted: {"n": n, "right": right} for wanted, (n, right) in agreement.items()}, 3) == told


@pytest.mark.parametrize(
    ("route", "told"),
    [
        ({"f1": 0.8, "held_out": 0.75}, "5.0 points better held out"),
        ({"f1": 0.8, "held_out": 0.7}, "the gain does not hold"),
        ({"f1": 0.8, "held_out": 0.7004}, "hardly any gain held out"),
        ({"f1": 0.75, "held_out": 0.9}, ""),
        ({"f1": 0.8}, ""),
        ({"f1": None, "held_out": 0.9}, ""),
    ],
)
def test_whether_the_gain_of_a_route_holds(route: dict[str, Any], told: str) -> None:
    assert _worth(route, block()["best"]) == told
    recall = {"recall": route["f1"], **{key: value for key, value in route.items() if key != "f1"}}
    assert _worth(recall, {"recall": 0.75, "held_out": 0.7}) == told


def test_what_nobody_finds() -> None:
    suspects = {"label": 1, "value": 2, "unfound": 3, "agreed": 0, "listed": []}
    made = block(missed={"unfound": 4}, suspects=suspects)
    assert _nobody(numbers(), made) == "nobody finds 4 (40.0 %): 1 has a box of another label and 3 none"
    agreed = {**suspects, "agreed": 1, "listed": [1]}
    assert _nobody(numbers(kind="fields"), block(missed={"unfound": 4, "contested": 5}, suspects=agreed)) == (
        "nobody finds 4 (40.0 %): 2 have a value that systems agree on and 3 none; 5 share a box with another truth, which "
        "has it; 1 value agreed on is not in the truth (--suspects 20 lists them)"
    )
    several = {**suspects, "agreed": 2}
    assert _nobody(numbers(), block(missed={"unfound": 0}, suspects=several)) == (
        "nobody finds 0 (0.0 %); 2 boxes agreed on are not in the truth"
    )
    assert _nobody(numbers(), block(truth=0, missed={}, suspects={})) == "there is nothing to find"


ONE = Corpus.from_arrays([[0, 0, 1, 1]], ["x"], documents=["a"])
TWO = Corpus.from_arrays([[0, 0, 1, 1]] * 2, ["x"] * 2, documents=["b", "a"])


def test_systems_are_named_by_whoever_gives_them() -> None:
    systems = Systems(names=("m", "n"), parts=(ONE, TWO))
    assert by_name(systems, ()) == {"m": ONE, "n": TWO}
    assert by_name({"m": ONE}, ()) == {"m": ONE}
    assert by_name([ONE, TWO], ()) == {"system 1": ONE, "system 2": TWO}
    assert by_name(ONE, ()) == {"system 1": ONE}
    assert by_name(["runs/m.json", Path("n.json")], ()) == {"m": "runs/m.json", "n": Path("n.json")}
    assert by_name("runs/m.json", ["given"]) == {"given": "runs/m.json"}
    assert list(by_name(["m.json", ONE], ())) == ["system 1", "system 2"]
    assert systems.units() == ("a", "b")
    assert systems.select(["b"]).units() == ("b",)
    with pytest.raises(TypeError, match="mapping of names"):
        by_name({1: ONE}, ())
    with pytest.raises(ConfigError, match="names: there are 2 systems and 1 names"):
        by_name([ONE, TWO], ["m"])


@pytest.mark.parametrize("names", [[], [str(n) for n in range(17)], ["a", "b", "a"]])
def test_as_many_systems_as_fit_and_none_twice(names: list[str]) -> None:
    with pytest.raises(ConfigError, match=r"a ceiling is of 1 to 16 systems|two systems are named 'a'"):
        check_names(names)
    check_names([str(n) for n in range(16)])
    check_names(["a"])


def test_values_that_are_the_same_share_a_number() -> None:
    name = '{"type": "str", "comparator": "levenshtein", "threshold": 0.9, "weight": 1.0}'
    plan = compile_plan(f'{{"fields": {{"name": {name}}}}}', "complete").fields[0]
    values = ["Acme", None, "Orbis", "acme ", "ORBIS", "acme", "else"]
    assert groups(plan, values) == [1, 0, 2, 1, 2, 1, 3]
    assert most_alike(plan, values) == 3
    assert most_alike(plan, [None, None, "a"]) == 1
    assert most_alike(plan, []) == 0


@pytest.mark.parametrize("seed", range(20))
def test_as_many_suspects_as_are_wanted_and_the_rest_of_the_last_document(seed: int) -> None:
    rng = np.random.default_rng(seed)
    unit, rank = np.sort(rng.integers(0, 6, 30)), rng.integers(0, 3, 30)
    ordered = sorted(range(30), key=lambda row: (rank[row], unit[row], row))
    for wanted in range(1, 33):
        taken = _first(rank, unit, wanted).tolist()
        last = ordered[min(wanted, 30) - 1]
        assert taken == [row for row in ordered if (rank[row], unit[row]) <= (rank[last], unit[last])]


def test_of_two_groups_as_large_the_better_ranked_wins_inside_of_items_too() -> None:
    """Only when all documents are known is it known who is better: the best system's own value stands alone here."""
    line = {"k": {"type": "str", "comparator": "exact"}, "v": {"type": "str", "comparator": "exact"}}
    schema = {"n": {"type": "int"}, "lines": {"type": "list[object]", "match_threshold": 0.3, "fields": line}}

    def documents(value: str, right: int) -> dict[str, Any]:
        numbers = {f"m{place}": {"n": place if place < right else 99} for place in range(4)}
        return {"a": {"n": 1, "lines": [{"k": "one", "v": value}]}, **numbers}

    systems = {"best": ("x", 4), "s1": ("a", 1), "s2": ("a", 1), "s3": ("b", 2), "s4": ("b", 2)}
    task = Ceiling(kind="fields", schema={"fields": schema})
    made = Evaluator(task).update(documents("b", 4), {name: documents(*given) for name, given in systems.items()}).compute()
    level = made.to_dict()["levels"]["value"]
    assert level["best"]["system"] == "best"
    assert level["votes"]["majority"]["tp"] == 5  # n of a, m0 and m1; k, and "b" for v


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("a", "b"), "b, the best, finds 75 %; both together could find 90 %."),
        (("a", "b", "c"), "b, the best, finds 75 %; all 3 together could find 90 %."),
        (("a",), "a finds 75 %; the best choice of its own boxes finds 90 %."),
    ],
)
def test_the_headline(names: tuple[str, ...], said: str) -> None:
    told = {**numbers(*names), "levels": {"0.5": block(best={"system": "b", "recall": 0.75})}}
    sentence = "".join(part if isinstance(part, str) else part.text for part in headline(told))
    assert sentence == said
    told["levels"]["0.5"]["truth"] = 0
    assert headline(told) == ["There is nothing to find: no truths count."]


def test_a_box_without_a_score_weighs_as_much_as_one_with_a_score_of_1() -> None:
    """By the contract: lower edges 10 with 0.5 and 13 with 1 make 18 / 1.5 = 12, which is the truth's."""

    def system(bottom: float, *scores: float) -> Corpus:
        return Corpus.from_arrays([[0, 0, 10, bottom]], ["a"], documents=["d"], scores=scores or None)

    for other in (system(13), system(13, 1.0)):
        made = Evaluator(Ceiling(iou=(0.98,))).update(system(12), {"one": system(10, 0.5), "two": other}).compute()
        assert made.numbers["levels"]["0.98"]["votes"]["2"]["tp"] == 1


def boxes_of(labels: dict[str, str], *, score: float = math.nan) -> Corpus:
    """A box in each document, by its class."""
    some = [[0, 0, 10, 10]] * len(labels)
    return Corpus.from_arrays(some, list(labels.values()), documents=list(labels), scores=[score] * len(labels))


@pytest.mark.parametrize("kind", ["boxes", "layout", "fields"])
def test_documents_that_are_left_out_might_as_well_not_be_there(kind: Any) -> None:
    truth, one, two = {"a": "x", "b": "y", "c": "x"}, {"a": "x", "b": "x", "c": "y"}, {"a": "y", "b": "y", "d": "x"}
    schema = {"fields": {"v": {"type": "str", "comparator": "exact"}}} if kind == "fields" else ""

    def result(**sides: dict[str, str]) -> dict[str, Any]:
        made = {
            name: {unit: {"v": value} for unit, value in side.items()} if kind == "fields" else boxes_of(side, score=0.5)
            for name, side in sides.items()
        }
        task = Ceiling(kind=kind, missing="intersect", schema=schema)
        return dict(Evaluator(task).update(made["truth"], {"one": made["one"], "two": made["two"]}).compute().to_dict())

    def common(side: dict[str, str]) -> dict[str, str]:
        return {unit: side[unit] for unit in "ab"}

    several, few = result(truth=truth, one=one, two=two), result(truth=common(truth), one=common(one), two=common(two))
    assert several["documents"]["counted"] == few["documents"]["counted"] == 2
    for key in ("levels", "ap"):
        assert several[key] == few[key]


def test_average_precision_asks_for_no_score_of_boxes_that_do_not_count() -> None:
    one, two = boxes_of({"a": "x", "b": "x"}, score=0.5), boxes_of({"a": "y"})
    made = Evaluator(Ceiling(labels=("x",))).update(boxes_of({"a": "x", "b": "x"}), {"one": one, "two": two}).compute()
    assert made.numbers["ap"] == {"single": {"one": 1.0, "two": 0.0}, "route_class": 1.0, "select_bound": 1.0}
