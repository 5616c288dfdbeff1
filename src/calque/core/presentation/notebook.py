"""How results and tables look in notebooks: with the colours and the type of the report, in both modes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from calque.core.presentation.tokens import in_both

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
