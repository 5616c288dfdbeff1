"""Routings against enumeration of every assignment, and what is held out of equal systems."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calque.ceiling.routing import Goal, Halves, Table, held_out

cells = st.lists(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=3), min_size=1, max_size=4)


@given(cells=cells, missed=st.integers(0, 5))
def test_no_assignment_has_a_higher_f1(cells: list[list[tuple[int, int]]], missed: int) -> None:
    right = np.array([[hit for hit, _ in row] for row in cells])
    found = right + np.array([[wrong for _, wrong in row] for row in cells])
    truths = int(right.max(axis=1).sum()) + missed
    goal = Goal()
    best = goal.best(right.sum(axis=0).tolist(), found.sum(axis=0).tolist(), truths)

    def f1(choice: tuple[int, ...]) -> Fraction | None:
        hits, made = (sum(int(table[row, system]) for row, system in enumerate(choice)) for table in (right, found))
        return Fraction(2 * hits, truths + made) if truths + made else None

    reached = [value for choice in product(range(3), repeat=len(cells)) if (value := f1(choice)) is not None]
    chosen = f1(tuple(goal.choice(right, found, truths, best).tolist()))
    assert chosen is None or chosen == max(reached)


def test_ties_go_to_the_best_then_in_order() -> None:
    right, found = np.array([[1, 1, 1], [0, 0, 0]]), np.array([[1, 1, 1], [0, 0, 0]])
    assert Goal().choice(right, found, 2, 1).tolist() == [1, 1]
    assert Goal().ranking([3, 3, 4], [4, 4, 9], 5) == [0, 1, 2]


def test_equal_systems_gain_nothing_that_holds() -> None:
    """Two systems of one quality: routing by class gains where it was chosen, and next to nothing on other documents."""
    random = np.random.default_rng(7)
    documents, classes = 20, 8
    document = np.repeat(np.arange(documents), classes)
    cell = np.tile(np.arange(classes), documents)
    gains, held = [], []
    for _ in range(30):
        truths = np.full(len(cell), 2)
        right = random.binomial(2, 0.7, (len(cell), 2))
        found = right + random.binomial(1, 0.4, (len(cell), 2))
        table = Table(document, cell, classes, truths, right, found)
        goal = Goal()
        (own, made), whole = table.sums(), int(truths.sum())
        best = goal.best(own.sum(axis=0).tolist(), made.sum(axis=0).tolist(), whole)
        choice = goal.choice(own, made, whole, best)
        rows = np.arange(classes)
        single = 2 * own[:, best].sum() / (whole + made[:, best].sum())
        gains.append(2 * own[rows, choice].sum() / (whole + made[rows, choice].sum()) - single)
        halves = Halves([f"d{place}" for place in range(documents)], np.arange(documents), 20, 0)
        routed, alone = held_out(table, halves, goal), held_out(table, halves, goal, single=True)
        assert routed is not None
        assert alone is not None
        held.append(routed - alone)
    assert np.mean(gains) > 0.01
    assert abs(np.mean(held)) < 0.005
