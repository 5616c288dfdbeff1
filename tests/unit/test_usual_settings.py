"""What is meant when nothing is set: the settings that every result names, and limits that stand in two places."""

from __future__ import annotations

import pytest

from calque import Detection, Fields, Layout, Task, Words
from calque.checks import Checks
from calque.core.task import settings
from calque.detection.kinds import Limits
from calque.readers.page_rows import ndjson
from calque.readers.sources import compression, xml_tree
from calque.readers.sources.json_tree import shown
from calque.readers.text import text_files

USUAL: dict[Task, str] = {
    Detection(): "detection | match:greedy | iou:0.5,0.75 | missing:penalize | maxdets:1,10,100",
    Layout(): "layout | match:best-per-truth | boxes:xywh in lists | iou:0.5",
    Words(): "words | match:lcs | tokenizer:whitespace | unicode:NFC",
    Checks(): "checks | evaluators:none",
    Fields(schema={"fields": {"a": {}}}): (
        "fields | schema:99356b0b5104 | accounting:complete | iou:0.5,0.55,0.6,0.65,0.7,0.75,0.8,0.85,0.9,0.95"
        " | missing:penalize"
    ),
}


@pytest.mark.parametrize(("task", "told"), USUAL.items(), ids=[task.name for task in USUAL])
def test_a_signature_always_names_the_settings_that_readers_ask_for(task: Task, told: str) -> None:
    assert str(task.signature()).partition(" | ")[2] == told


@pytest.mark.parametrize("task", USUAL, ids=[task.name for task in USUAL])
def test_every_setting_has_a_key_of_its_own_in_the_signature(task: Task) -> None:
    keys = [note.key for note in settings(task).values() if not (note.view or note.spells)]
    assert all(keys)
    assert len({*keys, *task.fixed}) == len(keys) + len(task.fixed)


def test_the_limits_of_error_kinds_are_those_of_the_setting() -> None:
    assert Limits() == Limits.of(Detection().error_limits)


def test_what_is_too_large_is_what_the_reference_says() -> None:
    assert text_files.LARGEST == xml_tree.LARGEST == ndjson.LONGEST_LINE == 256 * 2**20
    assert (compression.MOST_TIMES, compression.ALWAYS_FINE) == (250, 64 * 2**20)


@pytest.mark.parametrize(("length", "told"), [(58, '"' + "x" * 58 + '"'), (59, '"' + "x" * 58 + "…")])
def test_a_message_shows_sixty_characters_of_a_value(length: int, told: str) -> None:
    assert shown("x" * length) == told
    assert len(told) == 60


@pytest.mark.parametrize("kind", [dict, list])
def test_only_the_first_hundred_children_tell_how_deep_a_value_is(kind: type) -> None:
    def beside(flat: int) -> object:
        children = [*[0] * flat, [[[[0]]]]]
        return dict(enumerate(children)) if kind is dict else children

    assert shown(beside(99)).startswith("a deeply nested")
    assert not shown(beside(100)).startswith("a deeply nested")
