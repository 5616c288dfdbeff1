"""The profile of dinglehopper: the rates that its release 0.11.0 gives for real pages, to the last bit."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from calque import Evaluator, Words

DATA = Path(os.environ.get("CALQUE_TEST_DATA", "nowhere"))
PAGE = "dinglehopper/actevedef_718448162/OCR-D-GT-PAGE/00000024.page.xml"
RATES = [
    (PAGE, "dinglehopper/actevedef_718448162/OCR-D-OCR-CALAMARI/OCR-D-OCR-CALAMARI_0001.xml", (119, 4673), (80, 727)),
    (PAGE, "dinglehopper/actevedef_718448162/OCR-D-OCR-TESS/OCR-D-OCR-TESS_0001.xml", (188, 4673), (117, 727)),
    ("dinglehopper/test.alto2.xml", "dinglehopper/test.alto3.xml", (1588, 1682), (243, 246)),
    ("dinglehopper/mixed-regions.page.xml", "dinglehopper/table-order/table-region.xml", (1765, 1773), (273, 273)),
    (
        "dinglehopper/table-order/table-no-reading-order.xml",
        "dinglehopper/table-order/table-order-0002.xml",
        (8, 17),
        (8, 9),
    ),
    ("ocr-engines/page.gt.txt", "ocr-engines/page.gocr.txt", (22, 1338), (8, 240)),
    ("ocr-engines/page.gt.txt", "ocr-engines/page_bad.tess-psm3.xml", (23, 1338), (3, 240)),
]


@pytest.mark.skipif(not DATA.is_dir(), reason="CALQUE_TEST_DATA does not name the folder of real data")
@pytest.mark.parametrize(("truth", "found", "characters", "words"), RATES)
def test_the_rates_of_real_pages(truth: str, found: str, characters: tuple[int, int], words: tuple[int, int]) -> None:
    result = Evaluator(Words(profile="dinglehopper")).update(str(DATA / truth), str(DATA / found)).compute()
    assert result["cer"] == characters[0] / characters[1]
    assert result["wer"] == words[0] / words[1]


def test_what_is_set_by_hand_stays() -> None:
    task = Words(profile="dinglehopper", tokenizer="whitespace", characters="code-points")
    assert (task.characters, task.separators, task.tokenizer) == ("code-points", "lines", "uax29-words")


CHARACTERS = [
    ("a", "a", (0, 1)), ("a", "b", (1, 1)), ("Foo", "Bar", (3, 3)), ("Foo", "", (3, 3)), ("Foo", "Food", (1, 3)),
    ("Fnord", "Food", (2, 5)), ("Müll", "Mull", (1, 4)), ("Abstand", "Sand", (4, 7)),
    ("Schlyñ", "Schlym\u0303", (1, 6)), ("Schlym\u0303", "Schlyñ", (1, 6)), ("Schlyn\u0303 ipsum.", "Schlyñ ipsum!", (1, 13)),
]  # fmt: skip
WORDS = [
    ("Dies ist ein Beispielsatz!", "Dies ist ein Beispielsatz!", (0, 4)),
    ("Dies. ist ein Beispielsatz!", "Dies ist ein Beispielsatz.", (0, 4)),
    ("Dies ist ein Beispielsatz!", "Dies ist ein Beispielsarz:", (1, 4)),
    ("Dies ist ein Beispielsatz!", "Dies ein ist Beispielsatz!", (2, 4)),
    ("Dies ist ein Beispielsatz!", "", (4, 4)),
    ("Schlyñ ipsum dolor", "Schlym\u0303 ipsum dolor", (1, 3)),
    ("keine 3,14 Meter", "keine 3,15 Meter", (1, 3)),
    ("de\ueba6elben ver\u2e17", "de\ueba6elben ver-", (0, 2)),
]


@pytest.mark.parametrize(("truth", "found", "rate"), CHARACTERS)
def test_the_published_character_rates(truth: str, found: str, rate: tuple[int, int]) -> None:
    result = Evaluator(Words(profile="dinglehopper")).update({"d": truth}, {"d": found}).compute()
    assert result["cer"] == rate[0] / rate[1]


@pytest.mark.parametrize(("truth", "found", "rate"), WORDS)
def test_the_published_word_rates(truth: str, found: str, rate: tuple[int, int]) -> None:
    result = Evaluator(Words(profile="dinglehopper")).update({"d": truth}, {"d": found}).compute()
    assert result["wer"] == rate[0] / rate[1]


def test_nothing_against_something_has_no_rate() -> None:
    """dinglehopper says infinity, and 0 for nothing against nothing; 0/0 is undefined here, and says why."""
    result = Evaluator(Words(profile="dinglehopper")).update({"d": ""}, {"d": "Foo"}).compute()
    assert (result["cer"], result["wer"]) == (None, None)
