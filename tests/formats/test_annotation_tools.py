"""CVAT, LabelMe and DOTA: small files as the tools write them, what is read of them, and what is said of the rest."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import CalqueError, read
from calque.base.errors import Severity
from calque.corpus.boxes import BoxCorpus
from calque.readers.boxes import formats
from calque.readers.sources.source import Source
from tests.conftest import Run
from tests.formats.conftest import png, saved

CVAT = """<?xml version="1.0" encoding="utf-8"?>
<annotations>
  <version>1.1</version>
  <meta>
    <task>
      <id>1063</id><name>pages</name><size>3</size><mode>annotation</mode><overlap>0</overlap><flipped>False</flipped>
      <labels><label><name>Table</name><attributes></attributes></label><label><name>Figure</name></label></labels>
      <owner><username>admin</username><email></email></owner>
    </task>
    <dumped>2024-06-06 15:47:04.386866+03:00</dumped>
  </meta>
  <image id="0" name="scans/report.pdf_p003.jpg" width="1000" height="2000">
    <box label="Table" source="manual" occluded="0" xtl="10.50" ytl="20.00" xbr="110.50" ybr="70.00" z_order="0">
      <attribute name="quality">good</attribute>
    </box>
    <box label="Figure" source="auto" occluded="0" xtl="100.00" ytl="100.00" xbr="300.00" ybr="200.00" rotation="30.00">
      <attribute name="score">0.75</attribute>
    </box>
    <polygon label="Figure" occluded="0" source="manual" points="5.00,1.00;9.00,3.00;7.00,8.00" z_order="0"/>
    <mask label="Figure" source="manual" occluded="0" rle="1, 2, 3" left="30" top="40" width="5" height="6" z_order="0"/>
    <ellipse label="Figure" source="manual" occluded="0" cx="50" cy="60" rx="20" ry="10" z_order="0"/>
    <polyline label="Figure" source="manual" occluded="0" points="1.00,1.00;2.00,2.00" z_order="0"/>
    <points label="Figure" source="manual" occluded="0" points="1.00,1.00" z_order="0"/>
    <tag label="good" source="manual"></tag>
  </image>
  <image id="1" name="empty.png" width="300" height="400">
  </image>
  <track id="0" label="Table" source="manual">
    <box frame="0" keyframe="1" outside="0" occluded="0" xtl="1.0" ytl="1.0" xbr="2.0" ybr="2.0" z_order="0"/>
  </track>
