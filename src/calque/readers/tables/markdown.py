"""Tables in Markdown: pipe tables as GitHub has them, and tables in HTML between them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from calque.corpus.tables import CellTable
from calque.readers.tables import html
from calque.readers.tables.placing import RawCell, placed

READ_FENCES = ("markdown", "md", "html", "")
"""Fenced blocks with these names are text like any other; others hold code."""
MARKS = ("**", "__", "*", "`")
"""Around a whole cell these are markup; elsewhere they are text."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^\s`{]*)")
_RULE = re.compile(r"[ \t]*:?-+:?[ \t]*")
_HTML_BLOCKS = "|".join(sorted(html.BLOCKS - {"br"}))
_BLOCK = re.compile(
    r" {0,3}(?:#{1,6}(?:[ \t]|$)|>|(?:[-+*]|\d{1,9}[.)])[ \t]|(?:[-*_][ \t]*+){3,}$|`{3,}|~{3,}|<!--|"
    rf"</?(?:{_HTML_BLOCKS})[\s/>])",
    re.IGNORECASE,
)
"""What begins another block, and so ends a table."""
_PIPE = re.compile(r"((?:[^|\\]++|\\.|\\$)*+)(\||$)", re.DOTALL)


class _Line(NamedTuple):
    text: str
    start: int


def tables_of(text: str) -> list[CellTable]:
    r"""Every table of a Markdown text, in order; never fails.

    >>> [(table.rows, table.text) for table in tables_of("a | b\n--|:-:\n**1** | x\\|y\n")]
    [(2, ('a', 'b', '1', 'x|y'))]
    """
    shown = _without_code(text)
    written = html.tables_of(shown) if "<" in shown else []
    found = [(table.span[0], table) for table in written]
    found += _pipe_tables(shown, [table.span for table in written])
    return [table for _, table in sorted(found, key=lambda entry: entry[0])]


def _without_code(text: str) -> str:
    """The text with blanks for fences, and for what stands in those that hold code."""
    if "```" not in text and "~~~" not in text:
        return text
    lines: list[str] = []
    fence, kept = "", True
    for line in text.split("\n"):
        match = _FENCE.match(line)
        if not fence and match is not None:
            fence, kept = match[1], match[2].lower() in READ_FENCES
            lines.append(" " * len(line))
        elif fence and match is not None and match[1].startswith(fence) and not line[match.end() :].strip() and not match[2]:
            fence, kept = "", True
            lines.append(" " * len(line))
        else:
            lines.append(line if kept else " " * len(line))
    return "\n".join(lines)


def _pipe_tables(text: str, html_spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, CellTable]]:
    lines = list(_lines(text, html_spans))
    place = 0
    while place + 1 < len(lines):
        width = _rule_width(lines[place + 1].text)
        if not width or not _may_be_header(lines[place].text, lines[place + 1].text):
            place += 1
            continue
        end = place + 2
        while end < len(lines) and lines[end].text.strip() and not _BLOCK.match(lines[end].text):
            end += 1
        rows = [cells_of(line.text) for line in (lines[place], *lines[place + 2 : end])]
        yield lines[place].start, _table(rows, width)
        place = end


def _lines(text: str, html_spans: Sequence[tuple[int, int]]) -> Iterator[_Line]:
    """The lines outside of tables in HTML; an empty one stands for such a table."""
    start = 0
    for begin, end in [*html_spans, (len(text), len(text))]:
        for line in text[start:begin].split("\n"):
            yield _Line(line.removesuffix("\r"), start)
            start += len(line) + 1
        yield _Line("", begin)
        start = end


def _rule_width(line: str) -> int:
    """How many columns a delimiter row has; 0 for any other line."""
    if "-" not in line or line.startswith(("    ", "\t")):
        return 0
    cells = _split(line)
    return len(cells) if all(_RULE.fullmatch(cell) for cell in cells) else 0


def _may_be_header(line: str, rule: str) -> bool:
    if not line.strip() or line.startswith(("    ", "\t")) or _rule_width(line):
        return False
    # Dashes alone under several cells are the line under a heading.
    return "|" in rule or ("|" in line and len(_split(line)) == 1)


def cells_of(line: str) -> list[str]:
    r"""The texts of the cells of a row.

    >>> cells_of("| `a` | x **y** | \\| |")
    ['a', 'x **y**', '|']
    """
    return [html.text_of(_unmarked(cell.strip())) for cell in _split(line)]


def _split(line: str) -> list[str]:
    """A row at its pipes, outer ones left away; a pipe after a backslash is text."""
    cells = [match[1].replace("\\|", "|") for match in _PIPE.finditer(line.strip())]
    cells = cells[: -1 if len(cells) > 1 and not cells[-1] else None]
    if line.lstrip().startswith("|"):
        cells = cells[1:]
    return cells or [""]


def _unmarked(cell: str) -> str:
    for mark in MARKS:
        inner = cell[len(mark) : -len(mark)]
        if cell.startswith(mark) and cell.endswith(mark) and inner.strip() and mark not in inner:
            return _unmarked(inner.strip())
    return cell


def _table(rows: Sequence[Sequence[str]], rule_width: int) -> CellTable:
    repairs: Counter[str] = Counter()
    width = len(rows[0])
    if rule_width != width:
        repairs["ragged"] += 1
    made = []
    for number, row in enumerate(rows):
        repairs["excess-cells"] += max(0, len(row) - width)
        filled = [*row, *[""] * (width - len(row))]
        made.append([RawCell(1, 1, text, number == 0) for text in filled])
    if not any(rows[0]):
        repairs["blank-header"] += 1
        made = made[1:]
    return placed(made, repairs)
