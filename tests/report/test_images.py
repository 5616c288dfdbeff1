"""Page images: which file is a page's, what is never one, how many go into the file, and how they are moved."""

from __future__ import annotations

import base64
import io
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calque import Corpus, Detection, Evaluator, Result
from calque.base.errors import ConfigError
from calque.engines import Progress, progress_to
from calque.report.images import Darkroom, Folder, Found, Wanted, is_picture
from tests.report_data import read_report

Opener = Callable[..., Any]
Image = pytest.importorskip("PIL.Image")


def result(documents: tuple[str, ...] = ("a.pdf", "b.pdf", "c.pdf")) -> Result:
    """A document each, of which only the last is found, and nothing is wrong on its page."""
    boxes = [[10, 10, 60, 60]] * len(documents)
    truth = Corpus.from_arrays(boxes, ["Table"] * len(documents), documents=list(documents))
    found = Corpus.from_arrays(boxes[:1], ["Table"], documents=[documents[-1]], scores=[0.9])
    return Evaluator(Detection()).update(truth, found).compute()


def picture(path: Path, size: tuple[int, int] = (100, 120)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, "#88aacc").save(path)
    return path


@pytest.mark.parametrize("name", ["a-0.png", "a-000.jpg", "a/0.webp", "a-0.jpeg", "a.pdf-0.png"])
def test_names_that_a_page_may_have(tmp_path: Path, name: str) -> None:
    path = picture(tmp_path / name)
    assert Folder(str(tmp_path)).find(Wanted("", "a.pdf", 0)) == Found(str(path))


def test_the_name_that_the_data_gives_comes_first(tmp_path: Path) -> None:
    picture(tmp_path / "a-0.png")
    given = picture(tmp_path / "scans" / "0017.png")
    assert Folder(str(tmp_path)).find(Wanted("scans/0017.png", "a.pdf", 0)) == Found(str(given))


def test_coco_names_its_files(opened: Opener, tmp_path: Path) -> None:
    picture(tmp_path / "images" / "first page.png")
    truth = {
        "images": [{"id": 7, "file_name": "first page.png", "width": 100, "height": 120}],
        "categories": [{"id": 1, "name": "Table"}],
        "annotations": [{"id": 1, "image_id": 7, "category_id": 1, "bbox": [10, 10, 50, 50], "area": 2500, "iscrowd": 0}],
    }
    found = (
        Evaluator(Detection())
        .update(truth, [{"image_id": 7, "category_id": 1, "bbox": [60, 60, 9, 9], "score": 0.5}])
        .compute()
    )
    found.report(tmp_path / "coco.html", images=str(tmp_path / "images"))
    page = opened(tmp_path / "coco.html", "#view=pages")
    assert page.locator("[data-viewer] image").get_attribute("href").startswith("blob:")
    page.keyboard.press("i")
    assert page.locator("[data-viewer] image").count() == 0


def test_nothing_outside_the_folder_and_nothing_but_pictures(tmp_path: Path) -> None:
    folder = tmp_path / "images"
    folder.mkdir()
    secret = picture(tmp_path / "secret.png")
    (folder / "link-0.png").symlink_to(secret)
    (folder / "drawn-0.png").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    place = Folder(str(folder))
    assert place.find(Wanted("../secret.png", "x", 0)) is None
    assert place.find(Wanted(str(secret), "x", 0)) is None
    assert place.find(Wanted("", "../secret", 0)) is None
    assert place.find(Wanted("", "link", 0)) is None
    assert place.find(Wanted("", "drawn", 0)) is None
    assert place.find(Wanted("a\0b", "c\0d", 0)) is None
    assert not is_picture(str(folder / "drawn-0.png"))
    assert not is_picture(str(folder / "gone.png"))
    assert is_picture(str(secret))


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_what_is_transparent_is_white(mode: str, tmp_path: Path) -> None:
    drawn = Image.new("P" if mode == "P" else "RGBA", (4, 8), 0)
    if mode == "P":
        drawn.putpalette([255, 0, 0, 0, 0, 0])
        drawn.info["transparency"] = 0
    drawn.paste(1 if mode == "P" else (0, 0, 0, 255), (0, 0, 2, 8))
    (drawn.convert("LA") if mode == "LA" else drawn).save(tmp_path / "a.png")
    made = Darkroom().picture(7, Found(str(tmp_path / "a.png")))
    assert made is not None
    assert (made.number, made.aspect) == (7, 2.0)
    seen = Image.open(io.BytesIO(made.data)).convert("L")
    assert seen.getpixel((3, 1)) > 240
    assert seen.getpixel((0, 1)) < 40


