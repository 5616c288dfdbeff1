"""TEDS as PubTabNet, docling-eval and OmniDocBench compute it: on the tree that libxml2 makes of the HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from calque.base.columns import Codes, Floats
from calque.base.errors import MissingExtra
from calque.corpus.tables import CellTable
from calque.kernels import kernels
from calque.kernels.structs import RowTables, TextPoints, Trees
from calque.tables.other_tools.omnidocbench_html import as_omnidocbench

if TYPE_CHECKING:
    from lxml.etree import _Element

    from calque.tables.comparing import Pair


class HtmlTree(NamedTuple):
    """A table as such a tool sees it: nodes with children before their parents, the root last."""

    labels: list[Any]
    """Tags; of a cell also its spans."""
    tokens: list[tuple[str, ...] | None]
    """What a cell holds; nothing for other nodes."""
    firsts: list[int]
    elements: int
    """How many elements there are below the table, those inside of cells too."""

    def is_plain(self) -> bool:
        """Whether it is a table of rows of cells, and nothing else: those have a quicker way."""
        return all(
            first == place if tokens is not None else label == "tr" or place == len(self.labels) - 1
            for place, (label, tokens, first) in enumerate(zip(self.labels, self.tokens, self.firsts, strict=True))
        ) and _cells_in_rows(self)


def _cells_in_rows(tree: HtmlTree) -> bool:
    """Whether each row holds the cells since the row before it, and none is left for the table."""
    begin = 0
    for place, (label, first) in enumerate(zip(tree.labels, tree.firsts, strict=True)):
        if label == "tr":
            if first != (begin if begin < place else place):
                return False
            begin = place + 1
    return begin == len(tree.labels) - 1


def trees_apart(compat: str, pairs: Sequence[Pair], *, structure: bool, jobs: int) -> tuple[Floats, Floats, Floats]:
    """The distance of each pair, and how many elements both sides have; NaN where the tool would not give a number."""
    trees: dict[int, HtmlTree | None] = {}
    for table in (table for pair in pairs for table in pair):
        if id(table) not in trees:
            trees[id(table)] = html_tree(compat, table)
    known = {key: tree for key, tree in trees.items() if tree is not None}
    place = {key: number for number, key in enumerate(known)}
    plain = {key for key, tree in known.items() if tree.is_plain()}
    numbered = _Numbered(known.values(), structure=structure)
    columns = np.full((3, len(pairs)), np.nan)
    usable = [row for row, pair in enumerate(pairs) if all(id(table) in place for table in pair)]
    for flat in (False, True):
        rows = [row for row in usable if all(id(table) in plain for table in pairs[row]) is flat]
        ours, theirs = (np.array([place[id(pairs[row][side])] for row in rows], dtype=np.int32) for side in (0, 1))
        columns[0, rows] = numbered.distances(ours, theirs, flat=flat, jobs=jobs) if rows else ()
    for side in (0, 1):
        columns[1 + side, usable] = [known[id(pairs[row][side])].elements for row in usable]
    return columns[0], columns[1], columns[2]


def html_tree(compat: str, table: CellTable) -> HtmlTree | None:
    """The tree of a table under a compat mode; ``None`` where ``int`` refuses a span."""
    if not table.markup and not table.rows:
        return HtmlTree(["table"], [None], [0], 0)
    markup = table.markup or written(table)
    if compat.startswith("omnidocbench"):
        markup = as_omnidocbench(markup, symbols=compat == "omnidocbench")
    root = _parsed(f"<html><body>{markup}</body></html>")
    if root is None:
        return HtmlTree(["table"], [None], [0], 0)
    if compat == "docling-eval":
        for head in root.iter("th"):
            head.tag = "td"
    try:
        return _tree(root)
    except ValueError:
        return None


def written(table: CellTable) -> str:
    """A table that was no HTML, as HTML with ``td`` only."""
    rows: list[list[str]] = [[] for _ in range(table.rows)]
    for row, down, across, text in zip(table.row, table.rowspan, table.colspan, table.text, strict=True):
        spans = "".join(f' {name}="{span}"' for name, span in (("rowspan", down), ("colspan", across)) if span > 1)
        rows[row].append(f"<td{spans}>{escape(text, quote=False)}</td>")
    return "<table>" + "".join(f"<tr>{''.join(cells)}</tr>" for cells in rows) + "</table>"


def _parsed(markup: str) -> _Element | None:
    try:
        from lxml import html
    except ImportError as error:
        raise MissingExtra("lxml", "xml", "compat modes") from error
    parser = html.HTMLParser(remove_comments=True, encoding="utf-8", no_network=True)
    tree = html.document_fromstring(markup.encode("utf-8", "replace"), parser=parser)
    tables: Any = tree.xpath("body/table")
    first: _Element | None = tables[0] if tables else None
    return first


def _tree(root: _Element) -> HtmlTree:
    made = HtmlTree([], [], [], sum(isinstance(node.tag, str) for node in root.iter()) - 1)
    stack: list[tuple[_Element, Iterator[_Element], int]] = [(root, iter(root), 0)]
    while stack:
        node, children, first = stack[-1]
        child = next((each for each in children if isinstance(each.tag, str)), None)
        if child is None:
            stack.pop()
            made.labels.append(node.tag)
            made.tokens.append(None)
            made.firsts.append(first)
        elif child.tag == "td":
            spans = tuple(int(child.get(name, "1")) for name in ("colspan", "rowspan"))
            made.firsts.append(len(made.labels))
            made.labels.append(("td", *spans))
            made.tokens.append(tuple(_tokens(child)))
        else:
            stack.append((child, iter(child), len(made.labels)))
    return made


def _tokens(cell: _Element) -> Iterator[str]:
    """Characters and tags inside of a cell; what follows a cell that is nested in it is lost, as in PubTabNet's code."""
    yield from cell.text or ""
    stack: list[tuple[_Element, Iterator[_Element]]] = [(cell, iter(cell))]
    while stack:
        node, children = stack[-1]
        child = next((each for each in children if isinstance(each.tag, str)), None)
        if child is not None:
            yield f"<{child.tag}>"
            yield from child.text or ""
            stack.append((child, iter(child)))
            continue
        stack.pop()
        if stack:
            if node.tag != "unk":
                yield f"</{node.tag}>"
            yield from (node.tail or "") if node.tag != "td" else ""


