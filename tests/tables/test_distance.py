"""The distance of tables against independent implementations: apted on the tree, and every mapping there is."""

from __future__ import annotations

import math
import random
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from apted import APTED, Config
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from calque.corpus.tables import CellTable
from calque.readers.tables.files import one_table
from calque.tables import compare
from calque.tables.comparing import Comparison
from calque.tables.other_tools.trees import html_tree, trees_apart, written
from calque.tables.task import Tables
from tests.examples import examples
from tests.laws.tables import tables

pytestmark = pytest.mark.usefixtures("kernels")


class Node:
    """A node as apted takes it."""

    def __init__(self, label: Any, text: str | None = None) -> None:
        self.label, self.text = label, text
        self.children: list[Node] = []


class Costs(Config):
    """The costs of section 2."""

    def rename(self, node1: Node, node2: Node) -> float:
        if node1.label != node2.label:
            return 1.0
        if node1.text is None or node2.text is None:
            return 0.0
        return Levenshtein.normalized_distance(node1.text, node2.text)

    def children(self, node: Node) -> list[Node]:
        return node.children


def tree(table: CellTable, *, structure: bool = False) -> Node:
    root = Node("table")
    root.children = [Node("tr") for _ in range(table.rows)]
    for row, down, across, text in zip(table.row, table.rowspan, table.colspan, table.text, strict=True):
        root.children[row].children.append(Node(("td", down, across), "" if structure else text))
    return root


def apart(truth: CellTable, found: CellTable, *, structure: bool = False) -> float:
    return float(APTED(tree(truth, structure=structure), tree(found, structure=structure), Costs()).compute_edit_distance())


@examples(300)
@given(truth=tables(), found=tables())
def test_the_distance_is_that_of_apted(truth: CellTable, found: CellTable) -> None:
    comparison = Comparison(Tables(), [(truth, found)], 1)
    for structure in (False, True):
        assert comparison.distances(structure=structure)[0] == pytest.approx(apart(truth, found, structure=structure), abs=1e-9)


def noisy(seed: int, rows: int, columns: int, noise: float) -> tuple[CellTable, CellTable]:
    """A table, and a bad reading of it: letters, cells and rows are lost or made up, rows merged."""
    draw = random.Random(seed)
    grid = [["".join(draw.choices("abcdef ", k=draw.randint(0, 9))).strip() for _ in range(columns)] for _ in range(rows)]
    read: list[list[str]] = []
    for row in grid:
        cells = [text[1:] if draw.random() < noise else text for text in row if draw.random() > noise / 4]
        if draw.random() < noise / 2 and read:
            read[-1] += cells
        elif draw.random() > noise / 4:
            read.append(cells)
    return tuple(
        one_table("<table>" + "".join(f"<tr>{''.join(f'<td>{text}</td>' for text in row)}</tr>" for row in side) + "</table>")
        for side in (grid, read)
    )  # type: ignore[return-value]  # two


@pytest.mark.parametrize("seed", range(12))
def test_larger_tables_that_were_read_badly(seed: int) -> None:
    """The band must widen until it proves its answer, and the mapping must cost what the distance says."""
    truth, found = noisy(seed, 4 + seed, 3 + seed % 4, 0.1 + 0.07 * (seed % 5))
    result = compare(truth, found)
    assert result["distance"] == pytest.approx(apart(truth, found), abs=1e-9)
    assert math.fsum(block["cost"] for block in result["errors"].values()) == pytest.approx(result["distance"], abs=1e-9)


Forest = tuple[tuple[Any, Any], ...]


def by_all_mappings(truth: CellTable, found: CellTable) -> float:
    """The cheapest of all one-to-one mappings that keep order and ancestry; for tables of a few nodes."""
    ours, theirs = (_nodes(table) for table in (truth, found))
    best = float(len(ours) + len(theirs))
    for size in range(1, min(len(ours), len(theirs)) + 1):
        for chosen in combinations(range(len(ours)), size):
            for others in combinations(range(len(theirs)), size):
                if _keeps(ours, theirs, chosen, others):
                    cost = sum(_cost(ours[i], theirs[j]) for i, j in zip(chosen, others, strict=True))
                    best = min(best, cost + len(ours) + len(theirs) - 2 * size)
    return best


