"""The TSV that Tesseract writes: one row for each page, block, paragraph, line and word."""

from __future__ import annotations

from itertools import groupby

from calque.base.errors import ContractError
from calque.corpus.words import Block

HEAD = ("level", "page_num", "block_num", "par_num", "line_num", "word_num", "left", "top", "width", "height", "conf", "text")
_WORD = "5"


def looks_like(text: str) -> bool:
    """Whether a text begins with Tesseract's own head line."""
    return tuple(text[:200].split("\n", 1)[0].rstrip("\r").split("\t")) == HEAD


def blocks_of(text: str, file: str) -> list[Block]:
    """One block for each paragraph, its lines kept."""
    rows = []
    for number, line in enumerate(text.split("\n")[1:], start=2):
        if not line.strip():
            continue
        cells = line.rstrip("\r").split("\t", len(HEAD) - 1)
        if len(cells) < len(HEAD):
            raise ContractError.single(
                "wrong-row", f"has {len(cells)} columns, not {len(HEAD)}", file=file, pointer=f"line {number}"
            )
        if cells[0] == _WORD:
            rows.append(cells)
    blocks = []
    first_page: dict[str, int] = {}
    for place, words in groupby(rows, key=lambda cells: tuple(cells[1:4])):
        lines = [" ".join(cells[11].strip() for cells in line) for _, line in groupby(words, key=lambda cells: cells[4])]
        page = first_page.setdefault(place[0], len(first_page))
        blocks.append(Block("\n".join(line for line in lines if line), page=page, region="paragraph"))
    return [block for block in blocks if block.text]
