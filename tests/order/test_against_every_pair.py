"""Random pages of every sort: whatever is printed is what looking at every pair finds."""

from __future__ import annotations

import random
from typing import Any

import pytest

from calque import Evaluator, Order
from tests.order.oracle import Corners, Judged, Page, numbers

LABELS = ["text", "Page_Header", "a:footer", "Text:Header", "header:x", "TABLE"]


def order_of(rng: random.Random, names: list[str], depth: int = 0) -> Any:
    """Nested lists of all names, some of them open, some empty."""
    members: list[Any] = [[]] if depth and rng.random() < 0.1 else []
    while names:
        size = rng.randint(0, len(names)) if depth < 3 and rng.random() < 0.35 else -1
        members.append(names[0] if size < 0 else order_of(rng, names[:size], depth + 1))
        names = names[1:] if size < 0 else names[size:]
    return {"unordered": members} if rng.random() < (0.4 if depth else 0.15) else members


def box_of(rng: random.Random, near: list[Corners], size: int) -> Corners:
    """A box, often one of those near by, sometimes with an edge moved; sometimes without any area."""
    if near and rng.random() < 0.6:
        box = [*rng.choice(near)]
        if rng.random() < 0.5:
            box[rng.randrange(4)] += rng.choice([-1, 1])
        return [min(box[0], box[2]), min(box[1], box[3]), max(box[0], box[2]), max(box[1], box[3])]
    left, top = rng.randint(0, size), rng.randint(0, size)
    return [left, top, left + rng.randint(0, size), top + rng.randint(0, size)]


def page_of(rng: random.Random, near: list[Corners] | None, *, boxes: bool) -> Page:
    count, size = rng.randint(0, 7), rng.choice([4, 10])
    ids = [f"b{place}" for place in range(count)]
    if rng.random() < 0.3:
        ids = rng.sample([f"b{place}" for place in range(10)], count)
    inside = [name for name in ids if rng.random() < 0.85]
    rng.shuffle(inside)
    corners = [box_of(rng, near or [], size) for _ in ids] if boxes and ids else None
    return Page(ids, corners, [rng.choice(LABELS) for _ in ids], order_of(rng, inside))


def row(document: str, number: int, page: Page) -> dict[str, Any]:
    made = {"doc_id": document, "page_index": number, "ids": page.ids, "labels": page.labels, "order": page.order}
    return made if page.boxes is None else made | {"boxes": page.boxes}


def drawn(rng: random.Random, how: str, least: float) -> tuple[list[Any], list[Any], list[Judged]]:
    """Rows of both sides, and every page judged pair by pair. Some pages are on one side only, some on both alike."""
    sides: tuple[list[Any], list[Any]] = [], []
    judged = []
    boxes = rng.random() < 0.75
    for document in ["d", "e"][: rng.randint(1, 2)]:
        for number in range(rng.randint(1, 3)):
            truth = page_of(rng, None, boxes=boxes)
            found = truth if rng.random() < 0.2 else page_of(rng, truth.boxes, boxes=boxes and rng.random() < 0.9)
            only = rng.random()
            both = Page() if only < 0.07 else truth, Page() if only > 0.93 else found
            for side, page, there in zip(sides, both, (only >= 0.07, only <= 0.93), strict=True):
                if there:
                    side.append(row(document, number, page))
            judged.append(Judged(*both, how, least))
    return *sides, judged


@pytest.mark.parametrize("seeds", [pytest.param(range(150), id="some"), pytest.param(range(150, 3000), marks=pytest.mark.long)])
def test_every_number_is_that_of_every_pair(seeds: range) -> None:
    for seed in seeds:
        rng = random.Random(seed)
        how, least = rng.choice(["cover", "cover", "iou", "id"]), rng.choice([0.5, 0.5, 0.3, 1.0])
        truth, found, judged = drawn(rng, how, least)
        result = Evaluator(Order(pair=how, iou=least)).update(truth, found).compute()
        made = result.to_dict()
        for part, expected in numbers(judged).items():
            assert made[part] == pytest.approx(expected, abs=1e-12), (seed, part)
        by_block = [row["discordant"] for row in result.outcomes().rows() if row["what"] == "block"]
        assert sum(by_block) == 2 * made["counts"]["discordant"], seed
