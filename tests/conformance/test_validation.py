"""Section 2 of the detection contract: every rule, by its title."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from calque import Corpus, read
from calque.base.errors import ContractError, Issue, Severity
from calque.corpus.boxes import BoxCorpus
from calque.readers import check_pair, read_pair
from tests.snapshots import BOX, predictions, valid_predictions, valid_truth

Tree = dict[str, Any]
Change = Callable[[Tree], object]
FIRST = "/predictions/0/objects/0"
HUGE = 10**400
"""A number that JSON can hold and a float cannot."""


def first(tree: Tree) -> Tree:
    """The first object of a file."""
    entry: Tree = tree["predictions"][0]["objects"][0]
    return entry


def issues_of(tree: Any, **options: Any) -> list[Issue]:
    """Everything that the reader refuses in a file."""
    with pytest.raises(ContractError) as caught:
        read(tree, **options)
    return list(caught.value.issues)


def refused(tree: Any, **options: Any) -> list[tuple[str, str]]:
    """Code and place of everything that the reader refuses in a file."""
    return [(issue.code, issue.pointer) for issue in issues_of(tree, **options)]


def accepted(tree: Any, **options: Any) -> BoxCorpus:
    """The corpus of a file that breaks no rule."""
    corpus = read(tree, **options)
    assert isinstance(corpus, BoxCorpus)
    return corpus


def changed(tree: Tree, change: Change) -> Tree:
    """The file after a change."""
    change(tree)
    return tree


def test_valid_files_are_read_without_any_remark() -> None:
    for tree in (valid_truth(), valid_predictions()):
        assert accepted(tree).issues == ()


def test_what_is_read_is_what_the_file_says() -> None:
    corpus = accepted(valid_predictions())
    assert corpus.units() == ("a.pdf", "b.pdf")
    assert corpus.labels == ("Figure", "Table")
    assert corpus.label_map == {"1": "Figure", "2": "Table"}
    assert corpus.model == "model-a"
    assert corpus.boxes.tolist() == [[0.1, 0.1, 0.5, 0.48], [0.1, 0.1, 0.5, 0.5]]
    assert corpus.scores is not None
    assert corpus.scores.tolist() == [0.9, 0.25]
    assert corpus.ids is not None
    assert corpus.ids.tolist() == ["a.pdf:0:0", "b.pdf:3:0"]
    assert corpus.page_index.tolist() == [0, 3]


@pytest.mark.parametrize("version", ["1.2", "1.30", 1.3, None, ["1.3"]])
def test_rule_1_schema_version_must_equal_1_3(version: object) -> None:
    tree = changed(valid_truth(), lambda t: t["info"].update(schema_version=version))
    assert refused(tree) == [("schema-version", "/info/schema_version")]


@pytest.mark.parametrize(
    ("label_map", "pointers"),
    [
        ({"1": "Figure"}, ["/label_map/2"]),
        ({"1": "Table", "2": "Figure"}, ["/label_map/1", "/label_map/2"]),
        ({"1": "Figure", "2": "Table", "3": "Formula"}, ["/label_map/3"]),
        ({"1": "Figure", "3": "Table"}, ["/label_map/2", "/label_map/3"]),
    ],
)
def test_rule_2_label_map_must_be_identical_in_both_files(label_map: dict[str, str], pointers: list[str]) -> None:
    found = predictions({("a.pdf", 0): [("Figure", BOX, 0.5)]})
    found["label_map"] = label_map
    with pytest.raises(ContractError) as caught:
        read_pair(valid_truth(), found)
    assert [(issue.code, issue.pointer) for issue in caught.value.issues] == [("label-maps-differ", p) for p in pointers]


def test_rule_2_the_order_of_the_label_map_does_not_matter() -> None:
    found = valid_predictions()
    found["label_map"] = dict(reversed(found["label_map"].items()))
    read_pair(valid_truth(), found)


def test_rule_2_corpora_without_a_label_map_can_be_compared() -> None:
    arrays = Corpus.from_arrays([BOX], ["Stamp"], extent="normalized")
    check_pair(accepted(valid_truth()), arrays)


def test_rule_3_every_doc_id_must_exist_in_its_own_documents() -> None:
    tree = changed(valid_predictions(), lambda t: t["predictions"][1].update(doc_id="b.pfd"))
    (issue,) = issues_of(tree)
    assert (issue.code, issue.pointer) == ("unknown-document", "/predictions/1/doc_id")
    assert issue.help == "did you mean 'b.pdf'?"


@pytest.mark.parametrize("axis", range(4))
@pytest.mark.parametrize("value", [-0.01, 1.01, 2381, -1e-8, 1 + 1e-8, 1e300, HUGE, -HUGE], ids=lambda v: f"{v!r:.9}")
def test_rule_4_all_boxes_must_be_within_0_and_1(axis: int, value: float) -> None:
    tree = changed(valid_truth(), lambda t: first(t)["bbox"].__setitem__(axis, value))
    assert ("box-range", f"{FIRST}/bbox/{axis}") in refused(tree)


def test_rule_4_the_edges_0_and_1_belong_to_the_page() -> None:
    tree = changed(valid_truth(), lambda t: first(t).update(bbox=[0, 0.0, 1, 1.0]))
    assert accepted(tree).boxes[0].tolist() == [0.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("score", "code"),
    [
        (None, "score-missing"),
        (1.5, "score-range"),
        (-0.1, "score-range"),
        (90, "score-range"),
        (HUGE, "score-range"),
        (math.nan, "score-range"),
        (math.inf, "score-range"),
        ("0.9", "wrong-type"),
        (True, "wrong-type"),
        ([0.9], "wrong-type"),
    ],
)
def test_rule_5_each_predicted_object_needs_a_number_from_0_to_1(score: object, code: str) -> None:
    tree = changed(valid_predictions(), lambda t: first(t).update(score=score))
    assert refused(tree) == [(code, f"{FIRST}/score")]


def test_rule_5_a_score_that_is_not_there_is_missing() -> None:
    tree = changed(valid_predictions(), lambda t: first(t).pop("score"))
    assert refused(tree) == [("score-missing", f"{FIRST}/score")]


@pytest.mark.parametrize("change", [lambda e: e.pop("score"), lambda e: e.update(score=None)])
def test_rule_5_allow_missing_scores_accepts_models_that_give_none(change: Change) -> None:
    tree = changed(valid_predictions(), lambda t: change(first(t)))
    scores = accepted(tree, allow_missing_scores=True).scores
    assert scores is not None
    assert math.isnan(scores[0])
    assert scores[1] == 0.25


def test_rule_5_allow_missing_scores_still_refuses_a_wrong_score() -> None:
    tree = changed(valid_predictions(), lambda t: first(t).update(score=1.5))
    assert refused(tree, allow_missing_scores=True) == [("score-range", f"{FIRST}/score")]


@pytest.mark.parametrize("score", [0.5, 0, 1, "0.5", 2.5])
def test_rule_6_no_object_of_ground_truth_has_a_score(score: object) -> None:
    tree = changed(valid_truth(), lambda t: first(t).update(score=score))
    assert refused(tree) == [("score-on-truth", f"{FIRST}/score")]


def test_rule_6_a_null_score_counts_as_absent() -> None:
    tree = changed(valid_truth(), lambda t: first(t).update(score=None))
    assert accepted(tree).issues == ()


@pytest.mark.parametrize(
    "box",
    [
        pytest.param([0.5, 0.1, 0.1, 0.5], id="x inverted"),
        pytest.param([0.1, 0.5, 0.5, 0.1], id="y inverted"),
        pytest.param([0.1, 0.1, 0.1, 0.5], id="no width"),
        pytest.param([0.1, 0.1, 0.5, 0.1], id="no height"),
        pytest.param([0, 0, 0, 0], id="a point"),
        pytest.param([1.0, 0.0, 1 + 1e-12, 1.0], id="no width after clipping"),
    ],
)
def test_x1_is_below_x2_and_y1_below_y2(box: list[float]) -> None:
    tree = changed(valid_truth(), lambda t: first(t).update(bbox=box))
    assert {("box-order", f"{FIRST}/bbox")} == {(i.code, i.pointer) for i in issues_of(tree) if i.severity is Severity.ERROR}


def test_both_axes_are_reported_when_both_are_inverted() -> None:
    tree = changed(valid_truth(), lambda t: first(t).update(bbox=[0.5, 0.5, 0.1, 0.1]))
    assert refused(tree) == [("box-order", f"{FIRST}/bbox")] * 2


def test_a_label_that_is_not_in_label_map_is_refused() -> None:
    tree = changed(valid_truth(), lambda t: first(t).update(label="Figur"))
    (issue,) = issues_of(tree)
    assert (issue.code, issue.pointer, issue.help) == ("unknown-label", f"{FIRST}/label", "did you mean 'Figure'?")


def test_a_duplicate_document_is_refused() -> None:
    tree = changed(valid_truth(), lambda t: t["documents"].append(t["documents"][0]))
    assert refused(tree) == [("duplicate-document", "/documents/2")]


def test_a_duplicate_page_is_refused_whatever_its_page_id() -> None:
    again = {"page_id": "another name", "doc_id": "a.pdf", "page_index": 0, "objects": []}
    tree = changed(valid_truth(), lambda t: t["predictions"].append(again))
    assert refused(tree) == [("duplicate-page", "/predictions/2")]


def test_the_same_page_id_on_two_pages_is_fine() -> None:
    tree = changed(valid_truth(), lambda t: [page.update(page_id="p") for page in t["predictions"]])
    assert accepted(tree).page_index.tolist() == [0, 3]


def test_a_duplicate_object_id_on_a_page_is_refused() -> None:
    tree = changed(valid_truth(), lambda t: t["predictions"][0]["objects"][1].update(id="a.pdf:0:0"))
    assert refused(tree) == [("duplicate-id", "/predictions/0/objects/1")]


def test_the_same_object_id_on_two_pages_is_fine() -> None:
    tree = predictions({("a", 0): [("Figure", BOX, 0.5)], ("a", 1): [("Figure", BOX, 0.5)]})
    for page in tree["predictions"]:
        page["objects"][0]["id"] = "same"
    assert len(accepted(tree)) == 2


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_are_refused(value: float) -> None:
    tree = changed(valid_truth(), lambda t: first(t)["bbox"].__setitem__(2, value))
    assert refused(tree) == [("box-number", f"{FIRST}/bbox/2")]


@pytest.mark.parametrize(
    ("tree", "side"), [(valid_truth(), "prediction"), (valid_predictions(), "ground_truth")], ids=["truth", "predictions"]
)
def test_a_file_given_as_the_other_side_is_refused_once(tree: Tree, side: str) -> None:
    assert refused(tree, side=side) == [("wrong-side", "/info/type")]


def test_swapped_files_are_both_named() -> None:
    with pytest.raises(ContractError) as caught:
        read_pair(valid_predictions(), valid_truth())
    assert [issue.code for issue in caught.value.issues] == ["wrong-side"] * 2


# The published schema: required keys, types, no unknown keys.

PLACES: dict[str, Callable[[Tree], Tree]] = {
    "": lambda t: t,
    "/info": lambda t: t["info"],
    "/info/model": lambda t: t["info"]["model"],
    "/info/coordinate_system": lambda t: t["info"]["coordinate_system"],
    "/documents/0": lambda t: t["documents"][0],
    "/predictions/0": lambda t: t["predictions"][0],
    FIRST: first,
}
REQUIRED = [
    (where, key)
    for where, keys in {
        "": ("label_map", "info", "documents", "predictions"),
        "/info": ("schema_version", "type", "run_id", "model", "coordinate_system"),
        "/info/model": ("name",),
        "/info/coordinate_system": ("type", "range", "origin"),
        "/documents/0": ("doc_id", "doc_name", "doc_path"),
        "/predictions/0": ("page_id", "doc_id", "page_index", "objects"),
        FIRST: ("id", "label", "bbox"),
    }.items()
    for key in keys
]


@pytest.mark.parametrize(("where", "key"), REQUIRED)
def test_a_missing_key_is_named_with_its_place(where: str, key: str) -> None:
    tree = changed(valid_predictions(), lambda t: PLACES[where](t).pop(key))
    missing = [issue for issue in issues_of(tree) if issue.code == "missing-key"]
    assert [(issue.pointer, repr(key) in issue.message) for issue in missing] == [(where, True)]


@pytest.mark.parametrize(("where", "key"), [place for place in REQUIRED if place[1] != "run_id"])
def test_null_is_no_value_for_a_required_key_but_run_id(where: str, key: str) -> None:
    tree = changed(valid_predictions(), lambda t: PLACES[where](t).update({key: None}))
    assert any(issue.pointer == f"{where}/{key}" for issue in issues_of(tree))


@pytest.mark.parametrize("where", [where for where in PLACES if where != "/info/model"])
def test_unknown_keys_are_refused_and_named(where: str) -> None:
    tree = changed(valid_predictions(), lambda t: PLACES[where](t).update(surprise=1))
    assert refused(tree) == [("unknown-key", f"{where}/surprise")]


def test_model_and_attributes_take_any_key() -> None:
    tree = valid_predictions()
    tree["info"]["model"].update(version=None, notes="", weights=[1, 2])
    first(tree)["attributes"] = {"anything": {"goes": [None]}}
    assert accepted(tree).issues == ()


def test_optional_keys_may_be_absent() -> None:
    tree = changed(valid_truth(), lambda t: t["info"].pop("created_at"))
    assert accepted(tree).issues == ()


WRONG: list[tuple[str, str, object]] = [
    ("", "label_map", {}),
    ("", "label_map", []),
    ("", "label_map", {"0": "Figure"}),
    ("", "label_map", {"01": "Figure"}),
    ("", "label_map", {"Figure": "Figure"}),
    ("", "label_map", {"1": ""}),
    ("", "label_map", {"1": 7}),
    ("", "info", []),
    ("", "documents", []),
    ("", "documents", {}),
    ("", "documents", ["a.pdf"]),
    ("", "predictions", {}),
    ("", "predictions", [[]]),
    ("/info", "type", "truth"),
    ("/info", "type", ["ground_truth"]),
    ("/info", "created_at", "2026"),
    ("/info", "created_at", 20260101),
    ("/info", "created_at", None),
    ("/info", "run_id", ""),
    ("/info", "run_id", 7),
    ("/info", "model", "yolo"),
    ("/info/model", "name", ""),
    ("/info/model", "version", 3),
    ("/info/model", "notes", ["x"]),
    ("/info/coordinate_system", "type", "pixel_xyxy"),
    ("/info/coordinate_system", "range", [0, 100]),
    ("/info/coordinate_system", "range", [False, True]),
    ("/info/coordinate_system", "range", "01"),
    ("/info/coordinate_system", "origin", "bottom_left"),
    ("/documents/0", "doc_id", ""),
    ("/documents/0", "doc_name", 7),
    ("/documents/0", "doc_path", ""),
    ("/predictions/0", "page_id", ""),
    ("/predictions/0", "doc_id", 7),
    ("/predictions/0", "page_index", -1),
    ("/predictions/0", "page_index", 0.5),
    ("/predictions/0", "page_index", "0"),
    ("/predictions/0", "page_index", True),
    ("/predictions/0", "objects", {}),
    ("/predictions/0", "objects", ["box"]),
    (FIRST, "id", ""),
    (FIRST, "id", 7),
    (FIRST, "label", ""),
    (FIRST, "label", ["Figure"]),
    (FIRST, "label", True),
    (FIRST, "bbox", [0.1, 0.1, 0.5]),
    (FIRST, "bbox", [0.1, 0.1, 0.5, 0.5, 0.9]),
    (FIRST, "bbox", "0.1 0.1 0.5 0.5"),
    (FIRST, "bbox", [0.1, 0.1, "0.5", 0.5]),
    (FIRST, "bbox", [0.1, 0.1, True, 0.5]),
    (FIRST, "bbox", [0.1, 0.1, None, 0.5]),
    (FIRST, "bbox", {"x1": 0.1}),
    (FIRST, "attributes", []),
    (FIRST, "attributes", None),
]


@pytest.mark.parametrize(("where", "key", "value"), WRONG)
def test_a_value_of_the_wrong_kind_is_refused_at_its_place(where: str, key: str, value: object) -> None:
    tree = changed(valid_predictions(), lambda t: PLACES[where](t).update({key: value}))
    assert any(issue.pointer.startswith(f"{where}/{key}") for issue in issues_of(tree))


def test_the_published_schema_refuses_the_same_values(test_data: Path) -> None:
    schema = json.loads((test_data / "data-snapshot" / "data-snapshot-eval-v1.3.schema.json").read_text())
    published = Draft202012Validator(schema)
    for where, key, value in WRONG:
        tree = changed(valid_predictions(), lambda t, w=where, k=key, v=value: PLACES[w](t).update({k: v}))  # type: ignore[misc]
        assert not published.is_valid(tree), (where, key, value)
    for tree in (valid_truth(), valid_predictions()):
        published.validate(tree)


def test_all_issues_of_a_file_are_reported_at_once() -> None:
    tree = valid_predictions()
    tree["info"]["schema_version"] = "1.2"
    tree["extra"] = 1
    first(tree).update(label="Chart", bbox=[0.1, 0.1, 7, "x"], score=3)
    tree["predictions"][1]["page_index"] = -1
    assert refused(tree) == [
        ("unknown-key", "/extra"),
        ("schema-version", "/info/schema_version"),
        ("unknown-label", f"{FIRST}/label"),
        ("box-range", f"{FIRST}/bbox/2"),
        ("box-number", f"{FIRST}/bbox/3"),
        ("score-range", f"{FIRST}/score"),
        ("wrong-type", "/predictions/1/page_index"),
    ]


def test_the_issues_of_both_files_come_in_one_error() -> None:
    broken = changed(valid_truth(), lambda t: t.pop("info"))
    wrong = changed(valid_predictions(), lambda t: first(t).update(score=7))
    with pytest.raises(ContractError) as caught:
        read_pair(broken, wrong)
    assert [issue.code for issue in caught.value.issues] == ["missing-key", "score-range"]
    assert caught.value.total == 2
    assert "percent" in "".join(caught.value.hints)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda t: t.pop("info"), "missing-key"),
        (lambda t: t.update(surprise=1), "unknown-key"),
        (lambda t: t.update(label_map=[]), "label-map"),
        (lambda t: t.update(label_map={"x": "Figure", "2": "Table"}), "label-map"),
        (lambda t: t["info"].update(schema_version="1.2"), "schema-version"),
        (lambda t: t["info"].update(type="truth"), "wrong-type"),
        (lambda t: t["info"]["coordinate_system"].update(range=[0, 100]), "coordinate-system"),
        (lambda t: t["documents"].append(t["documents"][0]), "duplicate-document"),
        (lambda t: t["predictions"].append(t["predictions"][0]), "duplicate-page"),
        (lambda t: t["predictions"][0].update(doc_id="zzz"), "unknown-document"),
        (lambda t: t["predictions"][0].update(page_index="1"), "wrong-type"),
        (lambda t: t["predictions"][0].update(objects="none"), "wrong-type"),
        (lambda t: t["predictions"][0]["objects"].append(first(t)), "duplicate-id"),
        (lambda t: first(t).update(label="zzz"), "unknown-label"),
        (lambda t: first(t).update(label=1), "label-id"),
        (lambda t: first(t).update(bbox=[0.1]), "box-shape"),
        (lambda t: first(t).update(bbox=[0.1, 0.1, "x", 0.5]), "box-number"),
        (lambda t: first(t).update(bbox=[0.1, 0.1, math.nan, 0.5]), "box-number"),
        (lambda t: first(t).update(bbox=[0.1, 0.1, 7, 0.5]), "box-range"),
        (lambda t: first(t).update(bbox=[0.5, 0.1, 0.1, 0.5]), "box-order"),
        (lambda t: first(t).update(score=7), "score-range"),
        (lambda t: first(t).update(score="7"), "wrong-type"),
        (lambda t: first(t).update(score=None), "score-missing"),
        (lambda t: t["info"].update(type="ground_truth"), "score-on-truth"),
    ],
)
def test_every_issue_says_what_where_and_what_to_do(change: Change, code: str) -> None:
    issues = [issue for issue in issues_of(changed(valid_predictions(), change)) if issue.code == code]
    assert issues
    for issue in issues:
        assert issue.message
        assert issue.pointer.startswith("/") or code == "missing-key"
        assert issue.help, issue


# Tolerance.


@pytest.mark.parametrize(("value", "clipped"), [(1.0000000000000002, 1.0), (1 + 1e-9, 1.0), (-1e-9, 0.0), (-1e-300, 0.0)])
def test_a_coordinate_within_1e_9_outside_is_clipped_with_a_note(value: float, clipped: float) -> None:
    axis = 2 if clipped else 0
    corpus = accepted(changed(valid_truth(), lambda t: first(t)["bbox"].__setitem__(axis, value)))
    assert corpus.boxes[0, axis] == clipped
    (note,) = corpus.issues
    assert (note.code, note.severity, note.pointer) == ("clipped", Severity.NOTE, f"{FIRST}/bbox/{axis}")
    assert repr(value) in note.message


# Page identity.


def test_page_identity_is_document_and_index_and_page_ids_may_differ() -> None:
    expected, found = valid_truth(), valid_predictions()
    for page in found["predictions"]:
        page["page_id"] = f"other convention {page['page_index']}"
    read_pair(expected, found)


@pytest.mark.parametrize("index", [3.0, 3])
def test_a_page_index_may_be_written_as_a_whole_number_of_either_kind(index: float) -> None:
    tree = changed(valid_truth(), lambda t: t["predictions"][1].update(page_index=index))
    assert accepted(tree).page_index.tolist() == [0, 3]


def test_what_comes_after_a_document_that_is_no_object_is_read_too() -> None:
    tree = changed(valid_truth(), lambda t: t["documents"].insert(0, 5))
    tree["documents"].append(tree["documents"][1])
    assert refused(tree) == [("wrong-type", "/documents/0"), ("duplicate-document", f"/documents/{len(tree['documents']) - 1}")]
