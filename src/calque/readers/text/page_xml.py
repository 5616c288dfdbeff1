"""PAGE XML: regions in their reading order, and the text of regions, lines or words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from calque.corpus.words import CAPTION, FIGURE, REFERENCES, TABLE, Block
from calque.readers.sources.json_tree import whole
from calque.readers.sources.xml_tree import children, descendants, name

if TYPE_CHECKING:
    from lxml.etree import _Element

Level = Literal["region", "line", "word"]
LEVELS: tuple[Level, ...] = ("region", "line", "word")
_MARKS = {
    "TableRegion": TABLE, "ImageRegion": FIGURE, "GraphicRegion": FIGURE, "ChartRegion": FIGURE, "LineDrawingRegion": FIGURE,
}  # fmt: skip
_TYPE_MARKS = {"caption": CAPTION, "reference": REFERENCES}


def looks_like(root: _Element) -> bool:
    """Whether a root element is PAGE's."""
    return name(root) == "PcGts"


def blocks_of(root: _Element, level: Level = "region", *, unordered: bool = True) -> list[Block]:
    """One block for each text region, in reading order; regions outside of that order come after it, as in the file.

    Where they are left out (``unordered``), a page without any order is still read whole.
    """
    blocks: list[Block] = []
    for number, page in enumerate(children(root, "Page")):
        for region in _ordered(page) if unordered else _listed(page):
            text = _text(region, level)
            if text:
                kind = region.get("type") or "paragraph"
                blocks.append(Block(text, _marks(region), _language(region), number, kind))
    return blocks


def _ordered(page: _Element) -> Iterator[_Element]:
    """The text regions of a page, each once."""
    regions = {region.get("id"): region for region in descendants(page, *_REGIONS)}
    order = next(children(page, "ReadingOrder"), None)
    seen: set[_Element] = set()
    named = [] if order is None else [regions[ref] for ref in _references(order) if ref in regions]
    for region in [*named, *children(page, *_REGIONS)]:
        for inner in _with_nested(region):
            if inner not in seen:
                seen.add(inner)
                yield inner


def _listed(page: _Element) -> Iterator[_Element]:
    """The text regions that the reading order names; all of them, as in the file, where there is none."""
    regions = {region.get("id"): region for region in descendants(page, "TextRegion")}
    order = next(children(page, "ReadingOrder"), None)
    yield from regions.values() if order is None else (regions[ref] for ref in _references(order) if ref in regions)


_REGIONS = (
    "TextRegion", "TableRegion", "ImageRegion", "GraphicRegion", "ChartRegion", "LineDrawingRegion", "AdvertRegion",
    "MapRegion", "MusicRegion", "MathsRegion", "ChemRegion", "SeparatorRegion", "NoiseRegion", "CustomRegion", "UnknownRegion",
)  # fmt: skip


def _references(group: _Element) -> Iterator[str]:
    """The region ids of a group, nested groups opened up, by index where there is one."""
    members = [child for child in group if name(child) != "UserDefined" and name(child) != "Labels"]
    members.sort(key=_index)
    for member in members:
        # A group may itself be a region, such as a table; its cells come in the order of the group.
        yield from _references(member)
        if member.get("regionRef") is not None:
            yield str(member.get("regionRef"))


def _index(element: _Element) -> float:
    text = element.get("index") or ""
    number = whole(text.removeprefix("-"))
    return math.inf if number is None else -number if text.startswith("-") else number


def _with_nested(region: _Element) -> Iterator[_Element]:
    """A region and the regions inside it: cells of a table, text in a figure."""
    if name(region) == "TextRegion":
        yield region
    for inner in children(region, *_REGIONS):
        yield from _with_nested(inner)


def _text(region: _Element, level: Level) -> str:
    """The text at a level; where that has none, at the next level that has."""
    if level == "region":
        return _own_text(region) or _text_of_lines(region, "line")
    return _text_of_lines(region, level) or _own_text(region)


def _text_of_lines(region: _Element, level: Level) -> str:
    return "\n".join(text for line in children(region, "TextLine") if (text := _line_text(line, level)))


def _line_text(line: _Element, level: Level) -> str:
    words = [text for word in children(line, "Word") if (text := _own_text(word))]
    from_words = " ".join(words)
    return from_words or _own_text(line) if level == "word" else _own_text(line) or from_words


def _own_text(element: _Element) -> str:
    """The text of an element: of several alternatives the one with the lowest index, or without any the surest."""
    alternatives = list(children(element, "TextEquiv"))
    indexed = any(_index(each) != float("inf") for each in alternatives)
    alternatives.sort(key=_index if indexed else _unsureness)
    for alternative in alternatives[:1]:
        for unicode in children(alternative, "Unicode"):
            text = unicode.text or ""
            return text if text.strip() else ""  # its line breaks are characters, too
    return ""


def _unsureness(element: _Element) -> float:
    """Less for what the engine is surer of; most where it does not say."""
    try:
        return -float(element.get("conf") or "-inf")
    except ValueError:
        return float("inf")


def _marks(region: _Element) -> frozenset[str]:
    found = {_MARKS[name(parent)] for parent in region.iterancestors() if name(parent) in _MARKS}
    kind = region.get("type") or ""
    return frozenset(found | {_TYPE_MARKS[kind]} if kind in _TYPE_MARKS else found)


def _language(region: _Element) -> str | None:
    """PAGE names languages in English; only the main ones are known as tags."""
    named = region.get("primaryLanguage")
    known = {"English": "en", "German": "de", "French": "fr", "Spanish": "es", "Italian": "it", "Dutch": "nl", "Latin": "la"}
    return None if named is None else known.get(named, named)