</annotations>
"""

LABELME: dict[str, Any] = {
    "version": "5.2.1",
    "flags": {},
    "shapes": [
        {
            "label": "Table",
            "points": [[191.0, 329.5], [113.0, 107.25]],
            "group_id": None,
            "description": "",
            "shape_type": "rectangle",
            "flags": {},
        },
        {"label": "Figure", "points": [[5, 1], [9, 3], [7, 8]], "group_id": None, "shape_type": "polygon", "flags": {}},
        {"label": "Figure", "points": [[50, 60], [53, 64]], "group_id": None, "shape_type": "circle", "flags": {}},
        {"label": "Figure", "points": [[1, 1]], "group_id": None, "shape_type": "point", "flags": {}},
        {"label": "Figure", "points": [[1, 1], [2, 2]], "group_id": None, "shape_type": "line", "flags": {}},
    ],
    "imagePath": "..\\images\\scan-17.jpg",
    "imageData": None,
    "imageHeight": 400,
    "imageWidth": 300,
}

DOTA = """imagesource:GoogleEarth
gsd:0.146343590398
2753.0 2408.0 2861.0 2408.0 2861.0 2468.0 2753.0 2468.0 plane 0
10.0 20.0 20.0 10.0 30.0 20.0 20.0 30.0 large vehicle 1
"""


def boxes(corpus: BoxCorpus) -> list[tuple[Any, ...]]:
    """(document, page, label, rounded corners) in file order."""
    return [
        (
            corpus.documents[corpus.page_document[page]],
            int(corpus.page_index[page]),
            corpus.labels[corpus.label[row]],
            [round(value, 6) for value in corpus.boxes[row].tolist()],
        )
        for row, page in enumerate(corpus.page.tolist())
    ]


def counts(corpus: BoxCorpus) -> dict[tuple[str, Severity], int]:
    """How often each kind of issue was noticed."""
    found: dict[tuple[str, Severity], int] = {}
    for issue in corpus.issues:
        found[issue.code, issue.severity] = found.get((issue.code, issue.severity), 0) + issue.count
    return found


@pytest.fixture
def dota(tmp_path: Path) -> Path:
    """A data set as DOTA lays it out."""
    root = tmp_path / "dota"
    for folder in ("labelTxt", "images"):
        (root / folder).mkdir(parents=True)
    (root / "labelTxt" / "P0001.txt").write_text(DOTA)
    (root / "images" / "P0001.png").write_bytes(png(4000, 3000))
    (root / "images" / "P0002.png").write_bytes(png(40, 30))
    return root


def test_cvat(tmp_path: Path) -> None:
    path = saved(tmp_path / "annotations.xml", CVAT)
    assert formats.recognised(Source(path)).name == formats.recognised(Source(tmp_path)).name == "cvat"
    corpus = read(path, side="prediction", allow_missing_scores=True)
    assert boxes(corpus) == [
        ("report.pdf", 3, "Table", [10.5, 20.0, 110.5, 70.0]),
        ("report.pdf", 3, "Figure", [88.39746, 56.69873, 311.60254, 243.30127]),  # turned about its centre
        ("report.pdf", 3, "Figure", [5.0, 1.0, 9.0, 8.0]),
        ("report.pdf", 3, "Figure", [30.0, 40.0, 35.0, 46.0]),
        ("report.pdf", 3, "Figure", [30.0, 50.0, 70.0, 70.0]),
    ]
    assert [None if math.isnan(score) else score for score in corpus.scores] == [None, 0.75, None, None, None]
    assert corpus.documents == ("report.pdf", "empty")
    assert corpus.page_sizes.tolist() == [[1000.0, 2000.0], [300.0, 400.0]]
    assert counts(corpus) == {
        ("region-type", Severity.LOSS): 3,
        ("track-unread", Severity.LOSS): 1,
        ("outline-boxed", Severity.NOTE): 2,
    }


def test_cvat_that_is_broken_is_named_by_line(tmp_path: Path) -> None:
    broken = '<annotations>\n<image name="a.png">\n<box label="a" xtl="1"/>\n<polygon points="1,2;3"/>\n</image><image/>'
    with pytest.raises(CalqueError) as refused:
        read(saved(tmp_path / "a.xml", broken + "</annotations>"))
    assert [(issue.code, issue.pointer) for issue in refused.value.issues] == [
        ("box-shape", "line 3"),
        ("box-shape", "line 4"),
        ("missing-key", "line 5"),
    ]
    with pytest.raises(CalqueError, match="expected annotations of images"):
        read(saved(tmp_path / "b.xml", "<annotation/>"), format="cvat")


def test_labelme(tmp_path: Path) -> None:
    saved(tmp_path / "scan-17.json", LABELME)
    saved(tmp_path / "scan-18.json", {**LABELME, "shapes": [{"label": "old", "points": [[0, 0], [4, 0], [4, 4], [0, 4]]}]})
    assert formats.recognised(Source(tmp_path)).name == "labelme"
    corpus = read(tmp_path)
    assert boxes(corpus) == [
        ("scan-17", 0, "Table", [113.0, 107.25, 191.0, 329.5]),  # corners in any order
        ("scan-17", 0, "Figure", [5.0, 1.0, 9.0, 8.0]),
        ("scan-17", 0, "Figure", [45.0, 55.0, 55.0, 65.0]),
        ("scan-18", 0, "old", [0.0, 0.0, 4.0, 4.0]),  # upright: nothing is lost
    ]
    assert corpus.page_sizes.tolist() == [[300.0, 400.0]] * 2
    assert counts(corpus) == {("region-type", Severity.LOSS): 2, ("outline-boxed", Severity.NOTE): 1}
    assert read(LABELME).documents == ("scan-17",)


def test_labelme_that_is_broken_is_named_by_place(tmp_path: Path) -> None:
    shapes = [
        {"label": "a", "points": [[1, 2]], "shape_type": "rectangle"},
        {"label": "a", "points": 3},
        {"shape_type": {"a": 1}},
    ]
    with pytest.raises(CalqueError) as refused:
        read({**LABELME, "shapes": shapes})
    assert [(issue.code, issue.pointer) for issue in refused.value.issues] == [
        ("box-shape", "/shapes/0/points"),
        ("box-shape", "/shapes/1/points"),
        ("region-type", "/shapes/2"),
    ]
    with pytest.raises(CalqueError, match="expected an object with shapes"):
        read(saved(tmp_path / "a.json", "[1]"), format="labelme")


def test_dota(dota: Path) -> None:
    assert formats.recognised(Source(dota)).name == formats.recognised(Source(dota / "labelTxt")).name == "dota"
    for folder in (dota, dota / "labelTxt"):
        corpus = read(folder)
        assert boxes(corpus) == [
            ("P0001", 0, "plane", [2753.0, 2408.0, 2861.0, 2468.0]),
            ("P0001", 0, "large vehicle", [10.0, 10.0, 30.0, 30.0]),
        ]
        assert corpus.ignore.tolist() == [0, 1]
        assert corpus.documents == ("P0001", "P0002")
        assert corpus.page_sizes.tolist() == [[4000.0, 3000.0], [40.0, 30.0]]
        assert counts(corpus) == {}
        assert corpus.outlines.ring(0) == []  # upright
        assert len(corpus.outlines.ring(1)) == 8


def test_dota_is_told_from_yolo_and_broken_lines_are_named(tmp_path: Path, dota: Path) -> None:
    (tmp_path / "outlines").mkdir()
    (tmp_path / "outlines" / "a.txt").write_text("3 0.1 0.1 0.2 0.1 0.2 0.2 0.1 0.2\n")
    assert formats.recognised(Source(tmp_path / "outlines")).name == "yolo"
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "a.txt").write_text("1 1 2 1 2 2 1 2 ship\n")
    assert formats.recognised(Source(tmp_path / "bare")).name == "dota"
    assert boxes(read(tmp_path / "bare")) == [("a", 0, "ship", [1.0, 1.0, 2.0, 2.0])]
    (dota / "labelTxt" / "P0003.txt").write_text("1 2 3 ship 0\n1 1 2 1 2 2 1 2\n")
    with pytest.raises(CalqueError) as refused:
        read(dota)
    assert [issue.pointer for issue in refused.value.issues if issue.severity is Severity.ERROR] == [
        "P0003.txt: line 1",
        "P0003.txt: line 2",
    ]
    with pytest.raises(CalqueError, match="is not a folder"):
        read(dota / "labelTxt" / "P0001.txt", format="dota")


def test_what_was_not_read_ends_convert_with_3(calque: Callable[..., Run], tmp_path: Path) -> None:
    saved(tmp_path / "annotations.xml", CVAT)
    run = calque("convert", "annotations.xml", "out.json", "--to", "coco")
    assert run.code == 3
    assert "a track of a video is not read" in run.err
    assert "was left out (3 times)" in run.err
    assert len(json.loads((tmp_path / "out.json").read_text())["annotations"]) == 5
