"""Random truths and systems of every sort: whatever is printed is what trying everything finds."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from calque import Ceiling, Evaluator
from tests.ceiling.oracle.boxes import Corners, Object, Pages
from tests.ceiling.oracle.fields import Fields

Row = dict[str, Any]
SEEDS = [pytest.param(range(60), id="some"), pytest.param(range(60, 2000), id="many", marks=pytest.mark.long)]


def differences(expected: Any, made: Any, where: str = "") -> list[str]:
    """Where two trees differ; what is printed besides is no difference, but in lists and choices."""
    if isinstance(expected, dict):
        extra = [f"{where}/{key}: not expected" for key in made if key not in expected and where.endswith("/choice")]
        missing = [f"{where}/{key}: missing" for key in expected if key not in made]
        both = [key for key in expected if key in made]
        return [*extra, *missing, *(each for key in both for each in differences(expected[key], made[key], f"{where}/{key}"))]
    if isinstance(expected, list):
        if len(expected) != len(made):
            return [f"{where}: {len(expected)} and {len(made)} entries"]
        return [
            each for at, pair in enumerate(zip(expected, made, strict=True)) for each in differences(*pair, f"{where}/{at}")
        ]
    same = made == pytest.approx(expected, abs=1e-12) if isinstance(expected, float) else made == expected
    return [] if same else [f"{where}: {expected} and {made}"]


def write(folder: Path, name: str, rows: Sequence[Row]) -> str:
    path = folder / f"{name}.ndjson"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def compared(folder: Path, task: Ceiling, truth: Sequence[Row], systems: dict[str, list[Row]]) -> Any:
    files = [write(folder, name, rows) for name, rows in {"t": truth, **systems}.items()]
    return Evaluator(task).update(files[0], files[1:]).compute().to_dict()


def boxes_of(rng: random.Random, near: Sequence[Corners], count: int, size: int) -> list[Corners]:
    found: list[Corners] = []
    for _ in range(count):
        if near and rng.random() < 0.7:
            box = [*rng.choice(near)]
            box[rng.randrange(4)] += rng.choice([-1, 0, 0, 1])
        else:
            left, top = rng.randint(0, size), rng.randint(0, size)
            box = [left, top, left + rng.randint(1, size), top + rng.randint(1, size)]
        found.append([box[0], box[1], max(box[2], box[0] + 1), max(box[3], box[1] + 1)])
    return found


class Drawn:
    """A truth and systems of boxes on pages."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.size = rng, rng.choice([3, 6, 12])
        self.layout = rng.random() < 0.3
        self.labels = ["A", "B", "C"][: rng.randint(1, 3)]
        self.documents = [f"d{place}" for place in range(rng.randint(1, 5))]
        self.near: dict[tuple[str, int], list[Corners]] = {}
        self.truth = [row for document in self.documents for row in self.truth_rows(document)]
        scored = rng.random() < 0.8
        self.systems: dict[str, list[Row]] = {}
        for place in range(rng.choice([1, 2, 2, 3, 3, 4])):
            copied = self.systems and rng.random() < 0.15
            rows = rng.choice([*self.systems.values()]) if copied else self.system_rows(scored=scored)
            self.systems[f"s{place}"] = rows
        self.missing = rng.choice(["penalize", "penalize", "intersect"])
        self.kept = rng.choice([(), (), (), ("A",), ("A", "B")])
        self.min_score = None if self.layout else rng.choice([None, None, 0.5])

    def truth_rows(self, document: str) -> list[Row]:
        rng, rows = self.rng, []
        for number in range(rng.randint(1, 2)):
            boxes = boxes_of(rng, [], rng.randint(0, 4), self.size)
            if boxes and rng.random() < 0.3:
                boxes += boxes_of(rng, boxes, 1, self.size)
            self.near[document, number] = boxes
            row = {"doc_id": document, "page_index": number, "boxes": boxes, "labels": [rng.choice(self.labels) for _ in boxes]}
            if not self.layout and rng.random() < 0.3:
                row["crowd"] = [rng.random() < 0.3 for _ in boxes]
            if number == 0 and rng.random() < 0.7:
                row["kind"] = rng.choice(["x", "y"])
            rows.append(row)
        return rows

    def system_rows(self, *, scored: bool) -> list[Row]:
        rng, rows = self.rng, []
        for document in self.documents:
            if rng.random() < 0.1:
                continue
            for number in (0, 1):
                boxes = boxes_of(rng, self.near.get((document, number), []), rng.randint(0, 5), self.size)
                labels = [rng.choice([*self.labels, *(["Z"] if rng.random() < 0.1 else [])]) for _ in boxes]
                row: Row = {"doc_id": document, "page_index": number, "boxes": boxes, "labels": labels}
                if scored:
                    row["scores"] = [rng.randint(0, 64) / 64 for _ in boxes]
                rows.append(row)
        return rows or [{"doc_id": self.documents[0], "page_index": 0, "boxes": [], "labels": []}]

    def objects(self, rows: Sequence[Row], documents: Sequence[str], system: int, *, crowd: bool) -> list[Object]:
        return [
            Object((row["doc_id"], row["page_index"]), label, [float(edge) for edge in box], score, place, system)
            for row in rows
            if row["doc_id"] in documents
            for place, (box, label, score, crowded) in enumerate(
                zip(
                    row["boxes"],
                    row["labels"],
                    row.get("scores") or [None] * len(row["boxes"]),
                    row.get("crowd") or [False] * len(row["boxes"]),
                    strict=True,
                )
            )
            if crowded is crowd
            and (not self.kept or label in self.kept)
            and not (system >= 0 and self.min_score is not None and score is not None and score < self.min_score)
        ]

    def pages(self, levels: Sequence[float], fuse_iou: float) -> Pages:
        sides = [{row["doc_id"] for row in rows} for rows in (self.truth, *self.systems.values())]
        known = [document for document in self.documents if any(document in side for side in sides)]
        counted = [document for document in known if self.missing == "penalize" or all(document in side for side in sides)]
        kinds = {row["doc_id"]: row["kind"] for row in self.truth if "kind" in row}
        return Pages(
            names=[*self.systems],
            documents=counted,
            truths=self.objects(self.truth, counted, -1, crowd=False),
            crowds=self.objects(self.truth, counted, -1, crowd=True),
            systems=[self.objects(rows, counted, at, crowd=False) for at, rows in enumerate(self.systems.values())],
            layout=self.layout,
            levels=levels,
            fuse_iou=fuse_iou,
            columns={"kind": kinds} if kinds else {},
        )


