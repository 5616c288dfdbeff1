"""Numbers laid out for people: sections of aligned rows, as plain text, Markdown, HTML and LaTeX; and what data had to say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calque.base.errors import Issue, summarize
from calque.base.wording import counted, some

MISSING = "–"
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True)
class Missing:
    """A cell whose number does not exist, and why: it is shown as ``–``, and the reason below its table."""

    reason: str


def with_reasons(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """A result's JSON form with `Missing` in the place of each null that it gives a reason for.

    >>> with_reasons({"micro": {"recall": None}, "undefined": {"micro.recall": "no truths"}})["micro"]
    {'recall': Missing(reason='no truths')}
    """
    reasons: Mapping[str, str] = numbers["undefined"]
    concerned = {path.partition(".")[0] for path in reasons}

    def visit(node: Any, path: str) -> Any:
        if isinstance(node, Mapping):
            return {key: visit(value, f"{path}.{key}") for key, value in node.items()}
        return Missing(reasons[path]) if node is None and path in reasons else node

    return {key: visit(value, key) if key in concerned else value for key, value in numbers.items()}


@dataclass(frozen=True, slots=True)
class Section:
    """A titled table with notes below it. The first column is text, the others are numbers or ``None``."""

    title: str
    head: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    notes: Sequence[str] = ()
    rule_before: int | None = None
    """The index of the row above which a line sets totals apart."""
    level: int = 3
    """How deep its heading stands in a written report."""
    left: Sequence[int] = (0,)
    """The columns that begin at the left: texts."""
    remarked: bool = False
    """Whether the last column has remarks: where there is no room beside the rows, each stands below its row."""

    def remarks(self) -> list[str]:
        """The notes, after what each dash in the table means: the columns, the reason, and the rows that it concerns."""
        columns: dict[tuple[str, str], list[str]] = {}
        for row in self.rows:
            for name, value in zip(self.head, row, strict=True):
                if isinstance(value, Missing):
                    columns.setdefault((str(row[0]), value.reason), []).append(name)
        concerned: dict[tuple[str, str], list[str]] = {}
        for (label, reason), names in columns.items():
            concerned.setdefault((", ".join(names), reason), []).append(label)
        return [
            *(
                f"{MISSING} {names}: {reason}" + (f" {_in_brackets(some(rows))}" if any(rows) and len(self.rows) > 1 else "")
                for (names, reason), rows in concerned.items()
            ),
            *self.notes,
        ]


def _in_brackets(text: str) -> str:
    """In round ones, or in others where there are round ones inside."""
    return f"[{text}]" if "(" in text else f"({text})"


def cell(value: Any) -> str:
    """A value as it is shown: four decimals, fewer for large numbers, thousands separated, ``–`` for what has no value.

    >>> cell(0.98765), cell(1234), cell(None), cell("Table"), cell(180050939.25)
    ('0.9877', '1,234', '–', 'Table', '180,050,939')
    """
    if value is None or isinstance(value, Missing):
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4f}" if abs(value) < 10 else f"{value:,.2f}" if abs(value) < 1000 else f"{value:,.0f}"
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
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def pad(text: str, size: int, *, left: bool) -> str:
    """The text filled with spaces to a size in terminal cells."""
    space = " " * (size - width(text))
    return text + space if left else space + text


def to_text(sections: Sequence[Section], columns: int | None = None) -> str:
    """The sections as aligned plain text; at most so many terminal cells wide, where a number of columns is given."""
    return "\n\n".join("\n".join(_text_lines(section, columns)) for section in sections)


def _text_lines(section: Section, columns: int | None) -> list[str]:
    lines = wrapped(printable(section.title), columns) if section.title else []
    if section.rows:
        rows = section.rows
        grid = [[printable(name) for name in section.head], *([cell(value) for value in row] for row in rows)]
        below: list[list[str]] = [[] for _ in grid]
        if section.remarked and columns is not None and _total(_sizes(grid)) > columns:
            below = [[f"  {line.strip()}" for line in wrapped(row.pop(), columns - 2) if line] for row in grid]
            rows = [row[:-1] for row in rows]
        for part in _side_by_side(_beginning(_shortened(grid, rows, columns), section.left, columns), columns):
            sizes = _lined_up(part, columns)
            body = ["  ".join(pad(text, sizes[i], left=i == 0) for i, text in enumerate(row)).rstrip() for row in part]
            if section.rule_before is not None:
                body.insert(section.rule_before + 1, "─" * _total(sizes))
                below.insert(section.rule_before + 1, [])
            lines += [line for row, said in zip(body, below, strict=True) for line in (row, *said)]
            below = [[] for _ in grid]  # said once
    return lines + [line for note in section.remarks() for line in wrapped(printable(note), columns)]


Grid = list[list[str]]
NARROWEST = 12
"""No column of texts is cut to fewer terminal cells than this."""
WIDEST = 200
"""No column is filled up to more terminal cells than this, or than the terminal has: a name of a million characters would make
every line as long."""


def _sizes(grid: Grid) -> list[int]:
    return [max(width(row[column]) for row in grid) for column in range(len(grid[0]))]


def _lined_up(grid: Grid, columns: int | None) -> list[int]:
    """How far each column is filled up; a text that is longer sticks out."""
    return [min(size, max(WIDEST, columns or 0)) for size in _sizes(grid)]


def _total(sizes: Sequence[int]) -> int:
    return sum(sizes) + 2 * (len(sizes) - 1)


def _shortened(grid: Grid, rows: Sequence[Sequence[Any]], columns: int | None) -> Grid:
    """The grid with its longest texts cut, where it would be too wide; numbers stay whole."""
    sizes = _sizes(grid)
    texts = [place for place in range(len(sizes)) if any(isinstance(row[place], str) for row in rows)]
    floors = {place: _floor(grid, rows, place) for place in texts}
    if columns is not None:  # none can stay wider than that
        sizes = [min(size, columns + floors[place]) if place in floors else size for place, size in enumerate(sizes)]
    while columns is not None and _total(sizes) > columns:
        widest = max(texts, key=lambda place: sizes[place] - floors[place], default=None)
        if widest is None or sizes[widest] <= floors[widest]:
            break
        sizes[widest] -= 1
    return [[cut(text, sizes[place]) for place, text in enumerate(row)] for row in grid]


def _beginning(grid: Grid, left: Sequence[int], columns: int | None) -> Grid:
    """The grid with the texts of these columns filled up at their end, so that they begin in one place."""
    sizes = _lined_up(grid, columns)
    filled = [place for place in left if 0 < place < len(sizes)]
    return [[pad(text, sizes[place], left=True) if place in filled else text for place, text in enumerate(row)] for row in grid]


def _floor(grid: Grid, rows: Sequence[Sequence[Any]], place: int) -> int:
    """How narrow a column with texts may become: its numbers stay whole."""
    numbers = [width(line[place]) for line, row in zip(grid[1:], rows, strict=True) if isinstance(row[place], int | float)]
    return max(NARROWEST, *numbers) if numbers else NARROWEST


def _side_by_side(grid: Grid, columns: int | None) -> list[Grid]:
    """The grid in parts that fit below each other, each with the first column again."""
    sizes = _sizes(grid)
    groups: list[list[int]] = [[0]]
    for place in range(1, len(sizes)):
        if columns is not None and len(groups[-1]) > 1 and _total([sizes[i] for i in (*groups[-1], place)]) > columns:
            groups.append([0])
        groups[-1].append(place)
    return [[[row[place] for place in group] for row in grid] for group in groups]


def cut(text: str, size: int) -> str:
    """The text in at most so many terminal cells, with ``…`` for what is left out.

    >>> cut("annual-report.pdf", 8), cut("short", 8)
    ('annual-…', 'short')
    """
    if width(text) <= size:
        return text
    kept = ""
    for char in text:
        if width(kept + char) > size - 1:
            break
        kept += char
    return kept + "…"


def wrapped(text: str, columns: int | None) -> list[str]:
    """The text in lines that fit, the later ones indented; one line where no width is given."""
    if columns is None or width(text) <= columns:
        return [text]
    lines = [""]
    for word in text.split(" "):
        if lines[-1].strip() and width(lines[-1]) + 1 + width(word) > columns:
            lines.append("  " + word)
        else:
            lines[-1] += f" {word}" if lines[-1] else word
    return lines


def to_markdown(sections: Sequence[Section]) -> str:
    """The sections as Markdown headings, tables and lists."""
    return "\n\n".join(_markdown(section) for section in sections) + "\n"


def _markdown(section: Section) -> str:
    parts = [f"{'#' * section.level} {_markdown_cell(section.title)}"] if section.title else []
    if section.rows:
        lines = [
            "| " + " | ".join(_markdown_cell(name) for name in section.head) + " |",
            "|" + "|".join(" :--- " if i in section.left else " ---: " for i in range(len(section.head))) + "|",
            *("| " + " | ".join(_markdown_cell(value) for value in row) + " |" for row in section.rows),
        ]
        parts.append("\n".join(lines))
    remarks = [_markdown_cell(note) for note in section.remarks()]
    if len(remarks) == 1 and not parts:
        parts = remarks  # a sentence that stands for itself
    elif remarks:
        parts.append("\n".join(f"- {note}" for note in remarks))
    return "\n\n".join(parts)


def _markdown_cell(value: Any) -> str:
    text = cell(value)
    for char in "\\|`*_<>[]":
        text = text.replace(char, "\\" + char) if isinstance(value, str) else text
    return text


def to_html(sections: Sequence[Section]) -> str:
    """The sections as HTML tables; every string is text, never markup."""
    return "\n".join(_html(section) for section in sections)


def _is_number(text: str) -> bool:
    """Whether a cell holds nothing but a number, perhaps with its interval; or nothing at all."""
    return not text.strip(" 0123456789.,%+-*<>[]()" + MISSING + MINUS)


def _html(section: Section) -> str:
    from functools import partial
    from html import escape

    from calque.base.style import table_line

    rows = [[cell(value) for value in row] for row in section.rows]
    starts = [
        place in section.left or not all(_is_number(text) for text in each)
        for place, each in enumerate(zip(*rows, strict=True))
    ]
    line = partial(table_line, starts)
    head = line("th", map(escape, section.head)) if rows else ""
    body = "".join(f"<tr>{line('td', map(escape, row))}</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if section.rows else ""
    title = f"<h4>{escape(section.title)}</h4>" if section.title else ""
    return title + table + "".join(f"<p>{escape(note)}</p>" for note in section.remarks())


_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "≥": r"$\geq$", "≤": r"$\leq$", "Δ": r"$\Delta$",
    "→": r"$\rightarrow$", "−": "$-$", "–": "--", "…": r"\ldots{}", "·": r"$\cdot$", "²": r"\textsuperscript{2}",
    "[": "{[}", "]": "{]}",
}  # fmt: skip
"""What LaTeX would obey or has no letter for, and how it is written; brackets, because ``\\`` would take them."""


def latex_text(text: str) -> str:
    r"""The text as LaTeX prints it, whatever is in it.

    >>> print(latex_text("R&D_{50 %}"))
    R\&D\_\{50 \%\}
    """
    return "".join(_LATEX.get(char, char) for char in text)


def to_latex(sections: Sequence[Section]) -> str:
    r"""The sections as LaTeX; needs ``\\usepackage{booktabs}``, and nothing else."""
    return "% needs \\usepackage{booktabs}\n" + "\n\n".join(_latex(section) for section in sections) + "\n"


def _latex(section: Section) -> str:
    notes = [f"\\par {latex_text(cell(note))}" for note in section.remarks()]
    title = latex_text(cell(section.title))
    if not section.rows:
        return "\n".join([f"\\par\\textbf{{{title}}}", *notes] if title else notes)
    rows = [_latex_row(row) for row in section.rows]
    if section.rule_before is not None:
        rows.insert(section.rule_before, r"\midrule")
    return "\n".join([
        r"\begin{table}",
        *([f"\\caption{{{title}}}"] if title else []),
        f"\\begin{{tabular}}{{l{'r' * (len(section.head) - 1)}}}",
        r"\toprule",
        _latex_row(section.head),
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        *notes,
        r"\end{table}",
    ])  # fmt: skip


def _latex_row(values: Sequence[Any]) -> str:
    return " & ".join(f"${cell(value)}$" if _is_negative(value) else latex_text(cell(value)) for value in values) + r" \\"


def _is_negative(value: Any) -> bool:
    """Outside of mathematics a minus is a hyphen."""
    return isinstance(value, int | float) and value < 0


ISSUES_SHOWN = 3
"""How many issues of one kind are told."""


def noticed(issues: Iterable[Issue]) -> list[Section]:
    """One section with the issues, or none."""
    notes = grouped(issues)
    return [Section(title="noticed in the data", notes=notes)] if notes else []


def grouped(issues: Iterable[Issue]) -> list[str]:
    """One line for each issue; those that differ only in their file are one, and of a kind only some are told.

    >>> grouped(Issue("empty", "holds nothing", f"{name}.json") for name in "abc")
    ['a.json and 2 more files: holds nothing (3 times)']
    """
    alike: dict[tuple[str, str, str], list[Issue]] = {}
    for issue in summarize(issues):
        alike.setdefault((issue.code, issue.message, issue.help), []).append(issue)
    kinds: dict[str, list[list[Issue]]] = {}
    for (code, _, _), group in alike.items():
        kinds.setdefault(code, []).append(group)
    lines = []
    for groups in kinds.values():
        lines += [_alike(group) for group in groups[:ISSUES_SHOWN]]
        rest = sum(issue.count for group in groups[ISSUES_SHOWN:] for issue in group)
        lines += [f"… and {rest:,} more like it; --format json lists every kind and file"] if rest else []
    return lines


def _alike(group: list[Issue]) -> str:
    first, *others = group
    if not others:
        return str(first)
    place = f"{first.file} and {counted(len(others), 'more file')}"
    times = sum(issue.count for issue in group)
    return str(Issue(first.code, first.message, place, help=first.help, severity=first.severity, count=times))