def test_images_go_into_the_file_worst_pages_first(opened: Opener, tmp_path: Path) -> None:
    for name in "abc":
        picture(tmp_path / "images" / f"{name}-0.png")
    result().report(tmp_path / "all.html", images=str(tmp_path / "images"))
    text = (tmp_path / "all.html").read_text()
    # Nothing is wrong on the third page: its picture is left out, and the page says why.
    assert re.findall(r'<script type="image/webp" data-image="(\d+)">', text) == ["0", "1"]
    page = opened(tmp_path / "all.html", "#view=pages&doc=c.pdf")
    assert "image left out: nothing is wrong on this page, use --sidecar" in page.locator("[data-viewer]").inner_text()
    size = len(re.findall(r'data-image="0">([^<]*)<', text)[0])
    result().report(tmp_path / "one.html", images=str(tmp_path / "images"), size=size + 1)
    assert re.findall(r'data-image="(\d+)">', (tmp_path / "one.html").read_text()) == ["0"]
    page = opened(tmp_path / "one.html", "#view=pages&doc=b.pdf")
    assert "image left out: over" in page.locator("[data-viewer]").inner_text()
    assert "use --sidecar" in page.locator("[data-viewer]").inner_text()


def test_pictures_are_counted_while_they_are_made(tmp_path: Path) -> None:
    for name in "abc":
        picture(tmp_path / "images" / f"{name}-0.png")
    made, mine = result(), Progress()
    with progress_to(mine):
        made.report(tmp_path / "all.html", images=str(tmp_path / "images"))
    assert (mine.done, mine.total, mine.noun) == (2, 2, "picture"), "of pages with something wrong"


def test_a_page_that_is_wrong_at_a_higher_threshold_only_has_its_picture(tmp_path: Path) -> None:
    for name in "ab":
        picture(tmp_path / "images" / f"{name}-0.png")
    truth = Corpus.from_arrays([[0, 0, 100, 100]] * 2, ["Table"] * 2, documents=["a.pdf", "b.pdf"])
    found = Corpus.from_arrays(
        [[0, 0, 100, 60], [0, 0, 100, 100]], ["Table"] * 2, documents=["a.pdf", "b.pdf"], scores=[0.9, 0.9]
    )
    made = Evaluator(Detection()).update(truth, found).compute()
    assert made["fn@0.5"] == 0
    assert made["fn@0.75"] == 1
    made.report(tmp_path / "report.html", images=str(tmp_path / "images"))
    assert re.findall(r'data-image="(\d+)">', (tmp_path / "report.html").read_text()) == ["0"]


def test_a_sidecar_moves_with_its_report(opened: Opener, tmp_path: Path) -> None:
    for name in "abc":
        picture(tmp_path / "images" / f"{name}-0.png")
    (tmp_path / "here").mkdir()
    result().report(tmp_path / "here" / "report.html", images=str(tmp_path / "images"), sidecar=True)
    assert sorted(path.name for path in (tmp_path / "here" / "report_files").iterdir()) == ["0.webp", "1.webp", "2.webp"]
    shutil.move(tmp_path / "here", tmp_path / "there")
    page = opened(tmp_path / "there" / "report.html", "#view=pages&doc=c.pdf")
    assert page.locator("[data-viewer] image").get_attribute("href") == "report_files/2.webp"
    drawn = page.evaluate(
        "new Promise(done => { const image = new Image(); image.onload = () => done(image.naturalWidth); "
        "image.onerror = () => done(0); image.src = 'report_files/2.webp' })"
    )
    assert drawn == 100
    # Written again, with fewer pages: what the earlier report left is gone.
    result(("a.pdf",)).report(tmp_path / "there" / "report.html", images=str(tmp_path / "images"), sidecar=True)
    assert [path.name for path in (tmp_path / "there" / "report_files").iterdir()] == ["0.webp"]


def test_a_folder_of_somebody_else_is_not_touched(tmp_path: Path) -> None:
    picture(tmp_path / "images" / "a-0.png")
    (tmp_path / "report_files").mkdir()
    (tmp_path / "report_files" / "letter.txt").write_text("mine")
    with pytest.raises(ConfigError, match=r"letter\.txt"):
        result(("a.pdf",)).report(tmp_path / "report.html", images=str(tmp_path / "images"), sidecar=True)
    assert (tmp_path / "report_files" / "letter.txt").read_text() == "mine"


