"""Tags on a page: the name of every error can be read, however its boxes lie, and none stands over another."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import Corpus, Detection, Evaluator, Layout
from tests.report.made import Reports
from tests.report.test_safety import HOSTILE
from tests.report.test_safety import MADE as HOSTILE_MADE

Opener = Callable[..., Any]
MOST = 14
"""With more errors than these a page tags only the chosen one."""
TAGS = """
() => {
  const of = (node) => node.getBoundingClientRect();
  const page = of(document.querySelector("[data-viewer] svg.page")), slack = 0.6;
  const tags = [...document.querySelectorAll("[data-tag]")], boxes = tags.map((tag) => of(tag.querySelector("rect")));
  const before = (a, b) => a.right <= b.left + slack || a.bottom <= b.top + slack;
  const apart = (a, b) => before(a, b) || before(b, a);
  const across = (a, b) => a.left >= b.left - slack && a.right <= b.right + slack;
  const inside = (a, b) => across(a, b) && a.top >= b.top - slack && a.bottom <= b.bottom + slack;
  const told = (wrong) => tags.filter((tag, at) => wrong(boxes[at], at, tag)).map((tag) => tag.textContent);
  return {
    tags: tags.map((tag) => tag.dataset.tag),
    meeting: told((box, at) => boxes.slice(at + 1).some((other) => !apart(box, other))),
    covering: told((box) => [...document.querySelectorAll("[data-stop]")].some((stop) => !apart(of(stop), box))),
    outside: told((box) => !inside(box, page)),
    longer: told((box, _, tag) => !across(of(tag.querySelector("text")), box)),
  };
}
"""
NAMES = (
    *HOSTILE,
    "",
    "W" * 30,
    "表と図版の見出し" * 4,
    "نص طويل جدا من اليمين",
    "m" * 23,
    "a",
    "\U0001f4c8" * 12,
    "e\u0301" * 12,
)


def missed(folder: Path, boxes: list[list[float]], labels: list[str], size: tuple[int, int]) -> Path:
    """The report of one page on which nothing was found."""
    page = {"doc_id": "a", "page_index": 0, "width": size[0], "height": size[1]}
    (folder / "truth.ndjson").write_text(json.dumps({**page, "boxes": boxes, "labels": labels}))
    (folder / "found.ndjson").write_text(json.dumps({**page, "boxes": [], "labels": [], "scores": []}))
    result = Evaluator(Detection(units="pixels")).update(folder / "truth.ndjson", folder / "found.ndjson").compute()
    result.report(folder / "missed.html")
    return folder / "missed.html"


def crowded(folder: Path, seed: int) -> Path:
    """As many errors as are tagged, of which many lie at or near one place, under names of every sort."""
    draw = random.Random(seed)
    size = draw.choice([(1000, 1400), (1400, 1000), (600, 6000)])
    spots = [(draw.uniform(0, size[0] - 30), draw.uniform(0, size[1] - 30)) for _ in range(draw.randint(1, 3))]
    boxes = []
    for _ in range(MOST):
        x, y = draw.choice(spots)
        x, y = (max(0, place + draw.choice([0, 0, draw.uniform(-20, 20)])) for place in (x, y))
        boxes.append([x, y, min(size[0], x + draw.choice([5, 100])), min(size[1], y + draw.choice([5, 100]))])
    return missed(folder, boxes, [draw.choice(NAMES) for _ in boxes], size)


def is_fine(found: dict[str, Any]) -> None:
    assert [found[name] for name in ("meeting", "covering", "outside", "longer")] == [[], [], [], []]


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 12))])
def test_every_error_has_its_tag_and_none_stands_over_another(opened: Opener, tmp_path: Path, seed: int) -> None:
    found = opened(crowded(tmp_path, seed), "#view=pages").evaluate(TAGS)
    is_fine(found)
    assert len(set(found["tags"])) == MOST


def test_boxes_that_are_one_have_a_tag_each(opened: Opener, tmp_path: Path) -> None:
    box = [[100, 100, 300, 200]]
    task = Evaluator(Layout()).update(Corpus.from_arrays(box, ["text"]), Corpus.from_arrays(box, ["table"]))
    task.compute().report(tmp_path / "one.html")
    found = opened(tmp_path / "one.html", "#view=pages").evaluate(TAGS)
    is_fine(found)
    assert sorted(found["tags"]) == ["p0", "t0"]


def test_where_there_is_no_room_the_chosen_one_has_it(opened: Opener, tmp_path: Path) -> None:
    path = missed(tmp_path, [[10, 10, 90, 40]] * MOST, ["W" * 24] * MOST, (1000, 60))
    for chosen in ("t0", "t9"):
        found = opened(path, f"#view=pages&object={chosen}").evaluate(TAGS)
        is_fine(found)
        assert chosen in found["tags"]
        assert len(found["tags"]) < MOST


@pytest.mark.parametrize("name", ["layout", "detection", "order", "ceiling"])
def test_no_page_of_hostile_names_has_tags_over_each_other(opened: Opener, reports: Reports, tmp_path: Path, name: str) -> None:
    HOSTILE_MADE[name]().report(tmp_path / "hostile.html")
    for path in (tmp_path / "hostile.html", reports[name]):
        page = opened(path, "#view=pages")
        for _ in range(8):
            is_fine(page.evaluate(TAGS))
            page.keyboard.press("j")
