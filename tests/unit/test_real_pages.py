"""Real engines on real pages: formats of one engine must agree, and numbers must be those of other tools."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from rapidfuzz.distance import LCSseq, Levenshtein

from calque import Evaluator, Words
from calque.words import build_lattice, oracle

TEXT = ["The quick brown fox jumps over", "the lazy dog while 1,024 birds", "watch from the old stone wall."]


@pytest.mark.parametrize("page", ["page", "page_bad"])
def test_the_formats_of_one_engine_agree(test_data: Path, page: str) -> None:
    pytest.importorskip("lxml")
    folder = test_data / "ocr-engines"
    results = [
        Evaluator(Words()).update(folder / "page.gt.txt", folder / f"{page}.tess-psm3.{suffix}").compute()
        for suffix in ("txt", "hocr", "tsv", "xml")
    ]
    assert len({(result["recall"], result["wer"], result.numbers["counts"]["predicted_words"]) for result in results}) == 1


@pytest.mark.parametrize("engine", ["gocr", "ocrad", "tess-psm3"])
@pytest.mark.parametrize("page", ["page", "page_bad"])
def test_numbers_are_those_of_rapidfuzz(test_data: Path, page: str, engine: str) -> None:
    folder = test_data / "ocr-engines"
    ours, theirs = (folder / name for name in ("page.gt.txt", f"{page}.{engine}.txt"))
    result = Evaluator(Words(characters=True)).update(ours, theirs).compute()
    ref, pred = ours.read_text().split(), theirs.read_text().split()
    assert result["recall"] == LCSseq.similarity(ref, pred) / len(ref)
    assert result["wer"] == Levenshtein.distance(ref, pred) / len(ref)
    assert result["cer"] == Levenshtein.distance(" ".join(ref), " ".join(pred)) / len(" ".join(ref))


def test_three_engines_together_reach_at_least_the_best(test_data: Path) -> None:
    folder = test_data / "ocr-engines"
    ref = (folder / "page.gt.txt").read_text().split()
    readings = {name: (folder / f"page_bad.{name}.txt").read_text().split() for name in ("gocr", "ocrad", "tess-psm3")}
    best = oracle(ref, lattice=build_lattice(readings))
    assert best.matches >= max(LCSseq.similarity(ref, read) for read in readings.values())
    assert best.matches == LCSseq.similarity(ref, best.words)


def test_page_xml_of_ground_truth_and_engines(test_data: Path) -> None:
    pytest.importorskip("lxml")
    folder = test_data / "dinglehopper" / "actevedef_718448162"
    truth = folder / "OCR-D-GT-PAGE" / "00000024.page.xml"
    for engine, words in (("CALAMARI", 733), ("TESS", 737)):
        found = folder / f"OCR-D-OCR-{engine}" / f"OCR-D-OCR-{engine}_0001.xml"
        result = Evaluator(Words()).update(truth, found).compute()
        assert (result.numbers["counts"]["words"], result.numbers["counts"]["predicted_words"]) == (741, words)
        assert result["recall"] > 0.6


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("table-order-0001", "1 2 3 4 5 6 7 8 9"),
        ("table-order-0002", "1 4 7 2 5 8 3 6 9"),
        ("table-no-reading-order", "5 6 7 8 9 1 2 3 4"),
        ("table-unordered", "1 2 3 4 5 6 7 8 9"),
        ("table-region", "1 2 3 4 5 6 7 8 9"),
    ],
)
def test_reading_order_of_tables(test_data: Path, file: str, expected: str) -> None:
    pytest.importorskip("lxml")
    result = Evaluator(Words()).update(test_data / "dinglehopper" / "table-order" / f"{file}.xml", {file: expected}).compute()
    assert result["naive_recall"] == 1.0


def test_alto_of_two_versions(test_data: Path) -> None:
    pytest.importorskip("lxml")
    from calque.readers.text.texts import read_texts

    folder = test_data / "dinglehopper"
    for name, first in (("test.alto2.xml", "142"), ("test.alto3.xml", "über")):
        corpus, _ = next(Words().batches(folder / name, folder / name))
        assert corpus.words(name.removesuffix(".xml"))[0] == first  # type: ignore[attr-defined]
    assert read_texts(folder / "mixed-regions.page.xml").units() == ("mixed-regions",)


def test_tesseract_on_a_page_made_here(tmp_path: Path) -> None:
    """The engine's hOCR, TSV and ALTO of one page give the same words."""
    pytest.importorskip("lxml")
    pillow = pytest.importorskip("PIL.Image")
    if shutil.which("tesseract") is None:
        pytest.skip("tesseract is not installed (Debian: tesseract-ocr)")
    draw, font = pytest.importorskip("PIL.ImageDraw"), pytest.importorskip("PIL.ImageFont")
    image = pillow.new("L", (1100, 320), 255)
    pen = draw.Draw(image)
    for number, line in enumerate(TEXT):
        pen.text((60, 40 + 80 * number), line, fill=0, font=font.load_default(size=52))
    image.save(tmp_path / "page.png", dpi=(300, 300))
    command = ["tesseract", "page.png", "page", "--psm", "6", "hocr", "tsv", "alto"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "truth.txt").write_text("\n".join(TEXT))
    results = [
        Evaluator(Words()).update(tmp_path / "truth.txt", tmp_path / f"page.{suffix}").compute()
        for suffix in ("hocr", "tsv", "xml")
    ]
    assert len({(result["recall"], result["wer"], result["naive_recall"]) for result in results}) == 1
    recall = results[0]["recall"]
    assert recall is not None
    assert recall > 0.8
