"""Pascal VOC: one XML file for each image, with objects and their corners in pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calque.corpus.boxes import BoxCorpus
from calque.readers.boxes import page_names
from calque.readers.boxes.conventions import Rules, as_score
from calque.readers.boxes.objects import Rows, Traced, by_page, size_of
from calque.readers.sources.source import Source
from calque.readers.sources.xml_tree import children, escaped, line, name, number, pages_of, root_name, root_of, shown

if TYPE_CHECKING:
    from lxml.etree import _Element

FORMAT = "voc"
CARRIES = frozenset({"scores", "ignored objects", "page sizes", "empty pages"})
SIDES = ("xmin", "ymin", "xmax", "ymax")


def recognise(source: Source) -> bool:
    """Whether a file, or the first XML file of a folder, is an annotation."""
    return root_name(source) == "annotation"


def load(source: Source, rules: Rules) -> BoxCorpus:
    """One page for each file, named by the file; objects marked as difficult are ignored, as VOC's own evaluation does."""
    rows = Rows(source.path, rules)
    for file, where, (document, index) in pages_of(source):
        root = root_of(file)
        if name(root) != "annotation":
            rows.log.add("wrong-type", where + line(root), f"expected an annotation, not <{name(root)}>")
            continue
        size = next(children(root, "size"), None)
        width, height = (None, None) if size is None else (number(_text(size, "width")), number(_text(size, "height")))
        page = rows.new_page(document, index, where, size=None if width is None or height is None else (width, height))
        for item in children(root, "object"):
            _read(item, where + line(item), page, rows)
    return rows.corpus(FORMAT)


def _text(element: _Element, tag: str) -> str | None:
    child = next(children(element, tag), None)
    return None if child is None else (child.text or "").strip()


def _read(item: _Element, where: str, page: int, rows: Rows) -> None:
    box = next(children(item, "bndbox"), None)
    sides = [None] * 4 if box is None else [number(_text(box, side)) for side in SIDES]
    if None in sides:
        rows.log.add("box-shape", where, "expected a <bndbox> with xmin, ymin, xmax and ymax")
        return
    score = _text(item, "confidence") or _text(item, "score") or None
    rows.add(
        page,
        _text(item, "name") or None,
        [side for side in sides if side is not None],
        where,
        score=as_score(score, number(score)),
        ignored=_text(item, "difficult") in ("1", "true"),
    )


def write(corpus: BoxCorpus) -> dict[str, bytes]:
    """The corpus (corners in pixels) as one file for each page."""
    stems = page_names.stems(corpus)
    return {stems[page] + ".xml": _annotation(size_of(corpus, page), stems[page], items) for page, items in by_page(corpus)}


def _annotation(size: tuple[float, float] | None, stem: str, items: list[Traced]) -> bytes:
    lines = ["<annotation>", f"\t<filename>{escaped(stem)}.png</filename>"]
    if size is not None:
        sides = f"<width>{shown(size[0])}</width><height>{shown(size[1])}</height><depth>3</depth>"
        lines.append(f"\t<size>{sides}</size>")
    lines += [_object(item) for item in items]
    return "\n".join([*lines, "</annotation>", ""]).encode()


def _object(item: Traced) -> str:
    sides = "".join(f"<{side}>{shown(value)}</{side}>" for side, value in zip(SIDES, item.box, strict=True))
    score = "" if item.score is None else f"<confidence>{item.score!r}</confidence>"
    named = f"<name>{escaped(item.label)}</name><difficult>{int(item.ignored)}</difficult>"
    return f"\t<object>{named}{score}<bndbox>{sides}</bndbox></object>"
