"""Names of formats and of documents: what is recognised, what is mistyped, and which documents belong together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from calque import CalqueError, read
from calque.readers import read_pair
from calque.readers.boxes import formats
from calque.readers.sources.source import Source
from tests.formats.conftest import DOCLING, OMNI, OMNI_RESULTS, TASKS, VOC, saved
from tests.formats.test_readers import PLAIN, boxes, codes
from tests.snapshots import truth


@pytest.mark.parametrize(
    ("name", "tree"),
    [("label-studio", TASKS), ("omnidocbench", OMNI), ("omnidocbench", OMNI_RESULTS), ("docling", DOCLING), ("plain", PLAIN)],
)
def test_formats_are_recognised(name: str, tree: Any) -> None:
    assert formats.recognised(Source.of_tree(tree)).name == name
    assert boxes(read(tree, format=name)) == boxes(read(tree))


@pytest.mark.parametrize("format", [entry.name for entry in formats.FORMATS])
@pytest.mark.parametrize("tree", [{}, [], [1], {"results": 3, "categories": []}, [{"data": 1, "annotations": [[]]}]])
def test_a_format_that_it_is_not_is_refused_or_empty(format: str, tree: Any, tmp_path: Path) -> None:
    for source in (saved(tmp_path / "file.json", tree), tmp_path):
        try:
            corpus = read(source, format=format)
        except CalqueError:
            continue
        assert len(corpus) == 0


def test_a_mistyped_format() -> None:
    with pytest.raises(CalqueError, match="did you mean 'coco'"):
        read(PLAIN, format="cocoo")


def test_documents_named_as_files(tmp_path: Path) -> None:
    expected_truth = {
        "images": [{"id": 1, "file_name": "scans/a.png", "width": 500, "height": 375}, {"id": 2, "file_name": "b_p001.png"}],
        "categories": [{"id": 1, "name": "chair"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [263, 211, 61, 128]}],
    }
    (tmp_path / "voc").mkdir()
    saved(tmp_path / "voc" / "a.xml", VOC)
    saved(tmp_path / "voc" / "b_p001.xml", VOC)
    _, apart = read_pair(expected_truth, tmp_path / "voc")
    assert "no-common-document" in codes(apart)
    expected, found = read_pair(expected_truth, tmp_path / "voc", document_key="stem")
    assert expected.documents == found.documents == ("a", "b")
    assert expected.page_index.tolist() == found.page_index.tolist() == [0, 1]


def test_documents_that_would_share_a_name() -> None:
    items = [{"bbox": [0, 0, 1, 1], "category": "a", "doc": name} for name in ("x/a.png", "y/a.png")]
    with pytest.raises(CalqueError, match="have the same name"):
        read(items, document_key="stem")


def test_no_document_in_common_says_what_helps() -> None:
    _, found = read_pair([{**PLAIN[0], "doc": "scans/d.png"}], PLAIN[:1])
    (note,) = found.issues
    assert note.code == "no-common-document"
    assert "--document-key stem" in note.help


# Snapshot files in other units.


@pytest.mark.parametrize(("options", "scale"), [({"page_size": (1000, 1000)}, 1000), ({"units": "percent"}, 100)])
def test_snapshot_files_in_other_units(options: dict[str, Any], scale: float) -> None:
    tree = truth({("a", 0): [("Figure", [scale * v for v in (0.25, 0.25, 0.5, 0.75)])]})
    with pytest.raises(CalqueError, match="pass --units"):
        read(tree)
    corpus = read(tree, **options)
    assert corpus.boxes.tolist() == [[0.25, 0.25, 0.5, 0.75]]
    assert codes(corpus) == ["units-converted"]


def test_snapshot_files_in_shares_are_believed_whatever_the_units() -> None:
    tree = truth({("a", 0): [("Figure", (0.25, 0.25, 0.5, 0.75))]})
    assert read(tree, units="percent", page_size=(10, 10)).boxes.tolist() == [[0.25, 0.25, 0.5, 0.75]]
