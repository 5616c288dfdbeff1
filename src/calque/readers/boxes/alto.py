"""ALTO: text blocks, illustrations, graphical elements and typed composed blocks, as boxes on pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from calque.base.errors import Severity
from calque.corpus.boxes import BoxCorpus
from calque.readers.boxes import page_names
from calque.readers.boxes.conventions import Rules
from calque.readers.boxes.objects import Rows, Traced, by_page, size_of
from calque.readers.sources.source import Source
from calque.readers.sources.xml_tree import attributes, descendants, line, name, number, pages_of, root_name, root_of, shown

if TYPE_CHECKING:
    from lxml.etree import _Element

FORMAT = "alto"
CARRIES = frozenset({"ids", "page sizes", "empty pages"})
BLOCKS = ("TextBlock", "Illustration", "GraphicalElement", "ComposedBlock")
NAMESPACE = "http://www.loc.gov/standards/alto/ns-v4#"
_GROUPS = frozenset({"", "container", "group"})
"""Composed blocks of these types only hold others together, as Tesseract's do; they are no objects."""


def recognise(source: Source) -> bool:
    """Whether a file, or the first XML file of a folder, is ALTO."""
    return root_name(source).lower() == "alto"


def load(source: Source, rules: Rules) -> BoxCorpus:
    """One document for each file, or one page where the name says so. Units are the file's own; pages have their sizes."""
    rows = Rows(source.path, rules)
    for file, where, (document, first) in pages_of(source):
        root = root_of(file)
        if name(root).lower() != "alto":
            rows.log.add("wrong-type", where + line(root), f"expected ALTO, not <{name(root)}>")
            continue
        tags = {tag.get("ID"): tag.get("LABEL") for tag in root.iter() if name(tag).endswith("Tag") and tag.get("LABEL")}
        rows.document(document)
        for number_of, element in enumerate(descendants(root, "Page")):
            width, height = number(element.get("WIDTH")), number(element.get("HEIGHT"))
            size = None if width is None or height is None else (width, height)
            page = rows.new_page(document, first + number_of, where + line(element), size=size)
            for block, label in _blocks(element, tags):
                if label is None:
                    text = "a composed block that only holds others together is no object; those inside were read"
                    rows.log.add("block-group", where + line(block), text, severity=Severity.NOTE)
                else:
                    _read(block, label, where + line(block), page, rows)
    return rows.corpus(FORMAT, form="xywh")


def _blocks(page: _Element, tags: dict[str | None, str | None]) -> Iterator[tuple[_Element, str | None]]:
    """Every block with its label; ``None`` for one that only holds others together."""
    for block in descendants(page, *BLOCKS):
        named = next((label for tag in (block.get("TAGREFS") or "").split() if (label := tags.get(tag))), None)
        kind = block.get("TYPE") or ""
        if named is None and name(block) == "ComposedBlock" and kind.lower() in _GROUPS:
            yield block, None
            continue
        yield block, named or (f"{name(block)}:{kind}" if kind else name(block))


def _read(block: _Element, label: str, where: str, page: int, rows: Rows) -> None:
    sides = [number(block.get(key)) for key in ("HPOS", "VPOS", "WIDTH", "HEIGHT")]
    if None in sides:
        rows.log.add("box-shape", where, f"the <{name(block)}> lacks one of HPOS, VPOS, WIDTH and HEIGHT")
        return
    rows.add(page, label, [side for side in sides if side is not None], where, id=block.get("ID") or "")


def write(corpus: BoxCorpus) -> dict[str, bytes]:
    """The corpus (sizes in pixels) as one file for each page."""
    stems = page_names.stems(corpus)
    return {stems[page] + ".xml": _document(size_of(corpus, page), items) for page, items in by_page(corpus)}


def _document(size: tuple[float, float] | None, items: list[Traced]) -> bytes:
    labels = dict.fromkeys(item.label for item in items if _element(item.label) is None)
    tags = {label: f"tag{number_of}" for number_of, label in enumerate(labels)}
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<alto xmlns="{NAMESPACE}">']
    lines.append("  <Description><MeasurementUnit>pixel</MeasurementUnit></Description>")
    if tags:
        listed = "".join(f"<LayoutTag{attributes(ID=tag, LABEL=label)}/>" for label, tag in tags.items())
        lines.append(f"  <Tags>{listed}</Tags>")
    width, height = (None, None) if size is None else (shown(size[0]), shown(size[1]))
    page = attributes(ID="page", PHYSICAL_IMG_NR=1, WIDTH=width, HEIGHT=height)
    lines += [f"  <Layout><Page{page}><PrintSpace>", *(_block(item, number_of, tags) for number_of, item in enumerate(items))]
    return "\n".join([*lines, "  </PrintSpace></Page></Layout>", "</alto>", ""]).encode()


def _element(label: str) -> tuple[str, str] | None:
    """The element and the TYPE that stand for a label; ``None`` where a tag has to."""
    kind, _, type_of = label.partition(":")
    known = kind in BLOCKS and not (kind == "ComposedBlock" and type_of.lower() in _GROUPS)
    return (kind, type_of) if known else None


def _block(item: Traced, number_of: int, tags: dict[str, str]) -> str:
    kind, type_of = _element(item.label) or ("ComposedBlock", "")
    x, y, width, height = (shown(value) for value in item.box)
    place = attributes(HPOS=x, VPOS=y, WIDTH=width, HEIGHT=height, TYPE=type_of or None, TAGREFS=tags.get(item.label))
    return f"    <{kind}{attributes(ID=item.id or f'block{number_of}')}{place}/>"
