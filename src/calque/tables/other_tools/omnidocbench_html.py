"""OmniDocBench's way to tidy the HTML of a table before it is compared, in both of its versions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from unicodedata import normalize

from calque.readers.tables.tags import Tag, attributes_of, tags
from calque.readers.text.html import VOID

UNWRAPPED = frozenset(["thead", "tbody", "span"])
DROPPED_ATTRIBUTES = ("style", "height", "width", "align", "class")
DROPPED_TAGS = ("sup", "sub", "span", "div", "p")
LONGEST_MATH = 128
"""Characters of a formula whose wrapper is taken off."""

LATEX = (
    ("\\checkmark", "√"), ("\\checked", "√"), ("\\surd", "√"), ("\\times", "×"), ("\\xmark", "×"), ("\\crossmark", "×"),
    ("\\pm", "±"), ("\\mp", "∓"), ("\\alpha", "α"), ("\\beta", "β"), ("\\gamma", "γ"), ("\\gama", "γ"), ("\\mu", "μ"),
    ("\\lambda", "λ"), ("\\theta", "θ"), ("\\eta", "η"), ("\\pi", "π"), ("\\rho", "ρ"), ("\\sigma", "σ"), ("\\omega", "ω"),
    ("\\delta", "δ"), ("\\Delta", "Δ"), ("\\epsilon", "ε"), ("\\varepsilon", "ε"), ("\\phi", "φ"), ("\\varphi", "φ"),
    ("\\tau", "τ"), ("\\partial", "∂"), ("\\varnothing", "∅"), ("\\emptyset", "∅"), ("\\sim", "～"),
)  # fmt: skip
DIRECT = str.maketrans({
    **dict.fromkeys("✓✔☑✅🗸", "√"), **dict.fromkeys("✗✘✕✖☒❌╳⨯", "×"), "Ø": "∅", "∼": "～", "〜": "～",
})  # fmt: skip
ESCAPED = (("\\%", "%"), ("\\#", "#"), ("\\&", "&"), ("\\_", "_"))
LONE_DASHES = frozenset("-–−－—")
WRAPPERS = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$"))
_ATTRIBUTES = [re.compile(f'( {name}=".*?")') for name in DROPPED_ATTRIBUTES]
_BETWEEN = re.compile(r"<table\b[^>]*>(.*)</table>", re.DOTALL | re.IGNORECASE)
_COLGROUP = re.compile("<colgroup>.*?</colgroup>")


def as_omnidocbench(markup: str, *, symbols: bool) -> str:
    """The markup tidied; ``symbols`` as version 1.6 does, which also spells the texts of cells alike."""
    text = "".join(_pieces(markup, symbols=symbols)).replace("\n", "")
    text = normalize("NFKC", text).strip()
    text = "".join(_BETWEEN.findall(text))
    for pattern in _ATTRIBUTES:
        text = pattern.sub("", text)
    text = re.sub("</?tbody>", "", text)
    text = '<table border="1" >' + re.sub(r"\s+", " ", text) + "</table>"
    for name in DROPPED_TAGS:
        text = text.replace(f"<{name}>", "").replace(f"</{name}>", "")
    return _COLGROUP.sub("", text)


def _pieces(markup: str, *, symbols: bool) -> Iterator[str]:
    """Texts with entities decoded, and tags as they are written again: cells alike, and some taken away."""
    cells, formula = 0, False
    for tag in tags(markup):
        if not formula:
            text = unescape(tag.text)
            yield spelt(text) if symbols and cells else text
        name = "td" if tag.name == "th" else tag.name
        if name == "td":
            cells = max(cells + (-1 if tag.closing else 1), 0)
        if name == "math":
            if not tag.closing:
                yield f"${attributes_of(tag.attributes).get('alttext', '')}$"
            formula = not tag.closing
        elif name and name not in UNWRAPPED and not formula:
            yield _written(name, tag)


def _written(name: str, tag: Tag) -> str:
    if tag.closing:
        return "" if name in VOID else f"</{name}>"
    values = attributes_of(tag.attributes) if tag.attributes.strip(" /\n\t\r") else {}
    spelt_out = "".join(f" {key}='{value}'" if '"' in value else f' {key}="{value}"' for key, value in values.items())
    return f"<{name}{spelt_out}{'/' if name in VOID else ''}>"


def spelt(text: str) -> str:
    r"""The text of a cell as version 1.6 compares it.

    >>> spelt("$ 68.3 \\pm 19.7 $"), spelt(" - "), spelt("\\checkmark")
    ('68.3 ± 19.7', '—', '√')
    """
    made = _unwrapped(_with_symbols(normalize("NFKC", text)).strip())
    made = re.sub(r"\s+", " ", _with_symbols(made)).strip()
    return "—" if made in LONE_DASHES else made


def _unwrapped(text: str) -> str:
    """The text without what makes the whole of it a formula, unless that holds angle brackets."""
    if "<" in text or ">" in text:
        return text
    for opening, closing in WRAPPERS:
        around = len(opening) + len(closing)
        if around <= len(text) <= LONGEST_MATH + around and text.startswith(opening) and text.endswith(closing):
            return text[len(opening) : -len(closing)].strip()
    return text


def _with_symbols(text: str) -> str:
    for latex, symbol in LATEX:
        text = text.replace(latex, symbol)
    text = text.translate(DIRECT)
    for escaped, plain in ESCAPED:
        text = text.replace(escaped, plain)
    return text