@pytest.mark.parametrize("seeds", SEEDS)
def test_boxes_and_blocks(seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        rng = random.Random(seed)
        drawn = Drawn(rng)
        levels = rng.choice([(0.5, 0.75), (0.5,), (0.3, 0.5), (1.0,), (0.1, 0.6)])
        fuse_iou, splits, first = rng.choice([0.55, 0.55, 0.3, 0.9]), rng.choice([3, 8]), rng.choice([0, 5])
        pages = drawn.pages(levels, fuse_iou)
        task = Ceiling(
            kind="layout" if drawn.layout else "boxes", iou=levels, fuse_iou=fuse_iou, splits=splits, seed=first,
            missing=drawn.missing, labels=drawn.kept, min_score=drawn.min_score, by=tuple(pages.columns),
        )  # fmt: skip
        made = compared(tmp_path, task, drawn.truth, drawn.systems)
        for level in levels:
            expected = pages.level(level, splits, first)
            assert not differences(expected, made["levels"][repr(level)]), (seed, level)


SCHEMA = {
    "fields": {
        "vendor": {"type": "str", "comparator": "levenshtein", "threshold": 0.8, "weight": 1.0},
        "number": {"type": "str", "comparator": "exact", "threshold": 1.0, "weight": 1.0},
        "total": {"type": "float", "comparator": "numeric", "threshold": 1.0, "weight": 1.0},
        "address": {
            "type": "object",
            "fields": {
                "city": {"type": "str", "comparator": "levenshtein", "threshold": 0.6, "weight": 1.0},
                "codes": {"type": "list[str]", "comparator": "exact", "threshold": 1.0},
            },
        },
        "items": {
            "type": "list[object]",
            "match_threshold": 0.6,
            "fields": {
                "name": {"type": "str", "comparator": "levenshtein", "threshold": 0.8, "weight": 1.0},
                "qty": {"type": "float", "comparator": "numeric", "threshold": 1.0, "weight": 2.0},
                "price": {"type": "float", "comparator": "numeric", "threshold": 1.0, "weight": 1.0},
                "size": {
                    "type": "object",
                    "weight": 0.5,
                    "fields": {
                        "unit": {"type": "str", "comparator": "exact", "threshold": 1.0, "weight": 1.0},
                        "value": {"type": "float", "comparator": "numeric", "threshold": 1.0, "weight": 3.0},
                    },
                },
                "codes": {"type": "list[str]", "comparator": "exact", "threshold": 1.0, "weight": 1.0},
                "parts": {
                    "type": "list[object]",
                    "match_threshold": 0.5,
                    "weight": 1.5,
                    "fields": {
                        "code": {"type": "str", "comparator": "levenshtein", "threshold": 0.8, "weight": 1.0},
                        "count": {"type": "float", "comparator": "numeric", "threshold": 1.0, "weight": 2.0},
                        "marks": {"type": "list[str]", "comparator": "exact", "threshold": 1.0, "weight": 1.0},
                    },
                },
            },
        },
        "tags": {"type": "list[str]", "comparator": "exact", "threshold": 1.0},
    }
}


def text(rng: random.Random) -> str | None:
    return rng.choice(["Acme Ltd", "acme  ltd", "Acme Lt", "Orbis", "orbi", "", None, "K\u00f6ln"])


def part_of(rng: random.Random) -> Row:
    marks = [rng.choice(["x", "y"]) for _ in range(rng.randint(0, 2))]
    return {"code": rng.choice(["bolt", "bolts", "nut", None]), "count": rng.choice([1, 2, None]), "marks": marks}


def record_of(rng: random.Random) -> Row:
    def maybe(value: Any) -> Any:
        return value if rng.random() < 0.8 else None

    def some(values: Sequence[Any]) -> list[Any]:
        return [rng.choice(values) for _ in range(rng.choice([0, 1, 1, 2, 3]))]

    items = [
        {
            "name": text(rng), "qty": maybe(rng.randint(1, 3)), "price": maybe(rng.randint(1, 9) / 2),
            "size": maybe({"unit": maybe(rng.choice(["mm", "in"])), "value": maybe(rng.randint(1, 2))}),
            "codes": maybe(some(["1", "2", "3"])),
            "parts": maybe([part_of(rng) for _ in some([0])]),
        }
        for _ in some([0])
    ]  # fmt: skip
    address = maybe({"city": text(rng), "codes": some(["1", "2", "3"])})
    return {
        "vendor": text(rng), "number": maybe(rng.choice(["A1", "B2"])), "total": maybe(rng.randint(1, 4)), "address": address,
        "items": maybe(items), "tags": some(["x", "y", "z"]),
    }  # fmt: skip


def altered(rng: random.Random, record: Row) -> Row:
    """A record as a system reads it: most of it is right, lists come in another order."""
    other = record_of(rng)
    made = {key: other[key] if rng.random() < 0.25 else json.loads(json.dumps(value)) for key, value in record.items()}
    for key in ("items", "tags"):
        if isinstance(made[key], list) and rng.random() < 0.5:
            rng.shuffle(made[key])
    for item in made["items"] or []:
        if rng.random() < 0.5:
            key = rng.choice([*item])
            item[key] = rng.choice([None, {"size": {"unit": "mm"}, "codes": ["2"], "parts": [{"code": "nut"}]}.get(key, 2)])
        for part in item.get("parts") or []:
            if rng.random() < 0.3:
                part["count"] = rng.randint(1, 3)
        rng.shuffle(item["parts"] if item.get("parts") and rng.random() < 0.5 else [])
    return {key: value for key, value in made.items() if rng.random() < 0.95}


def fields_of(rng: random.Random) -> tuple[dict[str, Row], dict[str, dict[str, Row]]]:
    documents = [f"d{place}" for place in range(rng.randint(1, 4))]
    truth = {document: record_of(rng) for document in documents if rng.random() < 0.95}
    systems: dict[str, dict[str, Row]] = {}
    for place in range(rng.choice([1, 2, 3, 3, 4])):
        own = {each: altered(rng, truth.get(each) or record_of(rng)) for each in documents if rng.random() < 0.92}
        systems[f"s{place}"] = rng.choice([*systems.values()]) if systems and rng.random() < 0.1 else own
    return truth, systems


@pytest.mark.parametrize("seeds", SEEDS)
def test_records(seeds: range, tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps(SCHEMA))
    judged = 0
    for seed in seeds:
        rng = random.Random(seed)
        truth, systems = fields_of(rng)
        missing, splits = rng.choice(["penalize", "intersect"]), rng.choice([3, 8])
        sides = [truth, *systems.values()]
        if not all(sides):
            continue
        known = sorted({document for side in sides for document in side})
        counted = [document for document in known if missing == "penalize" or all(document in side for side in sides)]
        rows = [[{"doc_id": document, **record} for document, record in side.items()] for side in sides]
        spoken = {document: rng.choice(["en", "de"]) for document in known if rng.random() < 0.8}
        (tmp_path / "more.csv").write_text("doc_id,tongue\n" + "".join(f"{each},{told}\n" for each, told in spoken.items()))
        by = {"by": ("tongue",), "metadata": str(tmp_path / "more.csv")} if {*spoken} & {*truth} else {}
        task = Ceiling(kind="fields", schema=str(schema), missing=missing, splits=splits, **by)
        columns = {"tongue": {document: spoken.get(document, "") for document in counted}} if by else {}
        expected = Fields(SCHEMA, truth, systems, counted).numbers(splits, 0, columns)
        judged += 1
        made = compared(tmp_path, task, rows[0], dict(zip(systems, rows[1:], strict=True)))
        assert not differences(expected, made["levels"]["value"]), seed
    assert judged > len(seeds) / 4
