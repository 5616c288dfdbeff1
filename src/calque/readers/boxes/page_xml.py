"""PAGE XML: the regions of a page, nested ones too, with their outlines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from calque.corpus.boxes import BoxCorpus
from calque.readers.boxes import page_names
from calque.readers.boxes.conventions import Rules, around, as_score
from calque.readers.boxes.objects import Rows, Traced, by_page, size_of
from calque.readers.sources.source import Source
from calque.readers.sources.xml_tree import attributes, children, line, name, number, pages_of, root_name, root_of, shown

if TYPE_CHECKING:
    from lxml.etree import _Element

FORMAT = "page"
CARRIES = frozenset({"scores", "ids", "page sizes", "empty pages", "outlines", "turned boxes"})
OPEN = "CustomRegion"
NAMESPACE = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"


def recognise(source: Source) -> bool:
    """Whether a file, or the first XML file of a folder, is PAGE XML."""
    return root_name(source) == "PcGts"


def load(source: Source, rules: Rules) -> BoxCorpus:
    """One page for each file, named by the file. A label is the kind of region, with its type: ``TextRegion:heading``."""
    rows = Rows(source.path, rules)
    for file, where, (document, index) in pages_of(source):
        root = root_of(file)
        pages = list(children(root, "Page"))
        if name(root) != "PcGts" or not pages:
            rows.log.add("wrong-type", where + line(root), f"expected PAGE XML with a <Page>, not <{name(root)}>")
            continue
        width, height = number(pages[0].get("imageWidth")), number(pages[0].get("imageHeight"))
        size = None if width is None or height is None else (width, height)
        page = rows.new_page(document, index, where, size=size, name=pages[0].get("imageFilename") or "")
        for region in _regions(pages[0]):
            _read(region, where + line(region), page, rows)
    return rows.corpus(FORMAT)


def _regions(page: _Element) -> Iterator[_Element]:
    return (element for element in page.iter() if name(element).endswith("Region"))


def _read(region: _Element, where: str, page: int, rows: Rows) -> None:
    outline = next(children(region, "Coords"), None)
    points = None if outline is None else _points(outline)
    if points is None or outline is None:
        rows.log.add("box-shape", where, f"the <{name(region)}> has no outline <Coords> of points x,y")
        return
    kind = region.get("type")
    score = outline.get("conf")
    rows.add(
        page,
        _label(name(region), kind),
        around(points),
        where,
        score=as_score(score, number(score)),
        id=region.get("id") or "",
        outline=points,
    )


def _label(region: str, kind: str | None) -> str:
    """The kind of region and its type; a custom region is what its type says."""
    if not kind:
        return region
    return kind if region == OPEN else f"{region}:{kind}"


def _points(outline: _Element) -> list[float] | None:
    """The points of an outline: one attribute since 2013, elements before."""
    given = outline.get("points")
    if given is not None:
        parts = given.replace(",", " ").split()
    else:
        parts = [point.get(axis) or "" for point in children(outline, "Point") for axis in ("x", "y")]
    values = [number(part) for part in parts]
    return [value for value in values if value is not None] if values and None not in values and len(values) % 2 == 0 else None


def write(corpus: BoxCorpus) -> dict[str, bytes]:
    """The corpus (corners in pixels) as one file for each page."""
    stems = page_names.stems(corpus)
    return {stems[page] + ".xml": _document(size_of(corpus, page), stems[page], items) for page, items in by_page(corpus)}


def _document(size: tuple[float, float] | None, stem: str, items: list[Traced]) -> bytes:
    width, height = size or (0.0, 0.0)
    image = stem + ".png"
    inside = attributes(imageFilename=image, imageWidth=shown(width), imageHeight=shown(height))
    regions = [_region(item, number_of) for number_of, item in enumerate(items)]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<PcGts xmlns="{NAMESPACE}">']
    lines += ["  <Metadata><Creator>calque</Creator></Metadata>", f"  <Page{inside}>", *regions, "  </Page>", "</PcGts>", ""]
    return "\n".join(lines).encode()


def _region(item: Traced, number_of: int) -> str:
    kind, _, type_of = item.label.partition(":")
    if not (kind.endswith("Region") and kind.isalpha() and kind.isascii()):
        # A label that is no kind of region is kept as a type of the kind that PAGE leaves open.
        kind, type_of = OPEN, item.label
    x, y, right, bottom = item.box
    ring = [shown(value) for value in item.outline or (x, y, right, y, right, bottom, x, bottom)]
    points = " ".join(f"{across},{down}" for across, down in zip(ring[0::2], ring[1::2], strict=True))
    outline = attributes(points=points, conf=item.score)
    return f"    <{kind}{attributes(id=item.id or f'r{number_of}', type=type_of or None)}><Coords{outline}/></{kind}>"
