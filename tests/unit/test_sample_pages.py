"""The drawn pages of the sample: what they show stands where the truth says, and nothing runs into it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from calque.base.columns import Flags
from calque.sample import sample
from calque.sample_pages import HEIGHT, LEADING, WIDTH, WORDS, _Page, draw_pages

TRUTH = sample()["truth"]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[dict[str, Any], Flags]]:
    """Every page of the truth, and where there is ink on it."""
    folder = tmp_path_factory.mktemp("pages")
    assert draw_pages(TRUTH, folder) == len(TRUTH["predictions"]) == len(list(folder.iterdir()))
    return [(page, ink(folder, page)) for page in TRUTH["predictions"]]


def ink(folder: Path, page: dict[str, Any]) -> Flags:
    with Image.open(folder / f"{page['doc_id'].removesuffix('.pdf')}-{page['page_index']}.png") as image:
        assert image.size == (WIDTH, HEIGHT)
        return np.asarray(image.convert("L")) < 250


def pixels(item: dict[str, Any]) -> tuple[int, int, int, int]:
    x1, y1, x2, y2 = item["bbox"]
    return round(x1 * WIDTH), round(y1 * HEIGHT), round(x2 * WIDTH), round(y2 * HEIGHT)


def test_what_is_drawn_stands_in_its_box_and_nothing_touches_it(drawn: list[tuple[dict[str, Any], Flags]]) -> None:
    for page, dark in drawn:
        for item in page["objects"]:
            x1, y1, x2, y2 = pixels(item)
            assert dark[y1 + 3 : y1 + 22, x1 + 2 : x2].any(), "a caption at its head"
            assert dark[y2 - 16 : y2 - 1, x1 + 2 : x2].any(), "a rule or a source at its foot"
            assert not dark[y1 - 4 : y1 - 1, max(0, x1 - 3) : x2 + 3].any(), "nothing above"
            assert not dark[y2 + 2 : y2 + 6, max(0, x1 - 3) : x2 + 3].any(), "nothing below"
            assert not dark[y1:y2, x2 + 3 : x2 + 20].any(), "nothing beside"


def test_tables_have_rows_and_charts_have_axes(drawn: list[tuple[dict[str, Any], Flags]]) -> None:
    seen = set()
    for page, dark in drawn:
        for item in page["objects"]:
            x1, y1, x2, y2 = pixels(item)
            seen.add(item["label"])
            if item["label"] == "Table":
                assert all(dark[y - 1 : y + 2, x1 + 2 : x2 - 2].any(axis=0).all() for y in (y1 + 28, y1 + 50, y2 - 4)), (
                    "three rules from side to side"
                )
                rows = range(y1 + 55, y2 - 24, 18)
                assert all(dark[y : y + 16, x1 + 2 : x2].any() for y in rows), "a row of numbers every 18 pixels"
                assert all(not dark[y + 16 : y + 18, x1 + 2 : x2].any() for y in rows), "and a gap below it"
            else:
                assert dark[y1 + 38 : y2 - 31, x1 + 33 : x1 + 36].any(axis=1).all(), "an axis"
                assert dark[y2 - 31 : y2 - 28, x1 + 36 : x2 - 12].any(axis=0).all(), "and another"
                assert dark[y1 + 38 : y2 - 31, x1 + 40 : x2 - 12].any(), "with something between"
    assert seen == {"Figure", "Table"}


def test_text_fills_the_page_between_its_margins(drawn: list[tuple[dict[str, Any], Flags]]) -> None:
    for page, dark in drawn:
        assert dark[55:75, 80:400].any(), "a running head"
        assert dark[HEIGHT - 72 : HEIGHT - 55, WIDTH - 100 : WIDTH - 80].any(), "a page number"
        if page["objects"]:
            continue
        assert not dark[:, :79].any()
        assert not dark[: HEIGHT - 90, WIDTH - 79 :].any()
        ends = [np.flatnonzero(dark[y + 2 : y + LEADING - 2].any(axis=0)).max() for y in range(132, HEIGHT - 90, LEADING)]
        assert min(ends) > 80 + 0.4 * (WIDTH - 160), "the last line of a paragraph is short, but no less"
        assert np.median(ends) > WIDTH - 160
        inked = dark[132 : HEIGHT - 75].any(axis=1).astype(np.int8)
        assert np.count_nonzero(np.diff(inked, prepend=0) == 1) == len(range(132, HEIGHT - 90, 21)), "a line every 21 pixels"


def test_the_same_pages_every_time(drawn: list[tuple[dict[str, Any], Flags]], tmp_path: Path) -> None:
    draw_pages({"predictions": TRUTH["predictions"][:6]}, tmp_path)
    again = [ink(tmp_path, page) for page in TRUTH["predictions"][:6]]
    assert all(np.array_equal(one, other) for one, (_, other) in zip(again, drawn, strict=False))
    assert len({one.tobytes() for one in again}) == 6


def test_a_chart_has_bars_or_two_lines_in_colours_of_their_own(tmp_path: Path) -> None:
    bars, lines = {(0x7D, 0x87, 0x96)}, {(0x3C, 0x5A, 0x78), (0xB0, 0x7A, 0x4A)}
    pages = [page for page in TRUTH["predictions"] if any(item["label"] == "Figure" for item in page["objects"])][:12]
    draw_pages({"predictions": pages}, tmp_path)
    seen = []
    for page in pages:
        with Image.open(tmp_path / f"{page['doc_id'].removesuffix('.pdf')}-{page['page_index']}.png") as image:
            for item in page["objects"]:
                if item["label"] == "Figure":
                    x1, y1, x2, y2 = pixels(item)
                    inside = image.convert("RGB").crop((x1 + 37, y1 + 37, x2 - 12, y2 - 33))
                    there = {colour for _, colour in inside.getcolors(1 << 16)}
                    assert (there & (bars | lines)) in (bars, lines)
                    seen.append(there & lines == lines)
    assert set(seen) == {True, False}


class Noting:
    """A canvas that notes what is drawn on it, in tenths of a pixel."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *given, **named: self.calls.append([name, noted(given), noted(named)])


