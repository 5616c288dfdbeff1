"""Words with a lattice: under a gap its candidates, who read them, and the one that the best path takes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import Evaluator, Words
from calque.corpus.words import Lattice
from calque.words import oracle
from calque.words.lattice.lattices import candidates_table

Opener = Callable[..., Any]
SLOTS = [[["the"]], [["quick", "brown"], ["quiet"], []], [["fox"]], [["jumps"], ["junk"]], [["over"]]]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import json

    folder = tmp_path_factory.mktemp("lattice")
    (folder / "lattice.json").write_text(json.dumps({"a": SLOTS}))
    task = Words(lattice=str(folder / "lattice.json"))
    made = Evaluator(task).update({"a": "the quick brown fox jumps over"}, {"a": "the quiet fox jumps over"}).compute()
    made.report(folder / "words.html")
    return folder / "words.html"


def test_candidates_stand_under_their_gap(opened: Opener, report: Path) -> None:
    page = opened(report, "#view=words")
    assert page.locator("[data-word=fn]").count() == 2
    taken = page.locator("[data-candidate=taken]").all_inner_texts()
    offered = page.locator("[data-candidate=offered]").all_inner_texts()
    assert [text.strip("● ").partition("(")[0].strip() for text in taken] == ["quick brown"]
    # Where both texts say the same, nobody asks what else was read.
    assert [text.strip("○ ").strip() for text in offered] == ["quiet", "nothing"]
    lines = page.eval_on_selector_all(".text-line", "nodes => nodes.map(node => node.classList.contains('offered'))")
    assert lines[:2] == [False, True]


@given(
    st.lists(st.lists(st.lists(st.sampled_from("abc"), max_size=2), min_size=1, max_size=3), min_size=1, max_size=5),
    st.lists(st.sampled_from("abc"), max_size=6),
)
def test_every_choice_of_the_path_is_there_with_the_words_between_its_neighbours(
    slots: list[list[list[str]]], truth: list[str]
) -> None:
    import numpy as np

    best = oracle(truth, slots=slots)
    table = candidates_table([best], np.array([0], dtype=np.int32))
    rows = list(table.rows())
    several = [slot for slot in slots if len(slot) > 1]
    assert [row["text"] for row in rows] == [" ".join(words) for slot in several for words in slot]
    picks = [pick for slot, pick in zip(slots, best.path, strict=True) if len(slot) > 1]
    by_choice = [[row for row in rows if row["choice"] == place] for place in range(len(several))]
    assert [[row["taken"] for row in mine].index(True) for mine in by_choice] == picks
    assert all(sum(row["taken"] for row in mine) == 1 for mine in by_choice)
    assert all(0 <= row["first"] <= row["last"] <= len(truth) for row in rows)
    # A true word that a choice gives lies among those that can lie there.
    at, spans = 0, iter(by_choice)
    pairs = {word: place for place, word in best.pairs}
    for slot, pick in zip(slots, best.path, strict=True):
        words = range(at, at + len(slot[pick]))
        at = words.stop
        if len(slot) > 1:
            mine = next(spans)[0]
            assert all(mine["first"] <= pairs[word] < mine["last"] for word in words if word in pairs)


def test_a_lattice_without_choices_offers_nothing() -> None:
    import numpy as np

    best = oracle(["a"], lattice=Lattice.from_slots([[["a"]]]))
    assert candidates_table([best, None], np.array([0, 1], dtype=np.int32)).height == 0