class _Numbered:
    """Trees with numbers for labels, texts and tokens, as the kernels take them."""

    def __init__(self, trees: Iterable[HtmlTree], *, structure: bool) -> None:
        self._trees = list(trees)
        labels: dict[Any, int] = {}
        texts: dict[tuple[str, ...], int] = {(): 0}
        self._labels = [[labels.setdefault(label, len(labels)) for label in tree.labels] for tree in self._trees]
        self._contents = [
            [-1 if each is None else 0 if structure else texts.setdefault(each, len(texts)) for each in tree.tokens]
            for tree in self._trees
        ]
        points: dict[str, int] = {}
        tokens = [points.setdefault(token, len(points)) for text in texts for token in text]
        self._texts = TextPoints(np.array(tokens, dtype=np.int32), np.cumsum([0, *map(len, texts)], dtype=np.int64))

    def distances(self, ours: Codes, theirs: Codes, *, flat: bool, jobs: int) -> Floats:
        """How far trees are apart; ``flat`` ones are rows of cells and nothing else."""
        if flat:
            rows = self._rows()
            return kernels().row_tree_distances(rows, rows, self._texts, ours, theirs, False, jobs)
        made = self._packed()
        return kernels().tree_distances(made, made, self._texts, ours, theirs, jobs)

    def _packed(self) -> Trees:
        sizes = [len(tree.labels) for tree in self._trees]
        return Trees(
            np.cumsum([0, *sizes], dtype=np.int64),
            np.array([code for codes in self._labels for code in codes], dtype=np.int32),
            np.array([code for codes in self._contents for code in codes], dtype=np.int32),
            np.array([first for tree in self._trees for first in tree.firsts], dtype=np.int32),
        )

    def _rows(self) -> RowTables:
        """The cells of each row; trees that are not flat have none, and nobody asks for them."""
        starts, rows, spans, codes = [0], [0], list[int](), list[int]()
        for tree, labels, contents in zip(self._trees, self._labels, self._contents, strict=True):
            for label, code, content in zip(tree.labels, labels, contents, strict=True) if tree.is_plain() else ():
                if label == "tr":
                    rows.append(len(codes))
                elif label != "table":
                    spans.append(code)
                    codes.append(content)
            starts.append(len(rows) - 1)
        return RowTables(
            np.array(starts, dtype=np.int64),
            np.array(rows, dtype=np.int64),
            np.array(spans, dtype=np.int64),
            np.array(codes, dtype=np.int32),
        )
