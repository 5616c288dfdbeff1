"""Drawn pages for the sample data: text, charts and tables where the truth has figures and tables. Needs Pillow."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from calque.base.errors import MissingExtra

WIDTH, HEIGHT = 800, 1131
TEXT = """
output income prices is lower public annual with the as growth rural average housing policy capital estimates among by
national rainfall households region rate share between harvest survey decline period education health transport market
"""
WORDS = tuple(TEXT.split())
LEADING = 21
INK, SOFT, RULE = "#202428", "#7b8490", "#c9cdd2"


def draw_pages(truth: Mapping[str, Any], folder: Path) -> int:
    """Draw every page of the sample's truth into a folder, as ``STEM-PAGE.png``; returns how many there are."""
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError as error:
        raise MissingExtra("Pillow", "images", "drawing pages") from error
    folder.mkdir(parents=True, exist_ok=True)
    fonts = {size: ImageFont.load_default(size) for size in (10, 11, 13, 20)}
    words = {word: _drawn(word, fonts[13], Image, ImageDraw) for word in WORDS}
    for page in truth["predictions"]:
        image = Image.new("RGB", (WIDTH, HEIGHT), "white")
        _Page(ImageDraw.Draw(image), fonts, words, page).draw()
        stem = page["doc_id"].removesuffix(".pdf")
        image.save(folder / f"{stem}-{page['page_index']}.png", compress_level=1)
    return len(truth["predictions"])


def _drawn(word: str, font: Any, image: Any, draw: Any) -> Any:
    """A word as a mask with a space behind it: pages are full of them, and drawing letters takes long."""
    mask = image.new("L", (round(font.getlength(f"{word} ")), 20))
    draw.Draw(mask).text((0, 0), word, fill=255, font=font)
    return mask


class _Page:
    """One page: a running head, paragraphs around the figures and tables, and a number."""

    def __init__(self, draw: Any, fonts: Mapping[int, Any], words: Mapping[str, Any], page: Mapping[str, Any]) -> None:
        self.canvas, self.fonts, self.words, self.page = draw, fonts, words, page
        self.rng = random.Random(page["page_id"])  # noqa: S311  # sample data, not secrets
        self.boxes = [(item["label"], self._pixels(item["bbox"])) for item in page["objects"]]

    @staticmethod
    def _pixels(box: Sequence[float]) -> tuple[float, float, float, float]:
        x1, y1, x2, y2 = box
        return x1 * WIDTH, y1 * HEIGHT, x2 * WIDTH, y2 * HEIGHT

    def draw(self) -> None:
        title = self.page["doc_id"].removesuffix(".pdf").replace("-", " ").title()
        self._text((80, 58), title, 11, SOFT)
        self._text((WIDTH - 100, HEIGHT - 70), str(self.page["page_index"] + 1), 11, SOFT)
        if not self.boxes:
            self._text((80, 92), f"{self.rng.choice(WORDS).title()} and {self.rng.choice(WORDS)}", 20, INK)
        for y in range(92 if self.boxes else 132, HEIGHT - 90, LEADING):
            for left, right in self._free(y, y + LEADING):
                self._line(left, right, y)
        for label, box in self.boxes:
            (self._chart if label == "Figure" else self._table)(*box)

    def _free(self, top: float, bottom: float) -> Iterator[tuple[float, float]]:
        """Where a line of text may stand: beside what is there, where that leaves enough room."""
        beside = [(x1, x2) for _, (x1, y1, x2, y2) in self.boxes if y1 - 8 < bottom and y2 + 6 > top]
        if not beside:
            yield 80, WIDTH - 80
            return
        left, right = min(x1 for x1, _ in beside), max(x2 for _, x2 in beside)
        if left > 300:
            yield 80, left - 24
        elif right < WIDTH - 300:
            yield right + 24, WIDTH - 80

    def _line(self, left: float, right: float, y: float) -> None:
        end = left + (right - left) * (0.55 if self.rng.random() < 0.12 else 1)
        while left + (mask := self.words[self.rng.choice(WORDS)]).width < end:
            self.canvas.bitmap((left, y), mask, fill=INK)
            left += mask.width

    def _text(self, place: tuple[float, float], text: str, size: int, colour: str) -> None:
        self.canvas.text(place, text, fill=colour, font=self.fonts[size])

    def _chart(self, x1: float, y1: float, x2: float, y2: float) -> None:
        number = self.rng.randint(2, 40)
        self._text(
            (x1 + 4, y1 + 4),
            f"Figure {number}. {self.rng.choice(WORDS).title()} of {self.rng.choice(WORDS)}, 1998-2021",
            13,
            INK,
        )
        left, top, right, bottom = x1 + 34, y1 + 36, x2 - 10, y2 - 30
        self.canvas.line([(left, top), (left, bottom), (right, bottom)], fill=SOFT)
        count = self.rng.randint(5, 11)
        values = [self.rng.uniform(0.2, 1.0) for _ in range(count)]
        step = (right - left) / count
        points = [(left + step * (place + 0.5), bottom - value * (bottom - top)) for place, value in enumerate(values)]
        if self.rng.random() < 0.5:
            for x, y in points:
                self.canvas.rectangle([x - step * 0.3, y, x + step * 0.3, bottom], fill="#7d8796")
        else:
            self.canvas.line(points, fill="#3c5a78", width=2)
            self.canvas.line([(x, bottom - (bottom - y) * 0.6) for x, y in points], fill="#b07a4a", width=2)
        for place, (x, _) in enumerate(points):
            self._text((x - 11, bottom + 3), str(2010 + place), 10, SOFT)
        self._text((x1 + 4, y2 - 14), "Source: national accounts, authors' estimates", 10, SOFT)

    def _table(self, x1: float, y1: float, x2: float, y2: float) -> None:
        self._text(
            (x1 + 4, y1 + 4),
            f"Table {self.rng.randint(1, 20)}. {self.rng.choice(WORDS).title()} and {self.rng.choice(WORDS)} (percent)",
            13,
            INK,
        )
        columns = 5 if x2 - x1 > 400 else 3
        width = (x2 - x1) / (columns + 1)
        self.canvas.line([(x1, y1 + 28), (x2, y1 + 28)], fill=INK, width=2)
        for column in range(columns):
            self._text((x1 + width * (column + 1), y1 + 33), str(2015 + column), 11, INK)
        self.canvas.line([(x1, y1 + 50), (x2, y1 + 50)], fill=RULE)
        for row in range(int((y2 - y1 - 62) // 18)):
            y = y1 + 55 + 18 * row
            self._text((x1 + 4, y), self.rng.choice(WORDS).title(), 11, INK)
            for column in range(columns):
                self._text((x1 + width * (column + 1), y), f"{self.rng.uniform(1, 900):.1f}", 11, INK)
        self.canvas.line([(x1, y2 - 4), (x2, y2 - 4)], fill=INK, width=2)