class Word:
    """A word as wide as its letters are many."""

    def __init__(self, text: str) -> None:
        self.text, self.width = text, 7 * len(text) + 4


def in_short(calls: list[Any]) -> list[Any]:
    """Without the words between the first and the last of a line."""
    lines = [call[1][0][1] if call[0] == "bitmap" else number for number, call in enumerate(calls)]
    inside = [before == here == after for before, here, after in zip(lines, lines[1:], lines[2:], strict=False)]
    return [call for call, left_out in zip(calls, [False, *inside, False], strict=True) if not left_out]


def noted(given: Any) -> Any:
    if isinstance(given, dict):
        return {key: noted(value) for key, value in given.items()}
    if isinstance(given, list | tuple):
        return [noted(value) for value in given]
    return given.text if isinstance(given, Word) else round(given, 1) if isinstance(given, float) else given


@pytest.mark.parametrize(
    ("number", "objects"),
    [
        (0, []),
        (1, [("Figure", [0.1, 0.1, 0.45, 0.3]), ("Table", [0.1, 0.5, 0.9, 0.7])]),
        (2, [("Figure", [0.5, 0.2, 0.9, 0.4]), ("Table", [0.55, 0.6, 0.9, 0.8])]),
        (3, [("Figure", [0.1, 0.2, 0.4, 0.4]), ("Table", [0.3, 0.41, 0.55, 0.5]), ("Table", [0.15, 0.39, 0.45, 0.55])]),
    ],
    ids=["text", "left", "right", "lines"],
)
def test_what_is_drawn_where(number: int, objects: list[tuple[str, list[float]]], request: pytest.FixtureRequest) -> None:
    """The pages stand in the documentation, with boxes on them: nothing on them moves by itself."""
    canvas = Noting()
    words = {word: Word(word) for word in WORDS}
    page = {"doc_id": "a-b.pdf", "page_id": f"p{number}", "page_index": number}
    page["objects"] = [{"label": label, "bbox": box} for label, box in objects]
    _Page(canvas, {size: size for size in (10, 11, 13, 20)}, words, page).draw()
    known = json.loads((Path(__file__).parent / "drawn_pages.json").read_text("utf-8"))
    assert in_short(canvas.calls) == known[request.node.callspec.id]
