"""ALTO's composed blocks that only hold others together are no objects: noted with their count, and what is inside is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from calque import read
from tests.conftest import Run

PAGE = """<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout><Page ID="p" WIDTH="100" HEIGHT="100"><PrintSpace>
{}
</PrintSpace></Page></Layout></alto>
"""
INSIDE = '<TextBlock ID="t{0}" HPOS="1" VPOS="{0}" WIDTH="3" HEIGHT="1"/>'


def group(number: int, kind: str) -> str:
    return f'<ComposedBlock ID="c{number}"{kind} HPOS="0" VPOS="0" WIDTH="9" HEIGHT="9">{INSIDE.format(number)}</ComposedBlock>'


@pytest.mark.parametrize("kind", ["", ' TYPE="container"', ' TYPE="CONTAINER"', ' TYPE="group"'])
@pytest.mark.parametrize("groups", [1, 3])
def test_groups_are_noted_and_their_blocks_are_read(tmp_path: Path, kind: str, groups: int) -> None:
    path = tmp_path / "a.xml"
    path.write_text(PAGE.format("\n".join(group(number, kind) for number in range(groups))))
    corpus = read(path, side="ground_truth")
    assert len(corpus) == groups  # type: ignore[arg-type]  # a corpus of boxes
    noted = [issue for issue in corpus.issues if issue.code == "block-group"]
    assert sum(issue.count for issue in noted) == groups
    assert str(noted[0].severity) == "note"


def test_a_composed_block_of_another_type_is_an_object(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(PAGE.format(group(0, ' TYPE="table"')))
    corpus = read(path, side="ground_truth")
    assert len(corpus) == 2  # type: ignore[arg-type]  # a corpus of boxes
    assert not [issue for issue in corpus.issues if issue.code == "block-group"]


def test_the_note_reaches_people(calque: Callable[..., Run], tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(PAGE.format(group(0, ' TYPE="container"') + group(1, ' TYPE="container"')))
    told = "a composed block that only holds others together is no object; those inside were read"
    assert f"{told} (2 times)" in calque("validate", "a.xml").out
    assert f"{told} (4 times)" in calque("layout", "a.xml", "a.xml").out, "on both sides"
    assert f"{told} (2 times)" in calque("convert", "a.xml", "out.json", "--to", "coco").err
