"""OmniDocBench: its annotations (pages with ``layout_dets``) and the results that its layout evaluation takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calque.base.errors import Severity
from calque.corpus.boxes import BoxCorpus
from calque.readers.boxes import page_names
from calque.readers.boxes.conventions import Rules, around, as_score
from calque.readers.boxes.objects import Rows, Traced, by_page, name_of, short, size_of
from calque.readers.sources.json_tree import dumped, entries, identity, missing, number, numbers, pointer, shown, text, whole
from calque.readers.sources.source import Source

FORMAT = "omnidocbench"
CARRIES = frozenset({"scores", "ids", "page sizes", "ignored objects", "empty pages", "outlines", "turned boxes"})


def looks_like(tree: Any) -> bool:
    """Whether parsed JSON is OmniDocBench's annotations or results."""
    if isinstance(tree, Mapping):
        return isinstance(tree.get("results"), list) and "categories" in tree
    return isinstance(tree, list) and bool(tree) and isinstance(tree[0], Mapping) and "layout_dets" in tree[0]


def load(source: Source, rules: Rules) -> BoxCorpus:
    """The blocks of each page; spans inside of blocks are not read."""
    rows = Rows(source.path, rules)
    if isinstance(source.tree, Mapping):
        _read_results(source.tree, rows)
        return rows.corpus(FORMAT)
    for where, sample in entries(source.tree, "", rows.log):
        page = _page(sample.get("page_info"), where, rows)
        if page is None:
            continue
        for place, block in entries(sample.get("layout_dets"), where + pointer("layout_dets"), rows.log):
            _read_block(block, place, page, rows)
    return rows.corpus(FORMAT)


def _page(info: Any, where: str, rows: Rows) -> int | None:
    if not isinstance(info, Mapping) or text(info.get("image_path")) is None:
        missing(info if isinstance(info, Mapping) else {}, "image_path", where + pointer("page_info"), "a file name", rows.log)
        return None
    width, height = number(info.get("width")), number(info.get("height"))
    name = page_names.bare(info["image_path"])
    size = None if width is None or height is None else (width, height)
    document, index = page_names.place(name)
    rows.describe(document, info.get("page_attribute"), where + pointer("page_info", "page_attribute"))
    return rows.new_page(document, index, where, size=size, name=info["image_path"])


def _read_block(block: Mapping[str, Any], where: str, page: int, rows: Rows) -> None:
    points = numbers(block.get("poly"))
    if points is None or len(points) < 6 or len(points) % 2:
        rows.log.add("box-shape", where + pointer("poly"), f"expected points x, y, x, y, ..., not {shown(block.get('poly'))}")
        return
    name = identity(block.get("anno_id"))
    rows.add(
        page,
        text(block.get("category_type")),
        around(points),
        where,
        score=as_score(block.get("score"), number(block.get("score"))),
        id="" if name is None else str(name),
        ignored=block.get("ignore") is True,
        outline=points,
    )


def _read_results(tree: Mapping[str, Any], rows: Rows) -> None:
    categories = tree.get("categories")
    names = {str(key): str(name) for key, name in categories.items()} if isinstance(categories, Mapping) else {}
    for name in names.values():
        rows.label(name)
    for where, entry in entries(tree.get("results"), pointer("results"), rows.log):
        box, image = numbers(entry.get("bbox")), text(entry.get("image_name"))
        if box is None or len(box) != 4:
            rows.log.add("box-shape", where + pointer("bbox"), f"expected [x1, y1, x2, y2], not {shown(entry.get('bbox'))}")
        if image is None:
            missing(entry, "image_name", where, "the name of an image", rows.log)
        if box is None or len(box) != 4 or image is None:
            continue
        category = identity(entry.get("category_id"))
        label = names.get(str(category))
        if label is None and category is not None:
            message = f"the category {category!r} is not among the file's categories"
            rows.log.add("unknown-category", where, message, severity=Severity.LOSS)
        score = as_score(entry.get("score"), number(entry.get("score")))
        page = rows.page(*page_names.place(page_names.bare(image)))
        rows.add(page, label, box, where, score=score)


def write(corpus: BoxCorpus) -> dict[str, bytes]:
    """The corpus (corners in pixels) as annotated pages."""
    stems = page_names.stems(corpus)
    samples = [_sample(corpus, page, stems[page], items) for page, items in by_page(corpus)]
    return {"": dumped(samples)}


def _sample(corpus: BoxCorpus, page: int, stem: str, items: list[Traced]) -> dict[str, Any]:
    document, index = corpus.documents[corpus.page_document[page]], int(corpus.page_index[page])
    info: dict[str, Any] = {"page_no": index}
    size = size_of(corpus, page)
    if size is not None:
        info |= {"width": short(size[0]), "height": short(size[1])}
    path = stem + ".png"
    kept = name_of(corpus, page)
    if page_names.place(page_names.bare(kept)) == (str(document), index):
        path = kept
    blocks = [_block(item, order) for order, item in enumerate(items)]
    return {"layout_dets": blocks, "page_info": {**info, "image_path": path, "page_attribute": {}}, "extra": {"relation": []}}


def _block(item: Traced, order: int) -> dict[str, Any]:
    x, y, right, bottom = item.box
    known = whole(item.id)
    name: Any = order if item.id is None else item.id if known is None else known
    poly = list(item.outline) or [x, y, right, y, right, bottom, x, bottom]
    block = {"category_type": item.label, "poly": poly, "ignore": item.ignored}
    block |= {"order": order, "anno_id": name}
    return block if item.score is None else {**block, "score": item.score}
