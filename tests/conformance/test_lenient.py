"""Section 2 of the detection contract: what --lenient forgives and counts, and what it does not."""

from __future__ import annotations

import copy

from calque.base.errors import Severity
from tests.conformance.test_validation import FIRST, accepted, changed, first, refused
from tests.snapshots import BOX, item, valid_truth


def test_lenient_counts_unknown_keys() -> None:
    tree = valid_truth()
    tree["surprise"] = first(tree)["surprise"] = 1
    corpus = accepted(tree, lenient=True)
    assert [(i.code, i.severity) for i in corpus.issues] == [("unknown-key", Severity.NOTE)] * 2
    assert len(corpus) == 2


def test_lenient_merges_duplicate_pages() -> None:
    again = {"page_id": "x", "doc_id": "a.pdf", "page_index": 0, "objects": [item("new", "Figure", BOX)]}
    corpus = accepted(changed(valid_truth(), lambda t: t["predictions"].append(again)), lenient=True)
    assert [(i.code, i.severity) for i in corpus.issues] == [("duplicate-page", Severity.NOTE)]
    assert corpus.page_index.tolist() == [0, 3]
    assert corpus.page.tolist() == [0, 0, 0]


def test_lenient_still_refuses_an_id_that_two_merged_pages_share() -> None:
    tree = changed(valid_truth(), lambda t: t["predictions"].append(copy.deepcopy(t["predictions"][0])))
    codes = [code for code, _ in refused(tree, lenient=True)]
    assert codes.count("duplicate-id") == 2


def test_lenient_drops_objects_with_unknown_labels_and_says_so() -> None:
    corpus = accepted(changed(valid_truth(), lambda t: first(t).update(label="Stamp")), lenient=True)
    assert [(i.code, i.severity) for i in corpus.issues] == [("unknown-label", Severity.LOSS)]
    assert len(corpus) == 1


def test_lenient_forgives_nothing_else() -> None:
    tree = changed(valid_truth(), lambda t: first(t).update(bbox=[0.1, 0.1, 7, 0.5]))
    assert refused(tree, lenient=True) == [("box-range", f"{FIRST}/bbox/2")]
