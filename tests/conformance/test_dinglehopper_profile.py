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
