"""Numbers laid out for people: sections of aligned rows, as plain text, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from calque.core.start_up import Frozen

MISSING = "–"


class Section(Frozen):
    """A titled table with notes below it. The first column is text, the others are numbers or ``None``."""

    title: str
    head: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    notes: Sequence[str] = ()
    rule_before: int | None = None
    """The index of the row above which a line sets totals apart."""
    level: int = 3
    """How deep its heading stands in a written report."""


def cell(value: Any) -> str:
    """A value as it is shown: four decimals, thousands separated, ``–`` for what has no value.

    >>> cell(0.98765), cell(1234), cell(None), cell("Table")
    ('0.9877', '1,234', '–', 'Table')
    """
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4f}"
    return printable(str(value))


def printable(text: str) -> str:
    r"""The text on one line, with nothing in it that a terminal would obey.

    >>> printable("a\x1b[31mb\nc")
    'a\\x1b[31mb\\nc'
    """
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def printable_lines(text: str) -> str:
    """The text with its lines kept apart and everything else in it made `printable`."""
    return "\n".join(printable(line) for line in text.split("\n"))


def printable_json(text: str) -> str:
    r"""JSON that says the same, with everything that a terminal would obey spelt as JSON spells it.

    >>> printable_json('{"label": "\x9b31m"}')
    '{"label": "\\u009b31m"}'
    """
    if text.isascii() and "\x7f" not in text:
        return text  # JSON has no other control characters by itself
    return "\n".join(line if line.isprintable() else "".join(map(_in_json, line)) for line in text.split("\n"))


def _in_json(char: str) -> str:
    if char.isprintable():
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))


def width(text: str) -> int:
    """How many terminal cells the text takes: wide East Asian characters take two, combining marks none."""
    import unicodedata

    return sum(0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def pad(text: str, size: int, *, left: bool) -> str:
    """The text filled with spaces to a size in terminal cells."""
    space = " " * (size - width(text))
    return text + space if left else space + text


def to_text(sections: Sequence[Section]) -> str:
    """The sections as aligned plain text."""
    return "\n\n".join("\n".join(_text_lines(section)) for section in sections)


def _text_lines(section: Section) -> list[str]:
    lines = [printable(section.title)] if section.title else []
    if section.rows:
        grid = [[printable(name) for name in section.head], *([cell(value) for value in row] for row in section.rows)]
        sizes = [max(width(row[column]) for row in grid) for column in range(len(grid[0]))]
        body = ["  ".join(pad(text, sizes[i], left=i == 0) for i, text in enumerate(row)).rstrip() for row in grid]
        if section.rule_before is not None:
            body.insert(section.rule_before + 1, "─" * (sum(sizes) + 2 * (len(sizes) - 1)))
        lines += body
    return lines + [printable(note) for note in section.notes]


def to_markdown(sections: Sequence[Section]) -> str:
    """The sections as Markdown headings, tables and lists."""
    return "\n\n".join(_markdown(section) for section in sections) + "\n"


def _markdown(section: Section) -> str:
    parts = [f"{'#' * section.level} {_markdown_cell(section.title)}"] if section.title else []
    if section.rows:
        lines = [
            "| " + " | ".join(_markdown_cell(name) for name in section.head) + " |",
            "|" + "|".join(" :--- " if i == 0 else " ---: " for i in range(len(section.head))) + "|",
            *("| " + " | ".join(_markdown_cell(value) for value in row) + " |" for row in section.rows),
        ]
        parts.append("\n".join(lines))
    if section.notes:
        parts.append("\n".join(f"- {_markdown_cell(note)}" for note in section.notes))
    return "\n\n".join(parts)


def _markdown_cell(value: Any) -> str:
    text = cell(value)
    for char in "\\|`*_<>[]":
        text = text.replace(char, "\\" + char) if isinstance(value, str) else text
    return text


def to_html(sections: Sequence[Section]) -> str:
    """The sections as HTML tables; every string is text, never markup."""
    return "\n".join(_html(section) for section in sections)


def _html(section: Section) -> str:
    from html import escape

    head = "".join(f"<th>{escape(name)}</th>" for name in section.head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell(value))}</td>" for value in row) + "</tr>" for row in section.rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if section.rows else ""
    title = f"<h4>{escape(section.title)}</h4>" if section.title else ""
    return title + table + "".join(f"<p>{escape(note)}</p>" for note in section.notes)
