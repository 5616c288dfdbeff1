"""Pages with reading orders: true blocks in columns, and the same read with some moved, split and lost.

python benchmarks/order_data.py PAGES --cache FOLDER
python benchmarks/order_data.py 1 --ids 100000 [--shuffled] --cache FOLDER   # one page of which only names are known
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BLOCKS = 30
COLUMNS = 3


def truth_page(number: int, rng: random.Random) -> dict[str, Any]:
    """A page of three columns, read one after the other."""
    boxes, ids = [], []
    for column in range(COLUMNS):
        top = 40.0
        for place in range(BLOCKS // COLUMNS):
            height = rng.randint(20, 70)
            boxes.append([40.0 + 180 * column, top, 210.0 + 180 * column, top + height])
            ids.append(f"b{column}-{place}")
            top += height + 10
    return {
        "doc_id": f"d{number // 10}",
        "page_index": number % 10,
        "boxes": boxes,
        "labels": ["text"] * len(ids),
        "ids": ids,
        "order": ids,
    }


def read_page(page: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """The page as a system reads it: a few blocks are lost, and a few come elsewhere."""
    kept = [place for place in range(len(page["ids"])) if rng.random() > 0.03]
    order = [page["ids"][place] for place in kept]
    for _ in range(3):
        order.insert(rng.randrange(len(order)), order.pop(rng.randrange(len(order))))
    return {**page, "boxes": [page["boxes"][place] for place in kept], "labels": ["text"] * len(kept),
            "ids": [page["ids"][place] for place in kept], "order": order}  # fmt: skip


def lines(pages: int, *, read: bool) -> Iterator[str]:
    """The same seed gives the same pages on every machine."""
    true, other = random.Random(3), random.Random(4)  # noqa: S311  # data to be measured on, no secret
    for number in range(pages):
        page = truth_page(number, true)
        yield json.dumps(read_page(page, other) if read else page) + "\n"


def ids_line(count: int, *, read: bool, shuffled: bool) -> str:
    """One page with many names; read, a tenth of them come somewhere else, or all of them anywhere."""
    order = [f"b{place}" for place in range(count)]
    rng = random.Random(5)  # noqa: S311  # as above
    if read and shuffled:
        rng.shuffle(order)
    elif read:
        moved = set(rng.sample(range(count), count // 10))
        order = [name for place, name in enumerate(order) if place not in moved]
        places = dict.fromkeys(sorted(rng.randrange(len(order)) for _ in moved))
        for place, number in zip(reversed(places), moved, strict=False):
            order.insert(place, f"b{number}")
    return json.dumps({"doc_id": "d", "order": order}) + "\n"


def main() -> None:
    """Write both files, unless they are there, and print where they are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", type=int)
    parser.add_argument("--ids", type=int, help="one page with so many names instead")
    parser.add_argument("--shuffled", action="store_true", help="these in whatever order, and not a tenth of them moved")
    parser.add_argument("--cache", type=Path, required=True)
    arguments = parser.parse_args()
    size = f"{'shuffled' if arguments.shuffled else 'ids'}-{arguments.ids}" if arguments.ids else f"{arguments.pages}"
    folder = arguments.cache / f"order-{size}-v1"
    folder.mkdir(parents=True, exist_ok=True)
    files = {name: folder / name for name in ("truth.ndjson", "read.ndjson")}
    for name, path in files.items():
        if not path.exists():
            with path.open("w") as file:
                read = name == "read.ndjson"
                if arguments.ids:
                    file.write(ids_line(arguments.ids, read=read, shuffled=arguments.shuffled))
                else:
                    file.writelines(lines(arguments.pages, read=read))
    print(json.dumps({name: str(path) for name, path in files.items()}))


if __name__ == "__main__":
    main()
