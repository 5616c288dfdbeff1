r"""Sections as LaTeX: a table with the rules of booktabs for each, ready to be pasted into a paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from calque.core.presentation.sections import Section, cell

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "≥": r"$\geq$", "≤": r"$\leq$", "Δ": r"$\Delta$",
    "→": r"$\rightarrow$", "−": "$-$", "–": "--", "…": r"\ldots{}", "·": r"$\cdot$", "²": r"\textsuperscript{2}",
    "[": "{[}", "]": "{]}",
}  # fmt: skip
"""What LaTeX would obey or has no letter for, and how it is written; brackets, because ``\\`` would take them."""


def escaped(text: str) -> str:
    r"""The text as LaTeX prints it, whatever is in it.

    >>> print(escaped("R&D_{50 %}"))
    R\&D\_\{50 \%\}
    """
    return "".join(_SPECIAL.get(char, char) for char in text)


def to_latex(sections: Sequence[Section]) -> str:
    r"""The sections as LaTeX; needs ``\\usepackage{booktabs}``, and nothing else."""
    return "% needs \\usepackage{booktabs}\n" + "\n\n".join(_section(section) for section in sections) + "\n"


def _section(section: Section) -> str:
    notes = [f"\\par {escaped(cell(note))}" for note in section.remarks()]
    title = escaped(cell(section.title))
    if not section.rows:
        return "\n".join([f"\\par\\textbf{{{title}}}", *notes] if title else notes)
    rows = [_row(row) for row in section.rows]
    if section.rule_before is not None:
        rows.insert(section.rule_before, r"\midrule")
    return "\n".join([
        r"\begin{table}",
        *([f"\\caption{{{title}}}"] if title else []),
        f"\\begin{{tabular}}{{l{'r' * (len(section.head) - 1)}}}",
        r"\toprule",
        _row(section.head),
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        *notes,
        r"\end{table}",
    ])  # fmt: skip


def _row(values: Sequence[Any]) -> str:
    return " & ".join(f"${cell(value)}$" if _negative(value) else escaped(cell(value)) for value in values) + r" \\"


def _negative(value: Any) -> bool:
    """Outside of mathematics a minus is a hyphen."""
    return isinstance(value, int | float) and value < 0
