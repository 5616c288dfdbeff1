"""Every format by a small faithful file, and by real files where there are some: the numbers that stand in the file."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calque import CalqueError, Detection, Evaluator, read
from calque.base.errors import Severity
from calque.corpus.boxes import BoxCorpus, Extent
from calque.geometry.boxes import corners
from calque.geometry.forms import BoxForm
from calque.readers import read_pair
from calque.readers.boxes.yolo import image_size
from tests.formats.conftest import (
    ALTO,
    DOCLING,
    OLD_PAGE,
    OMNI,
    OMNI_RESULTS,
    PAGE,
    TASKS,
    VOC,
    docling_item,
    jpeg,
    png,
    prov,
    saved,
)

Item = tuple[Any, int, str, list[float]]


def boxes(corpus: Any) -> list[Item]:
    """(document, page, label, corners) of every object, in file order."""
    assert isinstance(corpus, BoxCorpus)
    flat = corners(corpus.boxes, corpus.form)
    return [
        (
            corpus.documents[corpus.page_document[corpus.page[row]]],
            int(corpus.page_index[corpus.page[row]]),
            corpus.labels[corpus.label[row]],
            [round(value, 12) for value in flat[row].tolist()],
        )
        for row in range(len(corpus))
    ]


def codes(corpus: Any) -> list[str]:
    """What was noticed; what is an error would have been refused."""
    assert all(issue.severity is not Severity.ERROR for issue in corpus.issues)
    return [issue.code for issue in corpus.issues]


# Label Studio.


def test_label_studio() -> None:
    corpus = read(TASKS)
    assert boxes(corpus) == [("0f2a-scan", 0, "Table", [0.1, 0.2, 0.4, 0.6]), ("0f2a-scan", 0, "Figure", [0.5, 0.1, 0.6, 0.4])]
    assert corpus.page_sizes.tolist() == [[1000, 500]]
    assert corpus.ids.tolist() == ["r1", "p1"]


def test_label_studio_real_export_gives_the_boxes_of_its_reference(test_data: Path) -> None:
    folder = test_data / "data-snapshot"
    raw, reference = read(folder / "labelstudio_raw.json"), read(folder / "labelstudio_ref.json")
    assert raw.documents == reference.documents
    rows = [np.argsort(corpus.ids.tolist()) for corpus in (raw, reference)]
    assert np.array_equal(raw.boxes[rows[0]], reference.boxes[rows[1]]), "to the bit"
    assert [boxes(raw)[row] for row in rows[0]] == [boxes(reference)[row] for row in rows[1]]


def test_label_studio_turned_rectangle_becomes_the_box_around_it() -> None:
    tree = json.loads(json.dumps(TASKS))
    result = tree[0]["annotations"][0]["result"][0]
    result["value"] |= {"x": 50, "y": 20, "width": 10, "height": 40, "rotation": 90}
    # 100 by 200 pixels at (500, 100), turned clockwise about that corner: it reaches 200 to the left and 100 down.
    assert boxes(read(tree))[0][3] == [0.3, 0.2, 0.5, 0.4]


def test_label_studio_turned_rectangle_keeps_its_corners() -> None:
    tree = json.loads(json.dumps(TASKS))
    result = tree[0]["annotations"][0]["result"][0]
    result["value"] |= {"x": 50, "y": 20, "width": 10, "height": 40, "rotation": 30}
    outlines = read(tree).outlines
    assert outlines is not None
    turn = complex(math.cos(math.pi / 6), math.sin(math.pi / 6))
    corners = [complex(500, 100) + turn * side for side in (0, 100, 100 + 200j, 200j)]  # of 1000 by 500 pixels
    assert outlines.ring(0) == pytest.approx([part for at in corners for part in (at.real / 1000, at.imag / 500)])


def test_label_studio_predictions_have_scores() -> None:
    tree = json.loads(json.dumps(TASKS))
    tree[0]["predictions"] = [{"result": [{**tree[0]["annotations"][0]["result"][0], "score": 0.75}]}]
    assert read(tree, side="prediction").scores.tolist() == [0.75]
    assert len(read(tree, side="ground_truth")) == 2


def test_label_studio_says_what_it_leaves_out() -> None:
    tree = json.loads(json.dumps(TASKS))
    annotation = tree[0]["annotations"][0]
    annotation["result"].append(
        {"id": "b", "type": "brushlabels", "value": {"format": "rle", "rle": [1], "brushlabels": ["Table"]}}
    )
    tree[0]["annotations"].append({"id": 2, "result": [], "was_cancelled": False})
    corpus = read(tree)
    severities = {issue.code: issue.severity for issue in corpus.issues}
    assert severities == {"region-type": Severity.LOSS, "several-annotations": Severity.NOTE}


def test_label_studio_shape_and_label_in_two_results() -> None:
    value = {"x": 10, "y": 20, "width": 30, "height": 40}
    results = [
        {"id": "q", "type": "rectangle", "value": value},
        {"id": "q", "type": "labels", "value": {**value, "labels": ["Title"]}},
    ]
    tree = [{"id": 1, "data": {"image": "x.png"}, "annotations": [{"result": results}]}]
    assert boxes(read(tree)) == [("x", 0, "Title", [0.1, 0.2, 0.4, 0.6])]


# OmniDocBench.


def test_omnidocbench_annotations() -> None:
    corpus = read(OMNI)
    assert boxes(corpus) == [
        ("paper.pdf_6", 0, "text_block", [136, 781, 340, 806]),
        ("paper.pdf_6", 0, "abandon", [0, 0, 10, 5]),
    ]
    assert corpus.ignore.tolist() == [0, 1]
    assert corpus.page_sizes.tolist() == [[1200, 1684]]


def test_omnidocbench_annotations_and_results_meet() -> None:
    truth, found = read_pair(OMNI, OMNI_RESULTS)
    assert found.scores.tolist() == [0.94, 0.5]
    result = Evaluator(Detection()).update(truth, found).compute()
    assert result["tp@0.5"] == 1
    assert result["mean_iou@0.5"] == 19 / 25
    assert result["fp@0.5"] == 0, "what lies on an ignored truth is excused"


def test_omnidocbench_result_of_an_unknown_category() -> None:
    tree = {**OMNI_RESULTS, "categories": {"0": "abandon"}}
    corpus = read(tree, side="prediction")
    assert codes(corpus) == ["unknown-category", "label-missing"]
    assert corpus.label.tolist() == [-1, 0]


def test_omnidocbench_attributes_of_pages_are_metadata() -> None:
    tree = json.loads(json.dumps(OMNI))
    tree[0]["page_info"]["page_attribute"] = {"data_source": "book", "special_issue": []}
    assert read(tree, metadata=True).metadata == {"data_source": {"paper.pdf_6": "book"}}
    result = Evaluator(Detection(by=("data_source",))).update(tree, OMNI_RESULTS).compute()
    assert "book" in json.dumps(result.to_dict())


# Docling.


def test_docling() -> None:
    corpus = read(DOCLING)
    assert boxes(corpus) == [
        ("2206.01062.pdf", 0, "section_header", [50, 92, 250, 112]),
        ("2206.01062.pdf", 0, "table", [10, 10, 400, 200]),
        ("2206.01062.pdf", 1, "table", [10, 20, 400, 90]),
    ]
    assert corpus.page_index.tolist() == [0, 1, 2], "pages without items are pages"
    assert corpus.page_sizes.tolist() == [[612, 792]] * 3


def test_docling_in_shares_of_the_page() -> None:
    tree = json.loads(json.dumps(DOCLING))
    tree["pages"] = {"1": {"size": {"width": 1.0, "height": 1.0}, "page_no": 1}}
    tree["texts"], tree["tables"][0]["prov"] = [], [{"page_no": 1, "bbox": {"l": 0.1, "t": 0.2, "r": 0.5, "b": 0.75}}]
    corpus = read(tree)
    assert corpus.extent is Extent.NORMALIZED
    assert corpus.boxes.tolist() == [[0.1, 0.2, 0.5, 0.75]]


def test_docling_points_meet_pixels_on_the_same_page() -> None:
    """The usual pair: annotated at 200 dpi, found in PDF points."""
    scale = 1700 / 612
    truth = [
        {"doc_id": "2206.01062.pdf", "page_index": 0, "bbox": [scale * v for v in (10, 10, 400, 200)], "category": "table"}
        | {"width": 1700, "height": 2200}
    ]
    expected, found = read_pair(truth, DOCLING)
    assert "pages-scaled" in codes(found)
    assert Evaluator(Detection()).update(expected, found).compute()["mean_iou@0.5"] == pytest.approx(1)


def test_docling_folder(tmp_path: Path) -> None:
    for name in ("a", "b"):
        saved(tmp_path / f"{name}.json", {**DOCLING, "name": name, "origin": None})
    assert read(tmp_path).documents == ("a", "b")


def test_a_file_of_a_docling_folder_that_holds_something_else_is_named(tmp_path: Path) -> None:
    saved(tmp_path / "a.json", DOCLING)
    saved(tmp_path / "b.json", [1])
    with pytest.raises(CalqueError, match=r"b\.json: expected a DoclingDocument, not \[1\]"):
        read(tmp_path)


def test_docling_bottom_without_height() -> None:
    with pytest.raises(CalqueError, match="whose height the file does not give"):
        read({**DOCLING, "pages": {}})


# Plain lists.

PLAIN = [
    {"bbox": [10, 20, 30, 60], "category": "Table", "doc": "d", "page": 2, "score": 0.5, "id": "x"},
    {"bbox": [0, 0, 5, 5], "label": "Figure", "doc_id": "d"},
]


def test_plain() -> None:
    corpus = read(PLAIN)
    assert boxes(corpus) == [("d", 2, "Table", [10, 20, 30, 60]), ("d", 0, "Figure", [0, 0, 5, 5])]
    assert corpus.extent is Extent.PIXELS


@pytest.mark.parametrize(
    ("options", "given", "expected"),
    [
        ({"boxes": "xywh"}, [10, 20, 30, 60], [10, 20, 40, 80]),
        ({"boxes": "cxcywh"}, [10, 20, 4, 8], [8, 16, 12, 24]),
        ({"boxes": "polygon"}, [10, 20, 30, 20, 20, 60], [10, 20, 30, 60]),
        ({"boxes": "polygon"}, [[10, 20], [30, 20], [20, 60]], [10, 20, 30, 60]),
        ({"units": "normalized"}, [0.1, 0.2, 0.3, 0.6], [0.1, 0.2, 0.3, 0.6]),
        ({"units": "percent"}, [10, 20, 30, 60], [0.1, 0.2, 0.3, 0.6]),
        ({"units": "thousand", "boxes": "xywh"}, [100, 200, 300, 600], [0.1, 0.2, 0.4, 0.8]),
        ({"origin": "bottom_left", "page_size": (100, 200)}, [10, 20, 30, 60], [10, 140, 30, 180]),
        ({"origin": "bottom_left", "page_size": (100, 200)}, [10, 60, 30, 20], [10, 140, 30, 180]),
        ({"origin": "bottom_left", "boxes": "xywh", "page_size": (100, 200)}, [10, 20, 30, 60], [10, 120, 40, 180]),
        ({"origin": "bottom_left", "units": "normalized"}, [0.25, 0.25, 0.5, 0.75], [0.25, 0.25, 0.5, 0.75]),
        ({"origin": "bottom_left", "units": "percent"}, [10, 0, 30, 25], [0.1, 0.75, 0.3, 1.0]),
    ],
)
def test_plain_boxes_units_and_origins(options: dict[str, Any], given: list[Any], expected: list[float]) -> None:
    corpus = read([{"bbox": given, "category": "Table"}], **options)
    assert boxes(corpus)[0][3] == pytest.approx(expected)
    whole = Extent.PIXELS if options.get("units", "pixels") == "pixels" else Extent.NORMALIZED
    assert corpus.extent is whole


def test_plain_keeps_widths_and_heights_as_they_are() -> None:
    corpus = read([{"bbox": [0.1, 0.2, 0.3, 0.4], "category": "a"}], boxes="xywh")
    assert corpus.form is BoxForm.XYWH
    assert corpus.boxes.tolist() == [[0.1, 0.2, 0.3, 0.4]]


def test_plain_bottom_left_needs_a_height() -> None:
    with pytest.raises(CalqueError, match="--page-size W,H"):
        read(PLAIN, origin="bottom_left")


def test_plain_polygons_without_being_told() -> None:
    with pytest.raises(CalqueError, match="--boxes polygon"):
        read([{"bbox": [1, 2, 3, 4, 5, 6, 7, 8], "category": "a"}])
    assert boxes(read([{"poly": [1, 2, 3, 4, 5, 6, 7, 8], "category": "a"}]))[0][3] == [1, 2, 7, 8]


def test_plain_says_everything_that_is_wrong_at_once() -> None:
    with pytest.raises(CalqueError) as refused:
        read(
            [
                {"bbox": [1, 2, 3], "category": "a"},
                {"box": [1, 2, 3, 4]},
                5,
                {"bbox": [1, 2, 3, 4], "category": "a", "page": -1},
            ]
        )
    assert [issue.pointer for issue in refused.value.issues] == ["/0/bbox", "/1", "/2", "/3/page"]


def test_plain_predictions_without_any_score_are_evaluated() -> None:
    truth, found = read_pair(PLAIN, [{"bbox": [10, 20, 30, 60], "category": "Table", "doc": "d", "page": 2}])
    result = Evaluator(Detection()).update(truth, found).compute()
    assert (result["tp@0.5"], result["AP"]) == (1, None)
    assert codes(found) == ["no-scores"]
    assert not result.incomplete


def test_plain_predictions_of_which_some_have_scores() -> None:
    _, found = read_pair(PLAIN, PLAIN)
    assert codes(found) == ["score-missing"]


def test_plain_boxes_without_a_size_are_counted_and_not_used() -> None:
    corpus = read([*PLAIN, {"bbox": [10, 10, 5, 20], "category": "Table"}])
    assert codes(corpus) == ["box-invalid", "looks-like-sizes"]


# Pascal VOC.


def test_voc(tmp_path: Path) -> None:
    corpus = read(saved(tmp_path / "000005.xml", VOC))
    assert boxes(corpus) == [("000005", 0, "chair", [263, 211, 324, 339]), ("000005", 0, "chair", [165, 264, 253, 372])]
    assert corpus.ignore.tolist() == [0, 1], "difficult objects need not be found"
    assert corpus.page_sizes.tolist() == [[500, 375]]


def test_voc_folder_pairs_by_stem(tmp_path: Path) -> None:
    for side in ("truth", "found"):
        (tmp_path / side).mkdir()
        saved(tmp_path / side / "x.xml", VOC)
    saved(tmp_path / "truth" / "y_p002.xml", VOC)
    truth, found = read_pair(tmp_path / "truth", tmp_path / "found")
    assert (truth.documents, found.documents) == (("x", "y"), ("x",))
    assert truth.page_index.tolist() == [0, 2]


def test_voc_object_without_corners(tmp_path: Path) -> None:
    with pytest.raises(CalqueError, match="line 4: expected a <bndbox>"):
        read(saved(tmp_path / "a.xml", VOC.replace("<xmin>263</xmin>", "")))


# PAGE and ALTO.


def test_page(tmp_path: Path) -> None:
    corpus = read(saved(tmp_path / "0001.page.xml", PAGE))
    assert boxes(corpus) == [
        ("0001", 0, "TextRegion:heading", [184, 196, 1338, 264]),
        ("0001", 0, "TableRegion", [10, 20, 30, 60]),
        ("0001", 0, "TextRegion", [12, 22, 20, 30]),
    ]
    assert corpus.page_sizes.tolist() == [[1832, 2408]]


def test_page_of_2010_has_points_as_elements(tmp_path: Path) -> None:
    assert boxes(read(saved(tmp_path / "p.xml", OLD_PAGE))) == [("p", 0, "ImageRegion", [5, 6, 50, 66])]


def test_page_real_files(test_data: Path) -> None:
    corpus = read(test_data / "dinglehopper" / "mixed-regions.page.xml")
    assert sorted(label for _, _, label, _ in boxes(corpus)) == ["ImageRegion"] * 3 + ["TextRegion"]
    assert ("mixed-regions", 0, "TextRegion", [184, 196, 1338, 1969]) in boxes(corpus)
    folder = read(test_data / "dinglehopper" / "table-order")
    assert len(folder.documents) == 5


def test_two_files_of_one_page_each_are_the_same_page(test_data: Path) -> None:
    folder = test_data / "dinglehopper" / "actevedef_718448162"
    truth, found = read_pair(
        folder / "OCR-D-GT-PAGE" / "00000024.page.xml", folder / "OCR-D-OCR-TESS" / "OCR-D-OCR-TESS_0001.xml"
    )
    assert truth.documents == found.documents == ("00000024",)
    assert "page-by-page" in codes(found)


def test_alto(tmp_path: Path) -> None:
    corpus = read(saved(tmp_path / "x.xml", ALTO))
    assert boxes(corpus) == [
        ("x", 0, "TextBlock", [10, 20, 40, 60]),
        ("x", 0, "ComposedBlock:table", [1, 2, 4, 6]),
        ("x", 0, "MainZone", [100, 200, 400, 600]),
        ("x", 0, "Illustration", [5, 6, 12, 14]),
    ]
    assert corpus.page_sizes.tolist() == [[1000, 2000]]


def test_alto_real_files(test_data: Path) -> None:
    tesseract = read(test_data / "ocr-engines" / "page.tess-psm3.xml")
    assert boxes(tesseract)[0] == ("page.tess-psm3", 0, "TextBlock", [151, 127, 552, 158])
    assert len(tesseract) == 12
    assert read(test_data / "dinglehopper" / "test.alto2.xml").labels == ("TextBlock", "Illustration", "GraphicalElement")


@pytest.mark.parametrize("content", [PAGE, ALTO, VOC])
def test_xml_entities_are_refused(tmp_path: Path, content: str) -> None:
    body = content.partition("?>")[2] or content
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>' + body
    with pytest.raises(CalqueError, match="entities"):
        read(saved(tmp_path / "x.xml", bomb))


# YOLO.


def test_yolo(yolo: Path) -> None:
    corpus = read(yolo)
    assert boxes(corpus) == [("a", 0, "Table", [0.4, 0.3, 0.6, 0.7]), ("a", 0, "Figure", [0, 0, 0.5, 0.5])]
    assert corpus.documents == ("a", "b", "c"), "an image without labels is an empty page"
    assert corpus.page_sizes.tolist() == [[1000, 2000], [300, 400], [10, 20]]
    assert corpus.labels == ("Figure", "Table")
    assert boxes(read(yolo / "labels")) == boxes(corpus)


def test_yolo_scores_and_outlines(tmp_path: Path) -> None:
    saved(tmp_path / "classes.txt", "Figure\nTable\n")
    saved(tmp_path / "p_p001.txt", "0 0.5 0.5 0.2 0.4 0.875\n1 0.1 0.1 0.3 0.1 0.3 0.5 0.1 0.5\n")
    corpus = read(tmp_path, side="prediction")
    assert boxes(corpus) == [("p", 1, "Figure", [0.4, 0.3, 0.6, 0.7]), ("p", 1, "Table", [0.1, 0.1, 0.3, 0.5])]
    assert corpus.scores[0] == 0.875


def test_yolo_names_in_other_files(tmp_path: Path) -> None:
    (tmp_path / "labels").mkdir()
    saved(tmp_path / "labels" / "a.txt", "1 0.5 0.5 0.2 0.4\n")
    assert codes(read(tmp_path)) == ["no-class-names"]
    assert read(tmp_path).labels == ("1",)
    saved(tmp_path / "obj.names", "Figure\nTable\n")
    assert read(tmp_path).labels == ("Figure", "Table")
    saved(tmp_path / "data.yaml", "names: [Bild, Tabelle]\n")
    assert boxes(read(tmp_path))[0][2] == "Tabelle"


def test_yolo_class_without_a_name(tmp_path: Path) -> None:
    saved(tmp_path / "classes.txt", "Figure\n")
    saved(tmp_path / "a.txt", "3 0.5 0.5 0.2 0.4\n")
    corpus = read(tmp_path)
    assert codes(corpus) == ["unknown-category", "label-missing"]


def test_yolo_in_pixels_says_so(tmp_path: Path) -> None:
    saved(tmp_path / "a.txt", "0 500 500 200 400\n")
    with pytest.raises(CalqueError, match=r"(?s)a\.txt: line 1: .* look like pixels"):
        read(tmp_path)


def test_image_sizes_without_decoding(tmp_path: Path) -> None:
    for name, data, size in (
        ("a.png", png(640, 480), (640, 480)),
        ("a.jpg", jpeg(123, 456), (123, 456)),
        ("b.jpg", jpeg(123, 456)[:20], None),
        ("c.png", b"\x89PNG\r\n\x1a\n", None),
        ("d.png", png(0, 5), None),
        ("e.gif", b"GIF89a", None),
        ("f.jpg", b"\xff\xd8" + b"\xff\xe0\x00\x02" * 5000, None),
        ("g.jpg", b"\xff\xd8\xff\xff\xff" + jpeg(7, 8)[3:], (7, 8)),
    ):
        (tmp_path / name).write_bytes(data)
        assert image_size(tmp_path / name) == size, name
    assert image_size(tmp_path / "nothing.png") is None


def test_image_size_of_a_real_image(test_data: Path) -> None:
    assert image_size(test_data / "ocr-engines" / "page.png") == (1700, 2000)


# COCO, one file with both as two data sets.


def test_coco_annotations_with_scores_are_predictions() -> None:
    tree = {
        "images": [{"id": 1, "width": 100, "height": 100}],
        "categories": [{"id": 1, "name": "Table"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10]}],
    }
    found = {**tree, "annotations": [{**tree["annotations"][0], "score": 0.5}]}
    result = Evaluator(Detection()).update(tree, found).compute()
    assert (result["AP"], result["f1@0.5"]) == (pytest.approx(1.0), 1.0)
    assert not result.incomplete


def test_coco_pages_keep_their_numbers() -> None:
    tree = {
        "images": [{"id": 5, "doc_id": "d", "page_index": 7}, {"id": 6, "doc_id": "d", "page_index": 3}],
        "categories": [],
        "annotations": [],
    }
    assert read(tree).page_index.tolist() == [7, 3]
    tree["images"][1].pop("page_index")
    assert read(tree).page_index.tolist() == [0, 1], "all or none"


def test_docling_pages_without_a_size_are_pages() -> None:
    tree = {**DOCLING, "pages": {"1": {"page_no": 1}, "2": {"size": {"width": 612.0, "height": 792.0}}}}
    tree["texts"], tree["tables"] = [], [docling_item("tables", 0, "table", prov(1, (10.0, 10.0, 400.0, 200.0)))]
    corpus = read(tree)
    assert isinstance(corpus, BoxCorpus)
    assert corpus.page_index.tolist() == [0, 1]
    assert np.isnan(corpus.page_sizes).all(axis=1).tolist() == [True, False]
