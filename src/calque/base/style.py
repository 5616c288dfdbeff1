"""How results look beyond a terminal: the colours of reports, notebooks and plots, and the style of tables in notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

TOKENS = {
    "paper": ("#FBFAF7", "#15181C"),
    "panel": ("#FFFFFF", "#1C2025"),
    "sunk": ("#F3F1EB", "#111417"),
    "ink": ("#1B1F24", "#ECEAE4"),
    "ink-2": ("#535C67", "#B3BAC3"),
    "ink-3": ("#646D78", "#8F98A3"),
    "line": ("#E2DED4", "#2D333A"),
    "line-2": ("#CFCABE", "#434B55"),
    "link": ("#0B5C9E", "#7DB7F0"),
    "tp": ("#0072B2", "#5A89C1"),
    "fn": ("#B84A00", "#DB7C26"),
    "fp": ("#5C1668", "#E2B0E5"),
    "wrong": ("#14171A", "#F6F7E7"),
    "ignored": ("#646D78", "#8F98A3"),
    "cut": ("#E69F00", "#E69F00"),
    "cut-line": ("#8A5F00", "#E69F00"),
}
"""The page of a report has them as variables of the same names; outcomes are called as its rows call them."""


def in_both(name: str) -> str:
    """A colour as a style has it that follows the mode.

    >>> in_both("ink")
    'light-dark(#1B1F24,#ECEAE4)'
    """
    return f"light-dark({','.join(TOKENS[name])})"


def on_paper(name: str) -> str:
    """A colour on paper, which is light whatever the mode."""
    return TOKENS[name][0]


# Three times the name: what a notebook says of tables in general gives way.
HERE = ".calque.calque.calque"
STYLE = (
    f".calque{{color-scheme:light dark;color:{in_both('ink')};background:{in_both('panel')};border:1px solid {in_both('line')};"
    "border-radius:6px;padding:12px 16px;width:fit-content;max-width:100%;box-sizing:border-box;overflow-x:auto;"
    'font:14px/1.45 ui-sans-serif,system-ui,"Segoe UI",Inter,Roboto,sans-serif;font-variant-numeric:tabular-nums}'
    # A notebook has a mode of its own, whatever the system's is.
    '[data-jp-theme-light="true"] .calque,[data-vscode-theme-kind="vscode-light"] .calque{color-scheme:light}'
    '[data-jp-theme-light="false"] .calque,[data-vscode-theme-kind="vscode-dark"] .calque{color-scheme:dark}'
    f"{HERE} h4{{font-size:14px;font-weight:600;color:inherit;margin:16px 0 4px}}{HERE} h4:first-child{{margin-top:0}}"
    f"{HERE} p,{HERE} caption{{margin:4px 0;color:{in_both('ink-2')};font-size:12px;text-align:left;overflow-wrap:anywhere}}"
    f"{HERE} table{{border-collapse:collapse;margin:0;color:inherit;font-size:14px;table-layout:auto}}"
    f"{HERE} tr{{background:none}}"
    f"{HERE} th,{HERE} td{{text-align:right;padding:4px 16px 4px 0;border:0;background:none;max-width:60ch;"
    f"overflow-wrap:anywhere;border-bottom:1px solid {in_both('line')}}}"
    f"{HERE} th{{color:{in_both('ink-2')};font-weight:500;font-size:12px}}"
    f"{HERE} .left{{text-align:left}}"
)


def to_notebook(html: str) -> str:
    """Tables as a notebook shows them.

    >>> to_notebook("<p>0.5</p>").endswith('<div class="calque"><p>0.5</p></div>')
    True
    """
    return f'<style>{STYLE}</style><div class="calque">{html}</div>'


def table_line(texts: Sequence[bool], tag: str, escaped: Iterable[str]) -> str:
    """The cells of a row: those of columns of texts begin at the left, numbers end at the right."""
    cells = zip(texts, escaped, strict=True)
    return "".join(f'<{tag} class="left">{text}</{tag}>' if left else f"<{tag}>{text}</{tag}>" for left, text in cells)