def test_broken_and_huge_images_are_refused_and_said(opened: Opener, tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a-0.png").write_bytes(b"\x89PNG\r\n\x1a\n broken")
    picture(tmp_path / "images" / "b-0.png", (10_001, 5_000))
    result().report(tmp_path / "report.html", images=str(tmp_path / "images"))
    for document in ("a.pdf", "b.pdf"):
        page = opened(tmp_path / "report.html", f"#view=pages&doc={document}")
        assert "image refused" in page.locator("[data-viewer]").inner_text()
        assert page.locator("[data-viewer] image").count() == 0


def test_pages_of_a_pdf(tmp_path: Path) -> None:
    pytest.importorskip("pypdfium2")
    (tmp_path / "images").mkdir()
    pages = [Image.new("RGB", (300, 400), colour) for colour in ("white", "black")]
    pages[0].save(tmp_path / "images" / "a.pdf", save_all=True, append_images=pages[1:])
    assert Folder(str(tmp_path / "images")).find(Wanted("reports/a.pdf", "a.pdf", 1)) == Found(
        str(tmp_path / "images" / "a.pdf"), 1
    )
    result(("a.pdf", "b.pdf")).report(tmp_path / "report.html", images=str(tmp_path / "images"))
    assert 'data-image="0"' in (tmp_path / "report.html").read_text()


def test_boxes_in_pixels_are_laid_over_the_picture(opened: Opener, tmp_path: Path) -> None:
    picture(tmp_path / "images" / "a-0.png", (100, 120))
    result(("a.pdf",)).report(tmp_path / "report.html", images=str(tmp_path / "images"))
    page = opened(tmp_path / "report.html", "#view=pages")
    box = page.locator('[data-viewer] [data-object="t0"]')
    # 10 to 60 of 100 pixels, on a page 1,000 wide.
    assert float(box.get_attribute("x")) == pytest.approx(100, abs=0.2)
    assert float(box.get_attribute("width")) == pytest.approx(500, abs=0.2)
    assert "not known" not in page.locator("[data-viewer]").inner_text()


def test_a_large_picture_is_taken_without_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pillow warns of pictures with more pixels than it expects; here they have a limit of their own."""
    image = pytest.importorskip("PIL.Image")
    image.new("RGB", (30, 20)).save(tmp_path / "a.png")
    monkeypatch.setattr(image, "MAX_IMAGE_PIXELS", 500)
    made = Darkroom().picture(0, Found(str(tmp_path / "a.png")))
    assert made is not None
    assert made.aspect == 20 / 30


def uneven(size: tuple[int, int]) -> Any:
    """An image of slopes and edges: each quality makes other bytes of it."""
    down, across = np.ogrid[: size[1], : size[0]]
    shades = [(down * across // share + 3 * across) % 256 for share in (50, 70, 90)]
    return Image.fromarray(np.stack(shades, axis=-1).astype(np.uint8))


def webp(image: Any, quality: int) -> bytes:
    out = io.BytesIO()
    image.save(out, "WEBP", quality=quality)
    return out.getvalue()


@pytest.mark.parametrize(("size", "small"), [((1000, 500), (800, 400)), ((120, 90), (120, 90))])
def test_images_become_webp_of_800_pixels_and_quality_40(tmp_path: Path, size: tuple[int, int], small: tuple[int, int]) -> None:
    """Byte for byte what Pillow makes of them; what is narrower stays so."""
    image = uneven(size)
    (tmp_path / "images").mkdir()
    image.save(tmp_path / "images" / "a-0.png")
    result().report(tmp_path / "report.html", images=str(tmp_path / "images"))
    blocks = re.findall(r'<script type="image/webp" data-image="0">([^<]+)<', (tmp_path / "report.html").read_text())
    expected = image if small == size else image.resize(small, Image.Resampling.LANCZOS)
    assert [base64.b64decode(block) for block in blocks] == [webp(expected, 40)]
    assert webp(expected, 40) not in [webp(expected, other) for other in (38, 39, 41, 42)]


@pytest.mark.parametrize("size", [(600, 20_000), (20_000, 600), (1, 40_000), (40_000, 1), (2_000, 17_000)])
@pytest.mark.parametrize("extension", ["png", "jpg"])
def test_picture_longer_than_webp_allows_is_made_smaller(tmp_path: Path, size: tuple[int, int], extension: str) -> None:
    picture(tmp_path / f"a-0.{extension}", size)
    result().report(tmp_path / "report.html", images=tmp_path)
    head, _ = read_report((tmp_path / "report.html").read_bytes())
    assert head["images"]["places"][0] == 0
    assert head["images"]["aspects"][0] == pytest.approx(size[1] / size[0], rel=1e-5, abs=1e-5)
    block = re.findall(r'data-image="0">([^<]+)<', (tmp_path / "report.html").read_text())[0]
    with Image.open(io.BytesIO(base64.b64decode(block))) as small:
        assert small.width <= 800
        assert small.height <= 16_383


@pytest.mark.parametrize("text", ["a\ud800b", "\udcff", "a\0b", "x" * 5_000])
def test_report_with_names_that_no_file_can_have_is_written(tmp_path: Path, text: str) -> None:
    picture(tmp_path / "b-0.png")
    truth = {
        "images": [{"id": 1, "file_name": text, "doc_id": text, "width": 100, "height": 100}],
        "categories": [{"id": 1, "name": text}],
        "annotations": [{"id": text, "image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9]}],
    }
    found = [{"image_id": 1, "category_id": 1, "bbox": [50, 50, 9, 9], "score": 0.5}]
    made = Evaluator(Detection()).update(truth, found).compute()
    made.report(tmp_path / "report.html", images=tmp_path)
    head, _ = read_report((tmp_path / "report.html").read_bytes())
    assert head["images"]["places"] == [-1]
    assert len(head["runs"][0]["labels"]) == 1
