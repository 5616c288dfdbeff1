"""How the files of several systems are brought together: on one scale, under one naming, with what each says of a document."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import Evaluator
from calque.ceiling import Ceiling
from tests.conftest import Run
from tests.pages import row, write_ndjson
from tests.snapshots import predictions, truth, write

Command = Callable[..., Run]
WIDTH, HEIGHT = 1000, 2000
BOXES = [[10, 20, 110, 220], [200, 300, 400, 500], [500, 1000, 750, 1500]]
"""In pixels of the page; as shares of it their numbers are exact."""


def write_pixels(path: Path, boxes: list[list[int]], **more: Any) -> None:
    about = {"doc": "a.pdf", "page": 0, "category": "Table", "width": WIDTH, "height": HEIGHT, **more}
    path.write_text(json.dumps([{**about, "bbox": box} for box in boxes]))


def write_shares(path: Path, boxes: list[list[int]], **more: Any) -> None:
    found = [("Table", (x1 / WIDTH, y1 / HEIGHT, x2 / WIDTH, y2 / HEIGHT), *more.values()) for x1, y1, x2, y2 in boxes]
    write(path, (predictions if more else truth)({("a.pdf", 0): found}))


@pytest.mark.parametrize("shares", ["truth two", "truth one", "two", "one two", ""])
def test_shares_of_the_page_beside_pixels_are_laid_on_one_scale(calque: Command, tmp_path: Path, shares: str) -> None:
    """Whichever sides are shares: the classes and documents are named once, and nothing else is another."""
    for name, boxes in {"truth": BOXES, "one": BOXES[:2], "two": BOXES[1:]}.items():
        scored = {} if name == "truth" else {"score": 0.5}
        (write_shares if name in shares.split() else write_pixels)(tmp_path / f"{name}.json", boxes, **scored)
    (tmp_path / "map.yaml").write_text("Table: Grid\nGrid: Lost\n")
    given = ("ceiling", "truth.json", "one.json", "two.json", "--class-map", "map.yaml", "--document-key", "stem")
    made = calque(*given, "--format", "json").json
    level = made["levels"]["0.75"]
    assert [level["single"][name]["tp"] for name in ("one", "two")] == [2, 2]
    assert (level["select"]["recall"], level["votes"]["2"]["tp"], level["truth"]) == (1.0, 1, 3)
    assert made["documents"]["counted"] == 1
    assert level["any"]["mean_iou"] == pytest.approx(1.0)


@pytest.mark.parametrize("holder", ["truth", "a", "b"])
def test_systems_are_routed_by_what_any_file_says_of_a_document(calque: Command, tmp_path: Path, holder: str) -> None:
    one, two = [0.0, 0.0, 40.0, 40.0], [100.0, 0.0, 140.0, 40.0]
    sides = {"truth": ([one], [one]), "a": ([one], [two]), "b": ([two], [one])}
    for name, boxes in sides.items():
        told: list[dict[str, Any]] = [{"tongue": "de"}, {"tongue": "en"}] if name == holder else [{}, {}]
        scored = {} if name == "truth" else {"scores": [0.5]}
        rows = [row(f"d{n}", boxes[n], **scored, **told[n]) for n in range(2)]
        write_ndjson(tmp_path / f"{name}.ndjson", rows)
    made = calque("ceiling", "truth.ndjson", "a.ndjson", "b.ndjson", "--by", "tongue", "--format", "json").json
    route = made["levels"]["0.5"]["route"]["by:tongue"]
    assert (route["recall"], route["choice"]) == (1.0, {"de": "a", "en": "b"})


@pytest.mark.parametrize("kind", ["fields", "boxes"])
@pytest.mark.parametrize("holder", [0, 1])
def test_a_document_of_one_system_alone_is_found(kind: str, holder: int) -> None:
    """Whichever of them that is: nobody is told that the sides have no document in common."""
    if kind == "fields":
        task = Ceiling(kind="fields", schema={"fields": {"a": {"type": "str"}}}, id="id")
        truth, mine, other = ([{"id": name, "a": "x"}] for name in ("d", "d", "e"))
    else:
        task = Ceiling(kind="boxes")
        truth, mine, other = (
            [{"doc": name, "page": 0, "category": "x", "bbox": [0, 0, 9, 9], "score": 0.5}] for name in ("d", "d", "e")
        )
    parts = [mine, other] if holder == 0 else [other, mine]
    result = Evaluator(task).update(truth, {"One": parts[0], "Two": parts[1]}).compute()
    assert result.unevaluated is None
    documents = result.ledger.table("documents")
    assert documents.array("in_found").tolist() == [True, True]
    assert documents.array("in_truth").tolist() == [True, False]


def test_a_system_that_is_no_boxes_is_named(tmp_path: Path, calque: Command) -> None:
    write_pixels(tmp_path / "truth.json", BOXES)
    write_pixels(tmp_path / "one.json", BOXES, score=0.5)
    (tmp_path / "two.json").write_text('{"a": "some text", "b": "more"}')
    refused = calque("ceiling", "truth.json", "one.json", "two.json")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("error: two.json: ")
