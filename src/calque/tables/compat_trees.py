"""TEDS as PubTabNet, docling-eval and OmniDocBench compute it: on the tree that libxml2 makes of the HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from calque.core.columns import Floats
from calque.core.errors import MissingExtra
from calque.core.table_corpus import CellTable
from calque.kernels import kernels
from calque.kernels.structs import TextPoints, Trees
from calque.tables.omnidocbench_html import as_omnidocbench

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


def trees_apart(compat: str, pairs: Sequence[Pair], *, structure: bool, jobs: int) -> tuple[Floats, Floats, Floats]:
    """The distance of each pair, and how many elements both sides have; NaN where the tool would not give a number."""
    trees: dict[int, HtmlTree | None] = {}
    for table in (table for pair in pairs for table in pair):
        if id(table) not in trees:
            trees[id(table)] = html_tree(compat, table)
    known = {key: tree for key, tree in trees.items() if tree is not None}
    place = {key: number for number, key in enumerate(known)}
    packed, texts = _packed(known.values(), structure=structure)
    usable = [row for row, pair in enumerate(pairs) if all(id(table) in place for table in pair)]
    ours, theirs = (np.array([place[id(pairs[row][side])] for row in usable], dtype=np.int32) for side in (0, 1))
    columns = np.full((3, len(pairs)), np.nan)
    columns[0, usable] = kernels().tree_distances(packed, packed, texts, ours, theirs, jobs)
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


def _packed(trees: Iterable[HtmlTree], *, structure: bool) -> tuple[Trees, TextPoints]:
    labels: dict[Any, int] = {}
    texts: dict[tuple[str, ...], int] = {}
    points: dict[str, int] = {}
    codes, contents, firsts, offsets = list[int](), list[int](), list[int](), [0]
    for tree in trees:
        codes += [labels.setdefault(label, len(labels)) for label in tree.labels]
        contents += [-1 if structure or each is None else texts.setdefault(each, len(texts)) for each in tree.tokens]
        firsts += tree.firsts
        offsets.append(len(codes))
    tokens = [points.setdefault(token, len(points)) for text in texts for token in text]
    made = Trees(
        np.array(offsets, dtype=np.int64),
        np.array(codes, dtype=np.int32),
        np.array(contents, dtype=np.int32),
        np.array(firsts, dtype=np.int32),
    )
    return made, TextPoints(np.array(tokens, dtype=np.int32), np.cumsum([0, *map(len, texts)], dtype=np.int64))
