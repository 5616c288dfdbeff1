"""Slices by metadata: each is an evaluation of its own documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import ConfigError, ContractError, Detection, Evaluator
from calque.readers.sides.metadata import read_metadata
from tests.views.plain import Box, boxes, corpus


def coco(images: list[dict[str, Any]]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Each image has a table; it is found on images with an even id."""
    truth = {
        "images": [{"width": 100, "height": 100, **image} for image in images],
        "categories": [{"id": 1, "name": "Table"}],
        "annotations": [
            {"id": n, "image_id": image["id"], "category_id": 1, "bbox": [0, 0, 10, 10]} for n, image in enumerate(images)
        ],
    }
    even = [image["id"] for image in images if image["id"] % 2 == 0]
    found = [{"image_id": number, "category_id": 1, "bbox": [0, 0, 10, 10], "score": 0.9} for number in even]
    return truth, found


IMAGES = [
    {"id": 1, "doc_category": "news"},
    {"id": 2, "doc_category": "news"},
    {"id": 4, "doc_category": "law"},
    {"id": 5},
]


def test_by_a_key_of_the_images() -> None:
    result = Evaluator(Detection(by=("doc_category",))).update(*coco(IMAGES)).compute()
    tree = result.numbers["slices"]["doc_category"]
    assert {value: block["metrics"]["0.5"]["micro"]["recall"] for value, block in tree["values"].items()} == {
        "law": 1.0,
        "news": 0.5,
    }
    assert tree["macro_slices"]["metrics"]["0.5"]["recall"] == 0.75
    assert tree["without_value"]["documents"] == 1
    assert tree["without_value"]["metrics"]["0.5"]["micro"]["fn"] == 1
    path = "slices.doc_category.without_value.metrics.0.5.micro.precision"
    assert result.undefined[path] == "no predictions"
    lines = str(result).splitlines()
    start = lines.index("By doc_category (IoU ≥ 0.5)")
    named = [line.split("  ")[0] for line in lines[start + 2 : start + 8] if not line.startswith("─")]
    assert named == ["law", "news", "mean of slices", "(no value)", "– precision: no predictions [(no value)]"]


def test_documents_whose_images_differ_have_no_value() -> None:
    images = [{"id": n, "doc_id": "d", "doc_category": "news", "page": n} for n in (1, 2)]
    images.append({"id": 3, "doc_id": "e", "doc_category": "law", "page": 3})
    result = Evaluator(Detection(by=("page", "doc_category"))).update(*coco(images)).compute()
    assert list(result.numbers["slices"]["doc_category"]["values"]) == ["law", "news"]
    assert list(result.numbers["slices"]["page"]["values"]) == ["3"]
    assert [issue.code for issue in result.issues] == ["metadata-differs"]


def test_a_column_that_is_nowhere() -> None:
    with pytest.raises(ConfigError, match="did you mean 'doc_category'"):
        Evaluator(Detection(by=("doc_categry",))).update(*coco(IMAGES))
    with pytest.raises(ConfigError, match="give --metadata"):
        Evaluator(Detection(by=("year",))).update(corpus([], scores=False), corpus([], scores=True))


def test_by_a_column_of_a_csv_file(tmp_path: Path) -> None:
    path = tmp_path / "metadata.csv"
    path.write_text('\ufeffdoc_id,publisher,doc_category\n1,"A, B",\n2,C,x\n4,C,x\n77,D,x\n', encoding="utf-8")
    task = Detection(by=("publisher", "doc_category"), metadata=str(path))
    result = Evaluator(task).update(*coco(IMAGES)).compute()
    slices = result.numbers["slices"]
    assert {value: block["documents"] for value, block in slices["publisher"]["values"].items()} == {"A, B": 1, "C": 2}
    assert {value: block["documents"] for value, block in slices["doc_category"]["values"].items()} == {"x": 2}
    assert [issue.code for issue in result.issues] == ["metadata-unknown"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"", "metadata-key"),
        (b"docid,year\na,1\n", "metadata-key"),
        (b"doc_id,year\na,1\na,2\n", "metadata-twice"),
        (b"doc_id,year\na\n", "metadata-row"),
        (b"doc_id,year\n\xff,1\n", "not-utf8"),
    ],
)
def test_a_broken_csv_file(text: bytes, code: str, tmp_path: Path) -> None:
    path = tmp_path / "metadata.csv"
    path.write_bytes(text)
    with pytest.raises(ContractError) as error:
        read_metadata(str(path))
    assert [issue.code for issue in error.value.issues] == [code]


@given(truths=boxes, found=boxes, values=st.tuples(*[st.sampled_from(["x", "y", None])] * 2))
def test_a_slice_is_an_evaluation_of_its_documents(
    truths: list[Box], found: list[Box], values: tuple[str | None, str | None]
) -> None:
    from dataclasses import replace

    known = {unit: value for unit, value in zip("ab", values, strict=True) if value is not None}
    sides = replace(corpus(truths, scores=False), metadata={"kind": known}), corpus(found, scores=True)  # type: ignore[type-var]
    whole = Evaluator(Detection(by=("kind",)), keep="numbers").update(*sides).compute()
    tree = whole.numbers["slices"]["kind"]
    for value, block in [*tree["values"].items(), (None, tree["without_value"])]:
        units = [unit for unit in "ab" if known.get(unit) == value]
        if not units:
            assert block is None
            continue
        alone = Evaluator(Detection()).update(*(side.select(units) for side in sides)).compute().numbers
        assert block["documents"] == len(units)
        for text, scopes in block["metrics"].items():
            assert scopes == {scope: alone["metrics"][text][scope] for scope in scopes}
        assert block["coco"] == {name: alone["coco"][name] for name in block["coco"]}
