"""ALTO 2 to 4: strings in lines in blocks; a word split at a line end counts once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calque.corpus.words import FIGURE, TABLE, Block
from calque.readers.sources.xml_tree import children, descendants, name

if TYPE_CHECKING:
    from lxml.etree import _Element


def looks_like(root: _Element) -> bool:
    """Whether a root element is ALTO's."""
    return name(root).lower() == "alto"


def blocks_of(root: _Element, hyphens: str = "joined") -> list[Block]:
    """One block for each text block, page by page. Words that a line end splits are joined, or as they are printed."""
    blocks = []
    for number, page in enumerate(descendants(root, "Page")):
        joiner = _Joiner() if hyphens == "joined" else _AsPrinted()
        for block in descendants(page, "TextBlock"):
            lines = [text for line in children(block, "TextLine") if (text := joiner.line(line))]
            if lines:
                lang = block.get("LANG") or block.get("language")
                blocks.append(Block("\n".join(lines), _marks(block), lang, number, "paragraph"))
    return blocks


def _marks(block: _Element) -> frozenset[str]:
    """Tables and figures are composed blocks with a type."""
    kinds = {(parent.get("TYPE") or "").lower() for parent in block.iterancestors() if name(parent) == "ComposedBlock"}
    found = {TABLE for kind in kinds if "table" in kind} | {
        FIGURE for kind in kinds if kind in ("figure", "illustration", "image")
    }
    return frozenset(found)


class _Joiner:
    """Writes a word that two lines share (``SUBS_CONTENT``) on the first line and leaves it out of the second."""

    def __init__(self) -> None:
        self.waiting: str | None = None

    def line(self, line: _Element) -> str:
        words: list[str] = []
        whole = False
        for part in children(line, "String", "HYP"):
            content = part.get("CONTENT") or ""
            if name(part) == "HYP":
                # A hyphen after a word that was written whole is no longer there.
                if words and not whole and not words[-1].endswith(content):
                    words[-1] += content
                continue
            whole = False
            kind, full = part.get("SUBS_TYPE"), part.get("SUBS_CONTENT")
            if kind == "HypPart1" and full:
                words.append(full)
                self.waiting, whole = full, True
            elif kind == "HypPart2" and full:
                if self.waiting != full:
                    words.append(full)
                self.waiting = None
            elif content:
                words.append(content)
        return " ".join(words)


class _AsPrinted:
    """Leaves both parts of a split word where they are."""

    def line(self, line: _Element) -> str:
        return " ".join(content for part in children(line, "String") if (content := part.get("CONTENT")))
