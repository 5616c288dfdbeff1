"""Small faithful files of every format, as their producers write them."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest

TASKS = [
    {
        "id": 7,
        "data": {"image": "/data/upload/3/0f2a-scan.png"},
        "annotations": [
            {
                "id": 1,
                "was_cancelled": False,
                "result": [
                    {
                        "id": "r1",
                        "type": "rectanglelabels",
                        "original_width": 1000,
                        "original_height": 500,
                        "value": {"x": 10, "y": 20, "width": 30, "height": 40, "rotation": 0, "rectanglelabels": ["Table"]},
                    },
                    {
                        "id": "p1",
                        "type": "polygonlabels",
                        "original_width": 1000,
                        "original_height": 500,
                        "value": {"points": [[50, 10], [60, 30], [55, 40]], "polygonlabels": ["Figure"]},
                    },
                    {"type": "relation", "from_id": "r1", "to_id": "p1", "direction": "right"},
                ],
            }
        ],
        "predictions": [],
    }
]

OMNI = [
    {
        "layout_dets": [
            {
                "category_type": "text_block",
                "poly": [136.0, 781.0, 340.0, 781.0, 340.0, 806.0, 136.0, 806.0],
                "ignore": False,
                "order": 0,
                "anno_id": 4,
                "text": "xxx",
                "line_with_spans": [
                    {"category_type": "text_span", "poly": [136.0, 781.0, 340.0, 781.0, 340.0, 806.0, 136.0, 806.0]}
                ],
            },
            {"category_type": "abandon", "poly": [0, 0, 10, 0, 10, 5, 0, 5], "ignore": True, "anno_id": 5},
        ],
        "page_info": {"page_no": 0, "height": 1684, "width": 1200, "image_path": "paper.pdf_6.jpg", "page_attribute": {}},
        "extra": {"relation": []},
    }
]

OMNI_RESULTS = {
    "results": [
        {"image_name": "paper.pdf_6", "bbox": [136.0, 781.0, 340.0, 800.0], "category_id": 1, "score": 0.94},
        {"image_name": "paper.pdf_6", "bbox": [0.0, 0.0, 10.0, 5.0], "category_id": 0, "score": 0.5},
    ],
    "categories": {"0": "abandon", "1": "text_block"},
}


def docling_item(kind: str, number: int, label: str, *provs: dict[str, Any]) -> dict[str, Any]:
    return {"self_ref": f"#/{kind}/{number}", "children": [], "content_layer": "body", "label": label, "prov": list(provs)}


def prov(page: int, sides: tuple[float, float, float, float], origin: str = "TOPLEFT") -> dict[str, Any]:
    return {"page_no": page, "bbox": {**dict(zip("ltrb", sides, strict=True)), "coord_origin": origin}, "charspan": [0, 0]}


DOCLING = {
    "schema_name": "DoclingDocument",
    "version": "1.3.0",
    "name": "2206.01062",
    "origin": {"mimetype": "application/pdf", "filename": "2206.01062.pdf", "binary_hash": 1},
    "body": {"self_ref": "#/body", "children": []},
    "groups": [],
    "texts": [docling_item("texts", 0, "section_header", prov(1, (50.0, 700.0, 250.0, 680.0), "BOTTOMLEFT"))],
    "tables": [docling_item("tables", 0, "table", prov(1, (10.0, 10.0, 400.0, 200.0)), prov(2, (10.0, 20.0, 400.0, 90.0)))],
    "pictures": [],
    "pages": {str(n): {"size": {"width": 612.0, "height": 792.0}, "page_no": n} for n in (1, 2, 3)},
}

VOC = """<annotation>
  <folder>VOC2007</folder><filename>000005.jpg</filename>
  <size><width>500</width><height>375</height><depth>3</depth></size>
  <object><name>chair</name><pose>Rear</pose><truncated>0</truncated><difficult>0</difficult>
    <bndbox><xmin>263</xmin><ymin>211</ymin><xmax>324</xmax><ymax>339</ymax></bndbox></object>
  <object><name>chair</name><difficult>1</difficult>
    <bndbox><xmin>165</xmin><ymin>264</ymin><xmax>253</xmax><ymax>372</ymax></bndbox></object>
</annotation>
"""

PAGE = """<?xml version="1.0" encoding="UTF-8"?>
<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
 <Page imageFilename="p.png" imageWidth="1832" imageHeight="2408">
  <TextRegion id="r1" type="heading"><Coords points="184,196 1338,196 1338,260 200,264"/></TextRegion>
  <TableRegion id="t1"><Coords points="10,20 30,20 30,60 10,60"/>
   <TextRegion id="c1"><Coords points="12,22 20,22 20,30 12,30"/></TextRegion></TableRegion>
 </Page>
</PcGts>
"""

OLD_PAGE = """<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2010-03-19"><Page imageFilename="p.tif"
 imageWidth="100" imageHeight="200"><ImageRegion id="i"><Coords><Point x="5" y="6"/><Point x="50" y="6"/><Point x="50" y="66"/>
 </Coords></ImageRegion></Page></PcGts>"""

ALTO = """<?xml version="1.0" encoding="UTF-8"?>
<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Description><MeasurementUnit>pixel</MeasurementUnit></Description>
<Tags><LayoutTag ID="BT1" LABEL="MainZone"/></Tags>
<Layout><Page WIDTH="1000" HEIGHT="2000" ID="p0"><PrintSpace>
<ComposedBlock ID="c0" HPOS="0" VPOS="0" WIDTH="500" HEIGHT="500">
<TextBlock ID="b0" HPOS="10" VPOS="20" WIDTH="30" HEIGHT="40"/>
</ComposedBlock>
<ComposedBlock ID="c1" TYPE="table" HPOS="1" VPOS="2" WIDTH="3" HEIGHT="4"/>
<TextBlock ID="b1" TAGREFS="BT1" HPOS="100" VPOS="200" WIDTH="300" HEIGHT="400"/>
<Illustration ID="i1" HPOS="5" VPOS="6" WIDTH="7" HEIGHT="8"/>
</PrintSpace></Page></Layout></alto>
"""


def png(width: int, height: int) -> bytes:
    """The smallest beginning of a PNG image."""
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))


def jpeg(width: int, height: int) -> bytes:
    """The beginning of a JPEG image: an application segment, then the frame."""
    frame = b"\xff\xc0" + struct.pack(">HBHHB", 17, 8, height, width, 3) + bytes(9)
    return b"\xff\xd8\xff\xe0" + struct.pack(">H", 16) + b"JFIF\0" + bytes(9) + frame + b"\xff\xd9"


@pytest.fixture
def yolo(tmp_path: Path) -> Path:
    """A data set as Ultralytics lays it out: labels and images side by side, names in data.yaml."""
    root = tmp_path / "set"
    for folder in ("labels", "images"):
        (root / folder).mkdir(parents=True)
    (root / "data.yaml").write_text("path: .\ntrain: images\nnames:\n  0: Figure\n  1: Table\n")
    (root / "labels" / "a.txt").write_text("1 0.5 0.5 0.2 0.4\n0 0.25 0.25 0.5 0.5\n")
    (root / "labels" / "b.txt").write_text("")
    (root / "images" / "a.png").write_bytes(png(1000, 2000))
    (root / "images" / "b.jpg").write_bytes(jpeg(300, 400))
    (root / "images" / "c.png").write_bytes(png(10, 20))
    return root


def saved(path: Path, content: Any) -> str:
    """The path as text, with the content written to it."""
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return str(path)
