"""Error kinds: against the steps done by hand, by their identities, and by injecting one known error at a time."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import Corpus, Detection, Evaluator
from calque.base.errors import ConfigError
from calque.evaluation.result import Result
from tests.conformance.kinds_by_hand import Thing, iou, name_kinds

FOUND = {"TP", "CLS", "MERGE", "SPLIT", "DUP", "DUP_CLS", "FRAGMENT", "ENVELOPE", "LOC", "BOTH", "BKG"}
TRUTH = {"TP", "CLS", "MERGED", "SPLIT", "LOC", "BOTH", "MISS", "PARTIAL"}

Object = tuple[Any, ...]
"""(label, box) of a truth, (label, box, score) of a prediction."""


def result_of(pages: list[tuple[list[Object], list[Object]]], task: Detection | None = None) -> Result:
    """One document for each page."""
    sides = []
    for side in (0, 1):
        rows = [(number, *thing) for number, page in enumerate(pages) for thing in page[side]]
        sides.append(
            Corpus.from_arrays(
                [row[2] for row in rows],
                [row[1] for row in rows],
                documents=[row[0] for row in rows],
                scores=[row[3] for row in rows] if side else None,
                all_documents=range(len(pages)),
            )
        )
    return Evaluator(task or Detection()).update(*sides).compute()


def kinds_of(result: Result) -> tuple[list[str], list[str]]:
    """The kinds of truths and of predictions, a subtype after a colon."""
    rows = list(result.outcomes().rows())
    named = [(row["side"], row["kind"] + (f":{row['subtype']}" if row["subtype"] else "")) for row in rows]
    return [kind for side, kind in named if side == "truth"], [kind for side, kind in named if side == "prediction"]


def kinds(truths: list[Object], founds: list[Object]) -> tuple[list[str], list[str]]:
    return kinds_of(result_of([(truths, founds)]))


start, size = st.integers(0, 8), st.integers(1, 8)
boxes = st.tuples(start, start, size, size).map(lambda b: (b[0], b[1], b[0] + b[2], b[1] + b[3]))
labels = st.sampled_from(["Figure", "Table"])
pages = st.tuples(
    st.lists(st.tuples(labels, boxes), max_size=5),
    st.lists(st.tuples(labels, boxes, st.sampled_from([0.2, 0.5, 0.9])), max_size=7),
)


@given(drawn=st.lists(pages, min_size=1, max_size=3))
def test_kinds_are_those_of_the_steps_by_hand(kernels, drawn):
    expected: tuple[list[str], list[str]] = ([], [])
    for truths, founds in drawn:
        things = [Thing(box, label) for label, box in truths], [Thing(box, label, score) for label, box, score in founds]
        name_kinds(*things)
        for side, named in zip(expected, things, strict=True):
            side += [thing.kind + (f":{thing.subtype}" if thing.subtype else "") for thing in named]
    assert kinds_of(result_of(drawn)) == expected


@given(drawn=st.lists(pages, min_size=1, max_size=3))
def test_every_object_has_one_kind_and_the_counts_are_those_of_precision_and_recall(drawn):
    result = result_of(drawn)
    numbers = result.to_dict()
    errors, counted = numbers["errors"], numbers["metrics"]["0.5"]["micro"]
    assert set(errors["predictions"]) == FOUND
    assert set(errors["truth"]) == TRUTH
    assert errors["predictions"]["TP"] == errors["truth"]["TP"] == counted["tp"]
    assert sum(errors["predictions"].values()) == counted["tp"] + counted["fp"]
    assert sum(errors["truth"].values()) == counted["tp"] + counted["fn"]
    assert errors["flags"]["empty_page"] == numbers["metrics"]["0.5"]["empty_pages"]["fp"]
    assert sum(errors["subtypes"].values()) == errors["predictions"]["LOC"]
    for side in ("predictions", "truth"):
        for kind, count in errors[side].items():
            assert sum(block[side][kind] for block in errors["per_class"].values()) == count
        shares = [share for share in errors["area_share"][side].values() if share is not None]
        assert not shares or sum(shares) == pytest.approx(1)
    listed = Counter((row["side"], row["kind"]) for row in result.outcomes().rows())
    assert listed == Counter({
        **{("prediction", kind): count for kind, count in errors["predictions"].items() if count},
        **{("truth", kind): count for kind, count in errors["truth"].items() if count},
    })  # fmt: skip


@given(drawn=pages)
def test_delta_f1_is_f1_once_the_kind_is_repaired(drawn):
    truths, founds = drawn
    things = [Thing(box, label) for label, box in truths], [Thing(box, label, score) for label, box, score in founds]
    name_kinds(*things)
    impact = result_of([drawn]).to_dict()["errors"]["impact"]
    tp = sum(g.kind == "TP" for g in things[0])
    fp, fn = len(founds) - tp, len(truths) - tp

    def f1(tp: int, fp: int, fn: int) -> float:
        return 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 1.0

    if not truths:
        assert all(worth["delta_f1"] is None for worth in impact.values())
        return
    for kind, worth in impact.items():
        repaired = {kind, "MERGED"} if kind == "MERGE" else {kind}
        won = sum(g.kind in repaired for g in things[0])
        gone = sum(p.kind in repaired for p in things[1])
        assert worth["delta_f1"] == pytest.approx(f1(tp + won, fp - gone, fn - won) - f1(tp, fp, fn))
        assert fn - won >= 0
        if kind in ("CLS", "LOC", "BOTH"):
            # A prediction is put right where its truth has the same kind because of it.
            assert won == sum(p.kind == kind and p.partner.kind == kind and p.partner.partner is p for p in things[1])


@pytest.mark.parametrize("seed", range(8))
def test_no_order_of_objects_matters(seed):
    random = np.random.default_rng(seed)

    def some(count: int) -> list[Object]:
        corners = random.random((count, 2)) * 60
        sizes = random.random((count, 2)) * 40 + 5
        return [
            (str(random.choice(["a", "b"])), (*low, *(low + size)), float(score))
            for low, size, score in zip(corners, sizes, random.permutation(count) / count, strict=True)
        ]

    truths, founds = [thing[:2] for thing in some(9)], some(14)
    there, here = kinds(truths, founds)
    truth_order, found_order = random.permutation(9), random.permutation(14)
    shuffled = kinds([truths[i] for i in truth_order], [founds[i] for i in found_order])
    assert shuffled == ([there[i] for i in truth_order], [here[i] for i in found_order])


TABLE = ("Table", (0, 0, 100, 100))
FAR = ("Table", (300, 300, 400, 400))
SIDE = ("Table", (100, 0, 200, 100))


@pytest.mark.parametrize(
    ("truths", "founds", "expected"),
    [
        pytest.param([TABLE], [("Table", (0, 0, 100, 50), 0.5)], (["TP"], ["TP"]), id="an IoU of T is a match"),
        pytest.param([TABLE], [("Figure", (0, 0, 100, 90), 0.5)], (["CLS"], ["CLS"]), id="another label"),
        pytest.param([TABLE, SIDE], [("Table", (0, 0, 200, 100), 0.5)], (["TP", "MERGED"], ["TP:swallows"]), id="swallows"),
        pytest.param(
            [TABLE, SIDE], [("Table", (0, 0, 200, 150), 0.5)], (["MERGED", "MERGED"], ["MERGE"]), id="one box for two"
        ),
        pytest.param(
            [TABLE],
            [("Table", (0, 0, 45, 100), 0.5), ("Figure", (55, 0, 100, 100), 0.5)],
            (["SPLIT"], ["SPLIT", "SPLIT"]),
            id="pieces of any label",
        ),
        pytest.param(
            [TABLE],
            [("Table", (0, 0, 100, 26), 0.5), ("Table", (0, 20, 100, 46), 0.5)],
            (["LOC"], ["LOC:TIGHT", "LOC:TIGHT"]),
            id="pieces that overlap cover less together",
        ),
        pytest.param(
            [TABLE],
            [("Table", (0, 0, 100, 100), 0.5), ("Table", (0, 0, 100, 60), 0.9)],
            (["TP"], ["TP", "DUP"]),
            id="the best IoU pairs, whatever the score",
        ),
        pytest.param(
            [TABLE],
            [("Table", (0, 0, 100, 100), 0.5), ("Figure", (0, 0, 100, 60), 0.9)],
            (["TP"], ["TP", "DUP_CLS"]),
            id="again under another label",
        ),
        pytest.param(
            [TABLE],
            [("Table", (0, 0, 100, 100), 0.5), ("Figure", (0, 0, 100, 30), 0.9)],
            (["TP"], ["TP", "FRAGMENT"]),
            id="a piece",
        ),
        pytest.param(
            [TABLE],
            [("Table", (0, 0, 100, 100), 0.5), ("Table", (0, 0, 100, 250), 0.9)],
            (["TP"], ["TP", "ENVELOPE"]),
            id="around",
        ),
        pytest.param([TABLE], [("Table", (0, 0, 100, 40), 0.5)], (["LOC"], ["LOC:TIGHT"]), id="too small"),
        pytest.param([TABLE], [("Table", (0, 0, 100, 250), 0.5)], (["LOC"], ["LOC:LOOSE"]), id="too large"),
        pytest.param([TABLE], [("Table", (60, 0, 160, 100), 0.5)], (["LOC"], ["LOC:SHIFT"]), id="beside"),
        pytest.param([TABLE], [("Figure", (60, 0, 160, 100), 0.5)], (["BOTH"], ["BOTH"]), id="beside, and another label"),
        pytest.param([TABLE], [("Table", (95, 0, 195, 100), 0.5)], (["MISS"], ["BKG"]), id="hardly touched"),
        pytest.param([], [("Table", (0, 0, 10, 10), 0.5)], ([], ["BKG:empty_page"]), id="nothing there"),
        pytest.param(
            [TABLE],
            [("Table", (-91, 0, 9, 100), 0.5), ("Table", (91, 0, 191, 100), 0.5)],
            (["PARTIAL"], ["BKG", "BKG"]),
            id="two that hardly touch it cover enough together",
        ),
        pytest.param(
            [TABLE, FAR],
            [("Table", (0, 0, 100, 100), 0.9), ("Table", (60, 0, 160, 100), 0.5)],
            (["TP", "MISS"], ["TP", "LOC:SHIFT"]),
            id="beside a truth that is found",
        ),
    ],
)
def test_examples(kernels, truths, founds, expected):
    assert result_kinds(truths, founds) == expected


def result_kinds(truths: list[Object], founds: list[Object]) -> tuple[list[str], list[str]]:
    return kinds(truths, founds)


def shrunk(box: Any, share: float) -> tuple[float, ...]:
    """The upper part of a box."""
    x1, y1, x2, y2 = box
    return x1, y1, x2, y1 + (y2 - y1) * share


def beside(box: Any, start: float, end: float) -> tuple[float, ...]:
    """The part of a box between two shares of its width."""
    x1, y1, x2, y2 = box
    return x1 + (x2 - x1) * start, y1, x1 + (x2 - x1) * end, y2


INJECTED: dict[str, Any] = {
    # name: what stands in place of the perfect prediction, the kinds of that, the kind of the truth
    "CLS": (lambda label, box: [("other", box)], ["CLS"], "CLS"),
    "LOC": (lambda label, box: [(label, shrunk(box, 0.4))], ["LOC:TIGHT"], "LOC"),
    "BOTH": (lambda label, box: [("other", shrunk(box, 0.4))], ["BOTH"], "BOTH"),
    "SPLIT": (lambda label, box: [(label, beside(box, 0, 0.46)), (label, beside(box, 0.54, 1))], ["SPLIT"] * 2, "SPLIT"),
    "DUP": (lambda label, box: [(label, box), (label, shrunk(box, 0.8))], ["TP", "DUP"], "TP"),
    "DUP_CLS": (lambda label, box: [(label, box), ("other", shrunk(box, 0.8))], ["TP", "DUP_CLS"], "TP"),
    "FRAGMENT": (lambda label, box: [(label, box), (label, shrunk(box, 0.3))], ["TP", "FRAGMENT"], "TP"),
    "MISS": (lambda label, box: [], [], "MISS"),
    "BKG": (lambda label, box: [(label, box), (label, (-500.0, -500.0, -400.0, -400.0))], ["TP", "BKG"], "TP"),
}
NEEDS_ROOM: dict[str, Any] = {
    "LOOSE": (lambda label, box: [(label, shrunk(box, 2.5))], ["LOC:LOOSE"], "LOC"),
    "SHIFT": (lambda label, box: [(label, beside(box, 0.5, 1.5))], ["LOC:SHIFT"], "LOC"),
    "ENVELOPE": (lambda label, box: [(label, box), (label, shrunk(box, 2.5))], ["TP", "ENVELOPE"], "TP"),
}


def assert_named(pages: list[list[tuple[str, Any]]], errors: dict[str, Any]) -> int:
    """Put each error in place of each perfect prediction in turn; each must be named, and nothing else be wrong."""
    injected = 0
    for name, (replacement, found_kinds, truth_kind) in errors.items():
        cases, expected = [], []
        for page in pages:
            for chosen, (label, box) in enumerate(page):
                founds = [
                    (*thing, 0.5)
                    for number, perfect in enumerate(page)
                    for thing in ([perfect] if number != chosen else replacement(label, box))
                ]
                cases.append((page, founds))
                rest = ["TP"] * (len(page) - 1)
                expected.append((
                    [truth_kind if number == chosen else "TP" for number in range(len(page))],
                    [*rest[:chosen], *found_kinds, *rest[chosen:]],
                ))  # fmt: skip
        here = kinds_of(result_of(cases))
        assert here == ([k for case in expected for k in case[0]], [k for case in expected for k in case[1]]), name
        injected += len(cases)
    return injected


def test_an_injected_error_is_named_on_generated_pages():
    random = np.random.default_rng(11)
    pages = []
    for _ in range(12):
        # Cells far enough apart for a box to grow two and a half times.
        cells = random.choice(9, size=5, replace=False)
        corners = np.stack([cells % 3, cells // 3], axis=1) * 400 + random.random((5, 2)) * 40
        ends = corners + 30 + random.random((5, 2)) * 90
        pages.append([(str(random.choice(["a", "b"])), (*low, *high)) for low, high in zip(corners, ends, strict=True)])
    assert assert_named(pages, {**INJECTED, **NEEDS_ROOM}) == 12 * 5 * 12


def test_an_injected_error_is_named_on_real_pages(test_data: Path):
    content = json.loads((test_data / "publaynet" / "samples.json").read_text())
    pages: dict[int, list[tuple[str, Any]]] = {}
    for truth in content["annotations"]:
        x, y, w, h = truth["bbox"]
        pages.setdefault(truth["image_id"], []).append((str(truth["category_id"]), (x, y, x + w, y + h)))
    assert assert_named(list(pages.values()), INJECTED) == 193 * 9


def test_merging_and_swallowing_are_named_on_generated_pages():
    random = np.random.default_rng(5)
    for _ in range(20):
        x, y, gap = random.random(3) * 50
        width, height = 20 + random.random(2) * 80
        left, right = (x, y, x + width, y + height), (x + width + gap, y, x + 2 * width + gap, y + height)
        both = (x, y, x + 2 * width + gap, y + height)
        assert kinds([("a", left), ("a", right), ("a", (900, 900, 950, 950))], [("a", both, 0.5)]) in (
            (["MERGED", "MERGED", "MISS"], ["MERGE"]),
            (["TP", "MERGED", "MISS"], ["TP:swallows"]),  # gap 0 only
        )


def test_limits_are_settings_and_in_the_signature():
    truths, founds = [TABLE], [("Table", (0, 0, 100, 60), 0.5)]
    strict = Detection(error_limits=(0.75, 0.2, 0.5, 0.7))
    result = result_of([(truths, founds)], strict)
    assert kinds_of(result) == (["LOC"], ["LOC:TIGHT"])
    assert "error-limits:0.75,0.2,0.5,0.7" in str(result.signature)
    assert "error" not in str(result_of([(truths, founds)]).signature)
    assert result["tp@0.5"] == 1


def test_kinds_have_their_own_threshold():
    page = ([TABLE], [("Table", (0, 0, 100, 60), 0.5)])
    result = result_of([page], Detection(iou=(0.75,)))
    assert kinds_of(result) == (["TP"], ["TP"])
    assert result["tp@0.75"] == 0
    assert [row["outcome"] for row in result.outcomes().rows()] == ["fn", "fp"]


@pytest.mark.parametrize("limits", [(0.5, 0.1, 0.5), (0.5, 0.1, 0.5, 1.5), (0.5, 0.0, 0.5, 0.7), (0.3, 0.4, 0.5, 0.7)])
def test_limits_without_sense_are_refused(limits):
    with pytest.raises(ConfigError, match="error_limits"):
        Detection(error_limits=limits)


def test_unknown_views_are_refused():
    with pytest.raises(ConfigError, match="errors must be one of kinds, tide, none, not"):
        Detection(errors="some")  # type: ignore[arg-type]


def test_without_kinds():
    result = result_of([([TABLE], [])], Detection(errors="none"))
    assert "errors" not in result.to_dict()
    assert "kind" not in result.outcomes()
    assert "Error kinds" not in str(result)


def test_low_scores_and_other_labels_do_not_count():
    page = ([TABLE, ("Figure", (300, 0, 400, 100))], [("Table", (0, 0, 100, 100), 0.1), ("Figure", (0, 0, 100, 100), 0.9)])
    assert kinds_of(result_of([page], Detection(min_score=0.5))) == (["CLS", "MISS"], ["", "CLS"])
    assert kinds_of(result_of([page], Detection(labels=("Table",)))) == (["TP", ""], ["TP", ""])


def test_delta_ap_by_hand():
    # One class. By score: wrong (0.9), right (0.8); a third truth is found too poorly (0.7), a fourth not at all.
    truths = [("a", (n * 200, 0, n * 200 + 100, 100)) for n in range(3)]
    founds = [("a", (0, 900, 10, 910), 0.9), ("a", (0, 0, 100, 100), 0.8), ("a", (200, 0, 240, 100), 0.7)]
    impact = result_of([(truths, founds)]).to_dict()["errors"]["impact"]
    before = 34 * (1 / 2) / 101  # recall 1/3 is reached at precision 1/2: the points 0 to 0.33
    assert impact["BKG"]["delta_ap"] == pytest.approx(34 * 1 / 101 - before)
    assert impact["LOC"]["delta_ap"] == pytest.approx(67 * (2 / 3) / 101 - before)
    assert impact["MISS"]["delta_ap"] == pytest.approx(51 * (1 / 2) / 101 - before)
    assert impact["DUP"]["delta_ap"] == 0


def test_delta_ap_of_a_wrong_label():
    truths = [("a", (0, 0, 100, 100)), ("b", (200, 0, 300, 100))]
    founds = [("b", (0, 0, 100, 100), 0.9), ("b", (200, 0, 300, 100), 0.8)]
    impact = result_of([(truths, founds)]).to_dict()["errors"]["impact"]
    # Before: a has nothing, b has precision 1/2 throughout. After: both are perfect.
    assert impact["CLS"]["delta_ap"] == pytest.approx(1 - 0.25)


@pytest.mark.parametrize(
    ("founds", "reason"),
    [
        ([("a", (0, 0, 1, 1), 0.5), ("a", (5, 5, 9, 9), 0.5)], "all predictions have the same score"),
        ([("a", (0, 0, 1, 1), 0.5), ("a", (5, 5, 9, 9), float("nan"))], "1 prediction has no score"),
        ([], "no predictions"),
    ],
)
def test_delta_ap_needs_scores_that_vary(founds, reason):
    result = result_of([([("a", (0, 0, 1, 1))], founds)])
    assert result.to_dict()["errors"]["impact"]["BKG"]["delta_ap"] is None
    assert result.undefined["errors.impact.BKG.delta_ap"] == reason
    assert f"ΔAP: {reason}" in str(result)


def test_worst_documents_come_first():
    pages = [([TABLE], [(*TABLE, 0.5)]), ([TABLE], []), ([TABLE], [("Table", (900, 900, 950, 950), 0.5)])]
    result = result_of(pages)
    assert [(entry["document"], entry["errors"]) for entry in result.to_dict()["errors"]["worst_documents"]] == [(2, 2), (1, 1)]


def test_area_shares():
    page = ([TABLE, FAR], [(*TABLE, 0.5), ("Table", (900, 900, 950, 950), 0.4)])
    shares = result_of([page]).to_dict()["errors"]["area_share"]
    assert shares["predictions"]["TP"] == 10000 / 12500
    assert shares["predictions"]["BKG"] == 2500 / 12500
    assert shares["truth"]["MISS"] == 0.5


def test_the_independent_boxes_measure_as_expected():
    assert iou(Thing((0, 0, 4, 4), "a"), Thing((0, 0, 4, 2), "a")) == 0.5


def test_kinds_and_their_worth_have_names():
    result = result_of([([TABLE, FAR], [("Table", (0, 0, 100, 40), 0.5), ("Figure", (900, 900, 950, 950), 0.4)])])
    assert [result[name] for name in ("LOC", "LOC/Table", "BKG/Figure", "BKG/Table", "MISS", "MERGED")] == [1, 1, 1, 0, 1, 0]
    assert result["delta_f1/LOC"] == pytest.approx(2 / 4)
    assert result["delta_ap/LOC"] > 0


def test_kinds_are_explained(calque):
    run = calque("explain", "MERGED")
    assert run.code == 0
    assert "A truth inside a prediction that holds several." in run.out
    assert "  delta_f1 " in calque("explain").out


def test_ignored_truths_take_no_part_and_excuse_what_lies_on_them(tmp_path):
    truth = {
        "images": [{"id": 1, "width": 500, "height": 500}],
        "categories": [{"id": 1, "name": "Table"}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 100, 100], "area": 10000, "iscrowd": 0},
            {"id": 2, "image_id": 1, "category_id": 1, "bbox": [200, 0, 200, 200], "area": 40000, "iscrowd": 1},
        ],
    }
    founds = [[0, 0, 100, 40], [210, 10, 50, 50], [195, 0, 8, 8]]
    found = [{"image_id": 1, "category_id": 1, "bbox": box, "score": 0.5} for box in founds]
    for name, content in (("truth", truth), ("found", found)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    result = Evaluator(Detection()).update(tmp_path / "truth.json", tmp_path / "found.json").compute()
    assert kinds_of(result) == (["LOC", ""], ["LOC:TIGHT", "", "BKG"])
    assert result.to_dict()["metrics"]["0.5"]["micro"]["fp"] == 2
