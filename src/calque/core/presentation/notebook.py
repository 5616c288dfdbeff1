"""How results and tables look in notebooks: with the colours and the type of the report, in both modes."""

from __future__ import annotations

from calque.core.presentation.tokens import in_both

STYLE = (
    f".calque{{color-scheme:light dark;color:{in_both('ink')};font-variant-numeric:tabular-nums;"
    'font:14px/1.45 ui-sans-serif,system-ui,"Segoe UI",Inter,Roboto,sans-serif}'
    ".calque h4{font-size:14px;margin:16px 0 4px}"
    f".calque p,.calque caption{{margin:4px 0;color:{in_both('ink-2')};font-size:12px;text-align:left}}"
    ".calque table{border-collapse:collapse;margin:0}"
    ".calque th,.calque td{text-align:right;padding:4px 10px 4px 0;border:0;background:none;"
    f"border-bottom:1px solid {in_both('line')}}}"
    f".calque th{{color:{in_both('ink-2')};font-weight:500;font-size:12px}}"
    ".calque th:first-child,.calque td:first-child{text-align:left}"
)


def to_notebook(html: str) -> str:
    """Tables as a notebook shows them.

    >>> to_notebook("<p>0.5</p>").endswith('<div class="calque"><p>0.5</p></div>')
    True
    """
    return f'<style>{STYLE}</style><div class="calque">{html}</div>'
