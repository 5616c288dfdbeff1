"""What is meant when nothing is set: the settings that every result names, and limits that stand in two places."""

from __future__ import annotations

import pytest

from calque import Ceiling, Detection, Fields, Layout, Order, Tables, Task, Words
from calque.checks import Checks
from calque.detection.kinds import Limits
from calque.evaluation.task import settings
from calque.readers.page_rows import ndjson
from calque.readers.sources import compression, xml_tree
from calque.readers.sources.json_tree import shown
from calque.readers.text import text_files

USUAL: dict[Task, str] = {
    Detection(): "detection | match:greedy | iou:0.5,0.75 | missing:penalize | maxdets:1,10,100",
    Layout(): "layout | match:best-per-truth | boxes:xywh in lists | iou:0.5",
    Words(): "words | match:lcs | tokenizer:whitespace | unicode:NFC",
    Checks(): "checks | evaluators:none",
    Tables(): "tables | compat:none | unicode:NFC",
    Order(): "order | pair:cover",
    Ceiling(kind="boxes"): "ceiling | kind:boxes | iou:0.5,0.75 | missing:penalize",
    Fields(schema={"fields": {"a": {}}}): (
        "fields | schema:99356b0b5104 | accounting:complete | iou:0.5,0.55,0.6,0.65,0.7,0.75,0.8,0.85,0.9,0.95"
        " | missing:penalize"
    ),
}


@pytest.mark.parametrize(("task", "told"), USUAL.items(), ids=[task.name for task in USUAL])
def test_a_signature_always_names_the_settings_that_readers_ask_for(task: Task, told: str) -> None:
    assert str(task.signature()).partition(" | ")[2] == told


READING = (
    "boxes:auto class-map-pred:none class-map-truth:none class-map:none document-key:none from-pred:none from-truth:none "
    "lenient:no on:shapes origin:top_left page-size:none units:auto"
)
QUIET = {
    "detection": (
        "class-weight:none error-limits:0.5,0.1,0.5,0.7 errors:kinds labels:none min-area:0.0 min-score:none missing-scores:no "
        f"precision-floor:0.0 recall-floor:0.0 {READING}"
    ),
    "layout": READING.removeprefix("boxes:auto "),
    "words": (
        "alto-hyphens:joined characters:none columns:none dehyphenate:none drop:none empty-parens-dropped:no fold:none "
        "from-pred:auto from-truth:auto holdout-fold:none holdout-fraction:none holdout:all ignore:none keep-lang:none "
        "keep-unknown:yes lattice:none level:region min-block-recall:none page-regions:all page-text:none seed:0 "
        "separators:space soft-hyphen-dropped:no source-separator:auto stem-pattern:none stop-words:none substitute:none "
        "zero-width-dropped:no"
    ),
    "checks": "filter:none own:none partial:fail rerun-failed:none tag:none",
    "tables": "adjacency-blanks:count adjacency:2013 fold:none ignore-case:no lenient:no only:none",
    "order": "furniture:header,footer,page-header,page-footer,page-number iou:0.5",
    "ceiling": f"fuse-iou:0.55 id:none labels:none min-score:none schema:none seed:0 splits:20 {READING}",
    "fields": "boxes:xyxy id:none recall-with-fd:no strict:no target-precision:0.99",
}
"""What a signature does not say as long as it is so: those settings, with the values that they stand at."""


@pytest.mark.parametrize("task", USUAL, ids=[task.name for task in USUAL])
def test_what_is_usual_is_known_by_its_name_and_not_said(task: Task) -> None:
    signature = task.signature()
    assert {f"{key}:{signature.settings[key]}" for key in signature.quiet} == {*QUIET[task.name].split()}


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
