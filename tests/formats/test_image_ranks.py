"""Pages of COCO images that share a document: counted in the order of their ids, unless every image states its page."""

from __future__ import annotations

from typing import Any

import pytest

from calque import read


def corpus(images: list[dict[str, Any]], **options: Any) -> dict[Any, tuple[Any, int]]:
    """For each image its document and its page."""
    tree = {
        "images": [{"file_name": f"{image['id']}.png", "width": 9, "height": 9, **image} for image in images],
        "annotations": [
            {"id": n, "image_id": image["id"], "category_id": 1, "bbox": [0, 0, 1, 1]} for n, image in enumerate(images)
        ],
        "categories": [{"id": 1, "name": "x"}],
    }
    made = read(tree, format="coco", side="ground_truth", **options)
    assert made.image_ids is not None
    documents = [made.documents[code] for code in made.page_document.tolist()]
    return dict(zip(made.image_ids, zip(documents, made.page_index.tolist(), strict=True), strict=True))


def test_pages_are_counted_in_the_order_of_ids() -> None:
    shuffled = [{"id": 10, "doc_id": "d"}, {"id": 9, "doc_id": "e"}, {"id": 2, "doc_id": "d"}, {"id": 7, "doc_id": "d"}]
    assert corpus(shuffled) == {10: ("d", 2), 9: ("e", 0), 2: ("d", 0), 7: ("d", 1)}


def test_a_page_that_every_image_states_counts() -> None:
    stated = [{"id": 1, "doc_id": "d", "page_index": 5}, {"id": 2, "doc_id": "d", "page_index": 3}]
    assert corpus(stated) == {1: ("d", 5), 2: ("d", 3)}


@pytest.mark.parametrize("second", [{}, {"page_index": 5}, {"page_index": -1}, {"page_index": "x"}])
def test_pages_that_do_not_tell_images_apart_are_counted(second: dict[str, Any]) -> None:
    assert corpus([{"id": 2, "doc_id": "d", "page_index": 5}, {"id": 1, "doc_id": "d", **second}]) == {
        2: ("d", 1),
        1: ("d", 0),
    }
    apart = [{"id": 2, "doc_id": "d", "page_index": 5}, {"id": 1, "doc_id": "e", "page_index": 5}]
    assert corpus(apart) == {2: ("d", 5), 1: ("e", 5)}