def _nodes(table: CellTable) -> list[tuple[int, int, Any, str]]:
    """Nodes in preorder: the row they are in, whether they are the row (-1) or a cell, spans and text."""
    nodes: list[tuple[int, int, Any, str]] = []
    for row in range(table.rows):
        nodes.append((row, -1, None, ""))
        cells = [cell for cell, at in enumerate(table.row) if at == row]
        nodes += [(row, cell, (table.rowspan[cell], table.colspan[cell]), table.text[cell]) for cell in cells]
    return nodes


def _keeps(ours: list[Any], theirs: list[Any], chosen: tuple[int, ...], others: tuple[int, ...]) -> bool:
    """Preorder is kept by construction; a node must be above another on both sides or on neither."""
    for (i, j), (k, m) in combinations(list(zip(chosen, others, strict=True)), 2):
        above = ours[i][1] == -1 and ours[i][0] == ours[k][0]
        if above != (theirs[j][1] == -1 and theirs[j][0] == theirs[m][0]):
            return False
    return True


def _cost(one: Any, other: Any) -> float:
    if (one[1] == -1) != (other[1] == -1):
        return 1.0
    if one[1] == -1:
        return 0.0
    return 1.0 if one[2] != other[2] else Levenshtein.normalized_distance(one[3], other[3])


@examples(60)
@given(data=st.data())
def test_no_mapping_is_cheaper(data: st.DataObject) -> None:
    small = tables().filter(lambda table: table.nodes <= 6)
    truth, found = data.draw(small), data.draw(small)
    assert compare(truth, found, only=("teds",))["distance"] == pytest.approx(by_all_mappings(truth, found), abs=1e-9)


@examples(150)
@given(truth=tables(), found=tables())
def test_each_unit_of_the_distance_falls_under_one_kind(truth: CellTable, found: CellTable) -> None:
    result = compare(truth, found)
    assert math.fsum(block["cost"] for block in result["errors"].values()) == pytest.approx(result["distance"], abs=1e-9)
    if result["teds"] is not None:
        assert math.fsum(block["loss"] for block in result["errors"].values()) == pytest.approx(1 - result["teds"], abs=1e-9)
    swapped = compare(found, truth)
    assert swapped["distance"] == pytest.approx(result["distance"], abs=1e-9)


@examples(100)
@given(truth=tables(), found=tables(), sections=st.booleans())
def test_trees_with_sections_are_as_far_apart_as_apted_says(truth: CellTable, found: CellTable, sections: bool) -> None:
    pair = []
    for table in (truth, found):
        markup = written(table)
        if sections:
            markup = markup.replace("<tr>", "<thead><tr>", 1).replace("</tr>", "</tr></thead><tbody>", 1)
            markup = markup.replace("</table>", "</tbody></table>") if "<tbody>" in markup else markup
        pair.append(one_table(markup))
    distance = trees_apart("pubtabnet", [(pair[0], pair[1])], structure=False, jobs=1)[0][0]
    trees = [_apted_tree(table) for table in pair]
    assert distance == pytest.approx(float(APTED(*trees, Costs()).compute_edit_distance()), abs=1e-9)


def _apted_tree(table: CellTable) -> Node:
    made = html_tree("pubtabnet", table)
    assert made is not None
    stack: list[tuple[int, Node]] = []
    for place, (label, tokens, first) in enumerate(zip(made.labels, made.tokens, made.firsts, strict=True)):
        node = Node(label, None if tokens is None else "".join(tokens))
        while stack and stack[-1][0] >= first:
            node.children.insert(0, stack.pop()[1])
        stack.append((place, node))
    return stack[-1][1]


def test_many_threads_give_the_same_bits() -> None:
    pairs = [noisy(seed, 6, 4, 0.3) for seed in range(9)]
    alone, together = (Comparison(Tables(), pairs, jobs) for jobs in (1, 4))
    assert np.array_equal(alone.distances(structure=False), together.distances(structure=False))
    for name, values in alone.grits().items():
        assert np.array_equal(values, together.grits()[name], equal_nan=True), name
