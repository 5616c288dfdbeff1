"""Boxes are looked at some documents at a time: however few these are, the state has the same bytes."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from calque import Ceiling, Corpus, Evaluator
from calque.base.columns import Strings
from calque.ceiling.boxes import scoring
from calque.ceiling.boxes.growing import GrowingTables
from calque.ceiling.boxes.joint import laid_over, some_at_a_time
from tests.ceiling.test_against_enumeration import Drawn, write


@pytest.mark.parametrize("keep", ["outcomes", "numbers"])
def test_the_state_does_not_depend_on_how_many_boxes_are_looked_at(
    keep: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(25):
        drawn = Drawn(random.Random(seed))
        files = [write(tmp_path, name, rows) for name, rows in {"t": drawn.truth, **drawn.systems}.items()]
        by = ("kind",) if any("kind" in row for row in drawn.truth) else ()
        task = Ceiling(kind="layout" if drawn.layout else "boxes", missing=drawn.missing, labels=drawn.kept, by=by)
        states = []
        for size in (1 << 18, 1, 7):
            monkeypatch.setattr(scoring, "AT_ONCE", size)
            states.append(Evaluator(task, keep=keep).update(files[0], files[1:]).state())
        assert states[0] == states[1] == states[2], seed


def boxes(counts: list[int], name: str = "a") -> Corpus:
    documents = [f"d{place}" for place, count in enumerate(counts) for _ in range(count)]
    return Corpus.from_arrays(
        [[0, 0, 9, 9]] * len(documents),
        [name] * len(documents),
        documents=documents,
        all_documents=[f"d{place}" for place in range(len(counts))],
    )


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_every_document_comes_once_and_whole(size: int) -> None:
    truth, one, two = boxes([2, 0, 1, 4, 0, 0, 1]), boxes([0, 0, 3, 1, 0, 2, 0]), boxes([1] * 7)
    parts = list(some_at_a_time(laid_over(truth, [one, two], "boxes"), size))
    assert [unit for part in parts for unit in part[0].documents] == [f"d{place}" for place in range(7)]
    for overlays in parts:
        for overlay, counts in zip(overlays, ([0, 0, 3, 1, 0, 2, 0], [1] * 7), strict=True):
            own = [counts[int(str(unit)[1:])] for unit in overlay.documents]
            assert np.bincount(overlay.page_document[overlay.found.page], minlength=len(own)).tolist() == own
            assert len(overlay.truth) == overlay.truth.offsets[-1]
    assert (len(parts) == 1) == (size == 100)


def test_parts_that_grow_find_room() -> None:
    """The first of many documents has few rows, and the last has most of them; one table has none before."""
    growing = GrowingTables(4)
    for place, rows in enumerate((1, 1, 2, 50)):
        name = Strings.pack([f"n{place}"] * rows)
        table = {"unit": np.zeros(rows, np.int32), "box": np.full((rows, 2), place), "name": name}
        late = {"unit": np.zeros(rows if place == 3 else 0, np.int32)}
        growing.add(1, {"found": table, "edges": late})
    tables = growing.tables()
    unit = [0, 1, 2, 2, *[3] * 50]
    assert tables["found"]["unit"].tolist() == unit
    assert tables["found"]["box"].tolist() == [[place, place] for place in unit]
    assert tables["found"]["name"].tolist() == [f"n{place}" for place in unit]
    assert tables["edges"]["unit"].tolist() == [3] * 50
