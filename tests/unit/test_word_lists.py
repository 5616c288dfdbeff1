"""Lists of words: which confusions come first, and where characters of unusual scripts are joined."""

from __future__ import annotations

import pytest

from calque import Evaluator, Words
from calque.words.confused import error_lists
from calque.words.text.characters import graphemes


def test_the_most_frequent_confusions_come_first() -> None:
    truth, found = "cat cat cat Dog Dog house", "cot cot cot dog dog mouse"
    ledger = Evaluator(Words()).update({"a": truth}, {"a": found}).compute().ledger
    lists = error_lists(ledger, 10)
    assert [tuple(row.values())[:3] for row in lists["words"]] == [
        ("cat", "cot", 3), ("Dog", "dog", 2), ("house", "mouse", 1),
    ]  # fmt: skip
    assert [tuple(row.values())[:3] for row in lists["characters"]] == [
        ("a", "o", 3), ("D", "d", 2), ("h", "m", 1),
    ]  # fmt: skip
    kinds = [row["count"] for row in lists["kinds"]]
    assert kinds == sorted(kinds, reverse=True)
    assert (sum(kinds), lists["totals"]["characters"], lists["totals"]["words"]) == (6, 6, 6)


@pytest.mark.parametrize(
    ("text", "clusters"),
    [
        ("\u1000\u1031", 1),  # a vowel sign of Burmese takes space, and belongs to its letter
        ("\u1000\u108f", 2),  # a tone mark that Unicode excepts
        ("\u1000\u1090", 2),  # the digit behind it is a character anyway
        ("e\u00ad\u0301", 3),  # nothing is joined to a soft hyphen, which is a control
        ("e\u200b\u0301", 3),
        ("e\u0301", 1),
        ("\u0600\u0661", 1),  # a sign before numbers belongs to what follows
    ],
)
def test_clusters_follow_the_classes_of_unicode(text: str, clusters: int) -> None:
    assert len(graphemes(text)) == clusters
