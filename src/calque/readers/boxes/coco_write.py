"""COCO files written from a corpus: a data set with images, annotations and categories, or a list of results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from calque.corpus.boxes import BoxCorpus, UnitId
from calque.readers.boxes import page_names
from calque.readers.boxes.objects import Traced, name_of, short, size_of, traced
from calque.readers.sources.json_tree import dumped, whole

CARRIES = frozenset({"scores", "ids", "page sizes", "ignored objects", "crowds", "areas", "empty pages", "page names"}) | {
    "turned boxes",
    "masks",
}
RESULTS_CARRY = frozenset({"scores", "turned boxes", "masks"})

CORNERS = 8
"""How many numbers four corners have."""


def write(corpus: BoxCorpus) -> dict[str, bytes]:
    """The corpus (sizes in pixels) as a data set; predictions are annotations with scores."""
    images, categories = image_ids(corpus), _categories(corpus)
    names = page_names.file_names(corpus)
    documents = [corpus.documents[code] for code in corpus.page_document.tolist()]
    # Where one image needs to say which document it is of, all have to.
    grouped = documents != images
    tree = {
        "images": [_image(corpus, page, images[page], names[page] if names else "", grouped) for page in range(len(images))],
        "annotations": [
            _annotation(item, number, images[item.page], categories) for number, item in enumerate(traced(corpus), start=1)
        ],
        "categories": [{"id": identity, "name": name} for name, identity in categories.items()],
    }
    return {"": _encoded(tree)}


def write_results(corpus: BoxCorpus) -> dict[str, bytes]:
    """The corpus (sizes in pixels) as a list of detections."""
    images, categories = image_ids(corpus), _categories(corpus)
    results = [
        {"image_id": images[item.page], "category_id": categories[item.label], **_shape(item), "score": item.score}
        for item in traced(corpus)
    ]
    return {"": _encoded(results)}


def _encoded(tree: Any) -> bytes:
    return dumped(tree, None)


def image_ids(corpus: BoxCorpus) -> list[UnitId]:
    """The id of each page's image: its own where the file had one, else a number from 1."""
    if corpus.image_ids is not None:
        return list(corpus.image_ids)
    documents = [corpus.documents[code] for code in corpus.page_document.tolist()]
    if corpus.format == "coco" and len(set(documents)) == len(documents):
        return documents
    return list(range(1, len(documents) + 1))


def _categories(corpus: BoxCorpus) -> dict[str, UnitId]:
    """The id of each label: the file's own where it is a number, else one from 1."""
    known = {name: number for key, name in (corpus.label_map or {}).items() if (number := whole(str(key))) is not None}
    if set(known) != set(corpus.labels):
        return {name: number for number, name in enumerate(corpus.labels, start=1)}
    return {name: known[name] for name in corpus.labels}


def _image(corpus: BoxCorpus, page: int, identity: UnitId, name: str, grouped: bool) -> dict[str, Any]:
    document, index = corpus.documents[corpus.page_document[page]], int(corpus.page_index[page])
    usual = f"{page_names.stem_of(document, index)}.png"
    entry: dict[str, Any] = {"id": identity, "file_name": name or name_of(corpus, page) or usual}
    size = size_of(corpus, page)
    if size is not None:
        entry |= {"width": short(size[0]), "height": short(size[1])}
    return {**entry, "doc_id": document, "page_index": index} if grouped else entry


def _shape(item: Traced) -> dict[str, Any]:
    """The box, or four corners, and the mask: the file's own, or a ring that is not four corners."""
    ring = list(item.outline)
    entry: dict[str, Any] = {"bbox": ring if len(ring) == CORNERS else item.box}
    with suppress(ValueError):  # a mask with numbers beyond all others is none, and JSON has no place for them
        if item.mask:
            return {**entry, "segmentation": json.loads(json.dumps(json.loads(item.mask), allow_nan=False))}
    return {**entry, "segmentation": [ring]} if ring and len(ring) != CORNERS else entry


def _annotation(item: Traced, number: int, image: UnitId, categories: Mapping[str, UnitId]) -> dict[str, Any]:
    own = whole(item.id)
    entry: dict[str, Any] = {
        "id": item.id or number if own is None else own,
        "image_id": image,
        "category_id": categories[item.label],
        **_shape(item),
        "area": item.box[2] * item.box[3] if item.area is None else item.area,
        "iscrowd": int(item.crowd),
    }
    if item.ignored:
        entry["ignore"] = 1
    return entry if item.score is None else {**entry, "score": item.score}
