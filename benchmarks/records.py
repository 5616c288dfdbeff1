"""Seeded, made-up invoices for the fields benchmarks: ``python benchmarks/records.py NAME --cache FOLDER``.

Five values and a list of lines with four values each, all with boxes; predictions have wrong values, shifted boxes,
confidences, and their lines in another order.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

GENERATOR_VERSION = 2  # Part of the cache's key: raise it with any change to the bytes written.
SETS = {  # Documents, lines in each.
    "items10": (1_000, 10),
    "items10x4": (4_000, 10),
    "items100": (60, 100),
    "items100x3": (180, 100),
    "items100x20": (1_200, 100),
    "records2k": (2_000, 10),
    "records20k": (20_000, 10),
    "records100k": (100_000, 10),
}
WORDS = ("amber", "birch", "cedar", "delta", "ember", "falcon", "garnet", "harbor", "indigo", "jasper", "kestrel", "linden")

TEXT = {"type": "str", "comparator": "levenshtein", "threshold": 0.8}
CODE = {"type": "str", "comparator": "exact", "threshold": 1.0}
NUMBER = {"type": "float", "comparator": "numeric", "threshold": 0.95}
LINE = {"description": TEXT, "quantity": NUMBER, "unit_price": NUMBER, "amount": NUMBER}
SCHEMA = {
    "fields": {
        "vendor": TEXT, "number": CODE, "date": CODE, "total": NUMBER, "notes": TEXT,
        "lines": {"type": "list[object]", "match_threshold": 0.7, "fields": LINE},
    }
}  # fmt: skip


def _boxed(chance: random.Random, value: Any) -> dict[str, Any]:
    x, y = chance.randint(0, 900), chance.randint(0, 900)
    return {"_value": value, "_bbox": [x, y, x + chance.randint(20, 120), y + chance.randint(8, 30)]}


def _words(chance: random.Random, count: int) -> str:
    return " ".join(chance.sample(WORDS, count))


def _truth(chance: random.Random, lines: int) -> dict[str, Any]:
    def price(most: int) -> float:
        return round(chance.uniform(1, most), 2)

    return {
        "vendor": _boxed(chance, _words(chance, 2)),
        "number": _boxed(chance, f"INV-{chance.randint(1, 9999)}"),
        "date": _boxed(chance, f"2024-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"),
        "total": _boxed(chance, price(9999)),
        "notes": _boxed(chance, _words(chance, 5)),
        "lines": [
            {
                "description": _boxed(chance, _words(chance, 4)),
                "quantity": _boxed(chance, float(chance.randint(1, 40))),
                "unit_price": _boxed(chance, price(99)),
                "amount": _boxed(chance, price(999)),
            }
            for _ in range(lines)
        ],
    }


def _found(chance: random.Random, truth: Any) -> Any:
    if isinstance(truth, list):
        return [_found(chance, each) for each in truth]
    if "_value" not in truth:
        return {key: _found(chance, each) for key, each in truth.items()}
    value = truth["_value"]
    if chance.random() < 0.15:
        value = value[:-1] + "x" if isinstance(value, str) else value + 1
    box = [edge + chance.randint(-2, 2) for edge in truth["_bbox"]]
    return {"_value": value, "_bbox": box, "_confidence": round(chance.random(), 4)}


def make(name: str, cache: Path) -> dict[str, str]:
    """The files of a set, made if they are not there yet."""
    documents, lines = SETS[name]
    folder = cache / f"fields-{name}-{GENERATOR_VERSION}"
    paths = {file: str(folder / file) for file in ("schema.json", "truth.jsonl", "found.jsonl")}
    if not (folder / "done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "schema.json").write_text(json.dumps(SCHEMA))
        chance = random.Random(name)  # noqa: S311  # data, not secrets
        with open(paths["truth.jsonl"], "w") as truths, open(paths["found.jsonl"], "w") as founds:
            for number in range(documents):
                truth = _truth(chance, lines)
                found = _found(chance, truth)
                chance.shuffle(found["lines"])
                truths.write(json.dumps({"doc_id": f"{number:06}", **truth}) + "\n")
                founds.write(json.dumps({"doc_id": f"{number:06}", **found}) + "\n")
        (folder / "done").touch()
    return paths


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=SETS)
    parser.add_argument("--cache", type=Path, required=True)
    arguments = parser.parse_args()
    print(json.dumps(make(arguments.name, arguments.cache)))
