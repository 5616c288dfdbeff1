"""Orders that leave much open: pairs are counted where they are, and not group by group over the whole page."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import pytest

from calque import Evaluator, Order
from calque.order import compare
from tests.order.oracle import first_of, flat
from tests.order.test_against_every_pair import order_of


@pytest.mark.parametrize("seed", range(60))
def test_pairs_of_nested_groups_one_by_one(seed: int) -> None:
    rng = random.Random(seed)
    names = [f"b{place}" for place in range(rng.randint(0, 9))]
    truth, found = (order_of(rng, rng.sample(names, len(names) - rng.randint(0, min(2, len(names))))) for _ in range(2))
    counts = dict.fromkeys(("concordant", "discordant", "open"), 0)
    for one, other in combinations(sorted({*flat(truth)} & {*flat(found)}), 2):
        ours, theirs = first_of(truth, one, other), first_of(found, one, other)
        if ours is not None:
            counts["open" if theirs is None else "concordant" if ours == theirs else "discordant"] += 1
    made = compare(truth, found).counts
    assert {name: made[name] for name in counts} == counts


def test_many_small_open_groups() -> None:
    groups = [{"unordered": [f"a{place}", f"b{place}"]} for place in range(2000)]
    made = compare(groups, groups[::-1])
    assert (made.pairs, made.footrule) == (0, 0)
    assert made.counts["discordant"] == 4 * 2000 * 1999 // 2
    assert made.counts["open"] == made.counts["concordant"] == 0


def test_documents_have_the_sums_of_their_own_pages() -> None:
    rng = random.Random(3)
    rows: tuple[list[Any], list[Any]] = [], []
    for document in range(6):
        for page in range(3):
            names = [f"b{place}" for place in range(rng.randint(1, 6))]
            for side in rows:
                side.append({"doc_id": f"d{document}", "page_index": page, "order": rng.sample(names, len(names))})
    whole = Evaluator(Order()).update(*rows).compute().numbers["documents"]
    for document, block in whole.items():
        alone = ([row for row in side if row["doc_id"] == document] for side in rows)
        assert Evaluator(Order()).update(*alone).compute().numbers["documents"][document] == block
