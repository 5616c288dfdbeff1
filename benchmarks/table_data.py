"""Pairs of tables for the benchmarks, made from fixed seeds: words and figures, and a reading with some of it lost.

    python benchmarks/table_data.py ROWS COLUMNS PAIRS --cache FOLDER

Prints the file of the set as JSON.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

WORDS = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "revenue",
    "cost",
    "total",
    "margin",
    "net",
    "gross",
    "income",
    "dose",
    "mean",
    "index",
    "share",
    "rate",
    "score",
    "equity",
    "debt",
    "capital",
]
MISREAD = 0.08
"""The share of letters that are misread, in every second cell."""


def text(draw: random.Random) -> str:
    """What a cell of a report holds."""
    kind = draw.random()
    if kind < 0.3:
        return " ".join(draw.choices(WORDS, k=draw.randint(1, 3)))
    if kind < 0.38:
        return ""
    if kind < 0.8:
        return f"{draw.randint(1, 9999):,}.{draw.randint(0, 99)}"
    return f"{draw.random() * 100:.1f} ± {draw.random() * 9:.2f}"


def misread(draw: random.Random, written: str) -> str:
    """A text with letters replaced and lost."""
    kept = (char for char in written if draw.random() > MISREAD / 2)
    return "".join(draw.choice("abc129,. ") if draw.random() < MISREAD else char for char in kept)


def pair(seed: int, rows: int, columns: int) -> tuple[str, str]:
    """The HTML of a table, and of what was read."""
    draw = random.Random(seed)  # noqa: S311  # the same tables every time
    grid = [[text(draw) for _ in range(columns)] for _ in range(rows)]
    read = []
    for row in grid:
        if draw.random() >= 0.03:
            cells = [misread(draw, each) if draw.random() < 0.5 else each for each in row]
            if draw.random() < 0.1:
                cells.pop(draw.randrange(len(cells)))
            read.append(cells)
    return markup(grid), markup(read)


def markup(grid: list[list[str]]) -> str:
    """Rows of cells as HTML that every tool can read."""
    rows = ("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in grid)
    return f"<html><body><table>{''.join(rows)}</table></body></html>"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("rows", "columns", "pairs"):
        parser.add_argument(name, type=int)
    parser.add_argument("--cache", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    path = arguments.cache / f"tables-{arguments.rows}x{arguments.columns}x{arguments.pairs}.json"
    if not path.exists():
        made = [pair(seed, arguments.rows, arguments.columns) for seed in range(arguments.pairs)]
        path.write_text(json.dumps(made, ensure_ascii=False), "utf-8")
    print(json.dumps({"pairs.json": str(path)}))


if __name__ == "__main__":
    main()
