"""Columns and the comparison one by one come to the same ledger, for any documents: the one is the other's twin."""

from __future__ import annotations

import json
import pickle
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calque import Evaluator, Fields
from calque.base.columns import Strings
from calque.base.errors import ContractError
from calque.corpus.records import RecordCorpus
from calque.evaluation.ledger import Ledger
from calque.fields.columns.batch import plain_ledger
from calque.fields.columns.corpora import side_columns, taker
from calque.fields.columns.layout import MOST_FIELDS, Layout, layout_of
from calque.fields.columns.reading import LeafColumn, ListColumn, SideColumns
from calque.fields.scoring import Piece, Work
from calque.kernels import chosen
from calque.readers import line_records
from calque.readers.line_records import LineRecords
from calque.readers.records import read_records
from tests.examples import examples
from tests.laws.fields import RECORDS, SCHEMA
from tests.unit.fields.test_accounting import anything

LINE = {
    "name": {"type": "str", "threshold": 0.6},
    "amount": {"type": "float", "comparator": "numeric", "threshold": 0.9, "weight": 2.0},
    "day": {"type": "date", "clip": False},
    "code": {"type": "str", "comparator": "exact", "weight": 0.0},
}
PLAIN = {
    "fields": {
        "name": {"type": "str", "threshold": 0.7, "clip": False},
        "note": {"type": "text"},
        "sum": {"type": "amount", "weight": 3.0},
        "count": {"type": "int"},
        "paid": {"type": "bool"},
        "skip": {"type": "str", "comparator": "ignore"},
        "sender": {"type": "object", "threshold": 0.6, "clip": False, "fields": LINE},
        "to": {"type": "object", "weight": 0.5, "fields": {"name": {"type": "str"}}},
        "lines": {"type": "list[object]", "match_threshold": 0.5, "fields": LINE},
        "part": {"type": "list[object]", "fields": {"name": {"type": "str", "comparator": "fuzzy"}}},
    }
}

_texts = st.sampled_from(["acme", "Acme corp", "acme corp 5", "acme corp 6", " ", "", "Ünïcode \U0001f600", "\ud800", "12"])
_numbers = st.sampled_from([0, 1, 12, 12.0, 2.5, -0.0, 1e300, 2**53 + 1, "12", "$1,500.00", "1.500,00 EUR", "soon", 1500])
_days = st.sampled_from(["2024-03-05", "5 March 2024", "2024-03-06", "never", 2024])
_box = st.one_of(
    st.tuples(*[st.integers(0, 9)] * 4).map(list),
    st.tuples(*[st.floats(-5, 5)] * 4).map(list),
    st.sampled_from([
        None, [], [1, 2], [[0, 0], [4, 4]], [0, 0, 5, 5, 2], [1, 2, 3, 4.5], [0, 0, 1e200, 1], [0, 0, 1 << 40, 1], "box",
        [0, 0, True, 1], [3, 3, 0, 0],
    ]),
)  # fmt: skip
_marks = st.fixed_dictionaries(
    {},
    optional={
        "_bbox": _box,
        "_confidence": st.sampled_from([0, 0.25, 0.5, 0.9, 1, None, 7, "sure"]),
        "_page": st.sampled_from([1, 2, None, "2", "iv", 2.0]),
        "_note": st.just({"_value": 1}),
    },
)
_odd = st.sampled_from(
    [[], {}, ["x"], {"_value": {"_value": "x"}}, {"_value": "x", "_alternatives": ["y"]}, {"_bbox": [0, 0, 1, 1]}]
)


def _field(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    wrapped = st.builds(lambda value, marks: {"_value": value, **marks}, values, _marks)
    plain = st.builds(
        lambda value, box, sure: {"_value": value, "_bbox": [*box, box[0] + 2, box[1] + 2], "_confidence": sure},
        values,
        st.tuples(st.integers(0, 4), st.integers(0, 4)),
        st.sampled_from([0.1, 0.5, 0.5, 1]),
    )
    return st.one_of(values, plain, plain, plain, wrapped, st.none(), _odd)


_line = st.one_of(
    st.fixed_dictionaries(
        {}, optional={"name": _field(_texts), "amount": _field(_numbers), "day": _field(_days), "code": _texts}
    ),
    st.fixed_dictionaries({"amount": _numbers, "name": _texts}, optional={"code": _field(_texts)}),
    st.fixed_dictionaries({"name": _field(_texts), "other": _texts}),
    st.sampled_from([None, "line", {}, {"_value": {"name": "acme"}}, {"name": "acme", "_bbox": [0, 0, 1, 1]}]),
)
_plain_line = st.fixed_dictionaries(
    {"name": _texts.filter(bool), "amount": st.sampled_from([1.0, 2.0, 3.5])}, optional={"day": _days}
)
_plain_line |= st.fixed_dictionaries(
    {"other": _texts, "name": _field(_texts), "amount": st.sampled_from([1.0, 2.0])}, optional={"more": _field(_texts)}
)
_plain_lines = st.lists(_plain_line, max_size=4)
DOCUMENTS = st.one_of(
    st.fixed_dictionaries(
        {},
        optional={
            "name": _field(_texts),
            "note": _field(_texts),
            "sum": _field(_numbers),
            "count": _field(_numbers),
            "paid": _field(st.sampled_from([True, False, "yes", 1, "maybe"])),
            "skip": _field(_texts),
            "sender": st.one_of(_plain_line, _plain_line, _line, st.none(), _odd),
            "to": st.fixed_dictionaries({"name": _texts}),
            "lines": st.one_of(_plain_lines, _plain_lines, st.lists(_line, max_size=3), st.none(), _odd),
            "part": st.one_of(st.lists(st.fixed_dictionaries({"name": _texts.filter(bool)}), max_size=3), st.none()),
            "other": st.one_of(_texts, _field(_texts)),
            "more[3]": _texts,
        },
    ),
    st.none(),
    st.sampled_from([[], "text", {"_value": {"name": "acme"}}, {"_bbox": [0, 0, 1, 1]}]),
)
PAIRS = st.lists(st.tuples(DOCUMENTS, DOCUMENTS) | DOCUMENTS.map(lambda record: (record, record)), min_size=1, max_size=6)
SETTINGS = st.fixed_dictionaries({
    "accounting": st.sampled_from(["complete", "paired"]),
    "missing": st.sampled_from(["penalize", "penalize", "intersect"]),
    "boxes": st.sampled_from(["xyxy", "xyxy", "xywh", "polygon"]),
    "keep_outcomes": st.booleans(),
})  # fmt: skip


def corpora(pairs: list[tuple[Any, Any]]) -> tuple[RecordCorpus, RecordCorpus]:
    """Both sides; a side does not have the documents that are ``None``."""
    truth, found = (
        RecordCorpus(
            documents=tuple(number for number, pair in enumerate(pairs) if pair[side] is not None),
            records=[pair[side] for pair in pairs if pair[side] is not None],
            source="truth" if side == 0 else "found",
        )
        for side in (0, 1)
    )
    return truth, found


def assert_same(one: Ledger, other: Ledger) -> None:
    """To the bit, in the same order, under the same names."""
    assert (one.units, one.names, one.details, one.issues) == (other.units, other.names, other.details, other.issues)
    assert one.tables.keys() == other.tables.keys()
    for name, table in one.tables.items():
        assert list(table) == list(other.tables[name])
        for column, values in table.items():
            others = other.tables[name][column]
            if isinstance(values, Strings):
                assert values.tolist() == others.tolist(), (name, column)
            else:
                assert (values.dtype, values.shape) == (others.dtype, others.shape), (name, column)
                assert values.tobytes() == others.tobytes(), (name, column, values, others)


def twins(task: Fields, pairs: list[tuple[Any, Any]]) -> tuple[Ledger, Ledger]:
    truth, found = corpora(pairs)
    piece = Piece(tuple(sorted({*truth.documents, *found.documents})), truth, found)
    work = Work(task)
    return work(piece), work.one_by_one(piece, piece.units)


@examples(400)
@given(PAIRS, SETTINGS)
def test_columns_come_to_the_ledger_of_the_comparison_one_by_one(pairs: list[tuple[Any, Any]], settings: Any) -> None:
    assert_same(*twins(Fields(schema=PLAIN, **settings), pairs))


@examples(200)
@given(st.lists(st.tuples(RECORDS | anything, RECORDS | anything), min_size=1, max_size=4), SETTINGS)
@example([({"lines": ["acme"]}, {"lines": ["acme"]})], {})
def test_documents_that_nobody_expects_are_left_to_the_reference(pairs: list[tuple[Any, Any]], settings: Any) -> None:
    leaves = {name: each for name, each in SCHEMA["fields"].items() if name not in ("sender", "lines", "tags")}
    lines = {"type": "list[object]", "fields": leaves}
    schema = {"fields": {**leaves, "lines": lines, "sender": {"type": "str"}, "tags": lines}}
    assert_same(*twins(Fields(schema=schema, **settings), pairs))


MESSY: dict[str, list[Any]] = {
    "name": ["acme", "acne", "Acme corp", " ", "\t", "", 5, 5.0, True, None, ["x"], {"a": 1}],
    "amount": [1, 1.0, 2.5, "12", "1,5", "soon", True, None, [1], " "],
    "day": ["2024-03-05", "5 March 2024", "never", 2024, None, " "],
    "code": ["a", "A", " ", 7, None],
}


def messy_line(chance: random.Random) -> Any:
    if chance.random() < 0.05:
        return chance.choice([None, "line", 5, []])
    line = {name: chance.choice(values) for name, values in MESSY.items() if chance.random() < 0.8}
    for name in [*line]:
        if chance.random() < 0.2:
            x, y = chance.randrange(5), chance.randrange(5)
            line[name] = {"_value": line[name], "_bbox": [x, y, x + 2, y + 2], "_confidence": chance.choice([0.1, 0.5, 0.9])}
    return line


@pytest.mark.parametrize("accounting", ["complete", "paired"])
@pytest.mark.parametrize("keep_outcomes", [True, False])
def test_items_with_values_of_all_kinds_are_the_same_in_columns(accounting: Any, keep_outcomes: bool) -> None:
    """Blanks beside numbers, values that fit no type, items that are none: many lists at once, of which some are odd."""
    chance = random.Random(f"{accounting} {keep_outcomes}")  # data, not secrets
    pairs = []
    for _ in range(60):
        truth = [messy_line(chance) for _ in range(chance.randrange(5))]
        found = [item if chance.random() < 0.6 else messy_line(chance) for item in truth if chance.random() < 0.9]
        found += [messy_line(chance) for _ in range(chance.randrange(2))]
        chance.shuffle(found)
        pairs.append(({"name": "a", "lines": truth}, {"name": "a", "lines": found}))
    task = Fields(schema=PLAIN, accounting=accounting, keep_outcomes=keep_outcomes)
    assert_same(*twins(task, pairs))
    plain = [({"lines": [line(n) for n in range(3)]}, {"lines": [line(n + n % 2) for n in range(3)]}) for line in (
        lambda n: {"name": [" ", 5, "acme", True][n], "amount": n},
        lambda n: {"name": ["acme", " ", "acme", " "][n], "amount": n},
    )]  # fmt: skip
    assert_same(*twins(task, plain))


@pytest.mark.parametrize("accounting", ["complete", "paired"])
def test_items_can_differ_as_a_whole_though_none_of_their_values_does(accounting: Any) -> None:
    """Names alike enough to be right, in items that are not alike enough to be one."""
    lines = {"type": "list[object]", "match_threshold": 0.95, "fields": {"name": {"type": "str", "threshold": 0.5}}}
    truth, found = ({"lines": [{"name": name}]} for name in ("acme corp 5", "acme corp 6"))
    assert_same(*twins(Fields(schema={"fields": {"lines": lines}}, accounting=accounting), [(truth, found), (truth, truth)]))


def test_documents_that_are_odd_for_two_reasons_are_left_to_the_reference_together() -> None:
    """That a pair is wrong in none of its values is seen only when the one with a value of another type is gone."""
    leaves = {"name": {"type": "str", "threshold": 0.5}, "sum": {"type": "int"}}
    lines = {"type": "list[object]", "match_threshold": 0.99, "fields": leaves}
    unlike = [{"lines": [{"name": name, "sum": 1}]} for name in ("acme corp 5", "acme corp 6")]
    unfit = [{"lines": [{"name": "acme", "sum": value}]} for value in (1, "soon")]
    assert_same(*twins(Fields(schema={"fields": {"lines": lines}}), [tuple(unlike), tuple(unfit), tuple(unlike)]))


@pytest.mark.parametrize(
    ("truth", "found", "outcome"),
    [
        ("x", " ", "fn"), (" ", "x", "fa"), (" ", " ", "tn"), ("x", None, "fn"), (None, "x", "fa"), (" ", None, "tn"),
        ("x", "x", "tp"), ("x", "y", "fd"),
    ],
)  # fmt: skip
def test_in_items_text_of_blanks_is_no_value_where_pairs_are_counted(truth: Any, found: Any, outcome: str) -> None:
    """As stickler counts; elsewhere a blank is a value like any other."""
    leaves = {name: {"type": "str", "comparator": "exact"} for name in ("key", "value")}
    schema = {"fields": {"lines": {"type": "list[object]", "match_threshold": 0.3, "fields": leaves}}}
    task = Fields(schema=schema, accounting="paired")
    expected, predicted = ({"lines": [{"key": "one", "value": value}]} for value in (truth, found))
    counts = Evaluator(task).update([expected], [predicted]).compute().numbers["fields"]["lines.value"]
    assert {name for name in ("tp", "fa", "fd", "fn", "tn") if counts[name]} == {outcome}
    assert_same(*twins(task, [(expected, predicted)]))


def _layout(task: Fields) -> Layout:
    layout = layout_of(task.schema, task.accounting, task.boxes)
    assert layout is not None
    return layout


@examples(200)
@given(st.lists(DOCUMENTS.filter(lambda record: isinstance(record, dict)), min_size=1, max_size=6), SETTINGS)
def test_lines_become_the_columns_of_the_values_they_spell(tmp_path_factory: Any, records: list[Any], settings: Any) -> None:
    file = Path(tmp_path_factory.getbasetemp()) / "records.jsonl"
    file.write_text("".join(json.dumps({"doc_id": str(number), **each}) + "\n" for number, each in enumerate(records)))
    layout = _layout(Fields(schema=PLAIN, **settings))
    lines = read_records(str(file), declared=frozenset(layout.plan.keys))
    trees = RecordCorpus(documents=lines.documents, records=[lines.record(place) for place in range(len(records))])
    units = [*lines.documents, "nobody"]
    (by_line, plain), (by_tree, plain_trees) = (side_columns(layout, side, units) for side in (lines, trees))
    assert not (plain & ~plain_trees).any()
    # What the reader of lines does not take, the other may.
    assert_same_columns(by_line, by_tree.take(np.flatnonzero(plain[plain_trees])))


_lines = st.one_of(
    DOCUMENTS.filter(lambda record: isinstance(record, dict)).map(json.dumps),
    st.sampled_from([
        "", "  ", "[1]", '{"name": "a"', '{"name": "a", "name": "b"}', '{"doc_id": "again"}', '{"other": {"y": 1, "y": 2}}',
        '{"name": {"_value": 1, "x": 1, "x": 2}}', '{"name": {"_value": 1, "x": {"y": 1, "y": 2}}}',
        '{"lines": [{"name": "a", "other": {"y": 1, "y": 2}}]}', '{"skip": {"y": 1, "y": 2}}', '{"other": 1, "other": 2}',
        f'{{"other": {"[" * 120 + "]" * 120}}}',
    ]),
)  # fmt: skip


@examples(200)
@pytest.mark.skipif(chosen() != "native", reason="only compiled readers take lines in while they are found")
@given(st.lists(_lines, min_size=1, max_size=8), st.booleans(), SETTINGS)
def test_small_files_are_read_once_to_the_same_end(tmp_path_factory: Any, lines: list[str], named: bool, settings: Any) -> None:
    file = Path(tmp_path_factory.getbasetemp()) / "small.jsonl"
    own = [json.dumps({"doc_id": f"{number}"})[:-1] + ", " for number in range(len(lines))] if named else ["{"] * len(lines)
    file.write_text("".join(line.replace("{", head, 1) + "\n" for line, head in zip(lines, own, strict=True)))
    layout = _layout(Fields(schema=PLAIN, **settings))
    outcomes = []
    for makes in (None, lambda: taker(layout, 3)):
        try:
            corpus = read_records(str(file), declared=frozenset(layout.plan.keys), taker=makes)
        except ContractError as error:
            outcomes.append((str(error), None, None))
            continue
        parts = [corpus.part(range(start, min(start + 3, len(corpus)))) for start in range(0, len(corpus), 3)]
        outcomes.append((str(corpus.issues), corpus.documents, [side_columns(layout, part, part.documents) for part in parts]))
    (told, units, read_twice), (told_at_once, units_at_once, read_once) = outcomes
    assert (told, units) == (told_at_once, units_at_once)
    for (one, plain), (other, plain_at_once) in zip(read_twice or [], read_once or [], strict=True):
        assert plain.tolist() == plain_at_once.tolist()
        assert_same_columns(one, other)


@pytest.mark.skipif(chosen() != "native", reason="as above")
def test_what_was_made_of_lines_is_used_where_all_are_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "small.jsonl"
    file.write_text("".join(json.dumps({"id": number, "name": "a", "sum": number / 2}) + "\n" for number in range(7)))
    layout = _layout(Fields(schema=PLAIN))
    corpus = read_records(str(file), taker=lambda: taker(layout, 3))
    assert isinstance(corpus.records, LineRecords)
    assert [len(made.columns.boxes) for made in corpus.records.made] == [3, 3, 1]
    second = corpus.records.made[1].columns
    part = corpus.part([3, 4, 5])
    assert side_columns(layout, part, part.documents)[0] is second
    assert corpus.records.made[1] is None
    for rows in ([0, 1], [1, 2, 3], [5, 4, 3], [3, 4, 5], [3, 4, 6]):
        part = corpus.part(rows)
        columns, plain = side_columns(layout, part, part.documents)
        assert plain.all()
        assert [columns.fields[2].values[code] for code in columns.fields[2].codes] == [row / 2 for row in rows]
    assert not pickle.loads(pickle.dumps(corpus.records)).made


def assert_same_columns(one: SideColumns, other: SideColumns) -> None:
    assert one.outside == other.outside
    for name in ("boxes", "ignored_boxes", "unknown"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()
    for mine, theirs in zip(one.fields, other.fields, strict=True):
        if isinstance(mine, ListColumn) and isinstance(theirs, ListColumn):
            assert mine.states.tolist() == theirs.states.tolist()
            assert mine.offsets.tolist() == theirs.offsets.tolist()
            columns = list(zip(mine.leaves, theirs.leaves, strict=True))
        else:
            assert isinstance(mine, LeafColumn)
            assert isinstance(theirs, LeafColumn)
            columns = [(mine, theirs)]
        for first, second in columns:
            assert _values(first) == _values(second)
            for name in ("confidences", "boxes", "pages", "ranks"):
                assert getattr(first, name).tobytes() == getattr(second, name).tobytes(), name


def _values(column: LeafColumn) -> list[Any]:
    return [code if code < 0 else repr(column.values[code]) for code in column.codes.tolist()]


def _invoices() -> list[tuple[Any, Any]]:
    def line(number: int, *, slip: bool = False) -> Any:
        name = f"part {number}" + ("x" if slip else "")
        return {"name": {"_value": name, "_bbox": [0, number, 9, number + 1], "_confidence": 0.5}, "amount": float(number % 3)}

    truth = {
        "name": "Acme",
        "sender": line(7),
        "to": {"name": "me"},
        "sum": 12.5,
        "lines": [line(number) for number in range(5)],
    }
    found = {
        "name": "Acme Corp",
        "sender": line(8, slip=True),
        "sum": 12.5,
        "lines": [line(number, slip=number == 1) for number in (3, 1, 0, 9)],
    }
    return [(truth, found)] * 3


@pytest.mark.parametrize("accounting", ["complete", "paired"])
def test_what_is_plain_is_not_compared_one_by_one(accounting: Any) -> None:
    task = Fields(schema=PLAIN, accounting=accounting)
    truth, found = corpora(_invoices())
    assert plain_ledger(_layout(task), (0, 1, 2), truth, found, outcomes=True).units == (0, 1, 2)
    assert_same(*twins(task, _invoices()))


@pytest.mark.parametrize("accounting", ["complete", "paired"])
def test_a_run_without_outcomes_has_the_numbers_of_one_with_them(accounting: Any) -> None:
    sides = corpora(_invoices())
    numbers = [
        Evaluator(Fields(schema=PLAIN, accounting=accounting, keep_outcomes=kept)).update(*sides).compute().numbers
        for kept in (True, False)
    ]
    assert numbers[0] == numbers[1]


def test_lists_that_need_an_assignment_have_the_pairs_of_the_reference() -> None:
    chance = np.random.default_rng(5)
    for _ in range(30):
        sides = [
            [
                {"name": {"_value": str(chance.choice(["a", "ab", "abc"])), "_bbox": [int(x), 0, int(x) + 1, 1]}}
                for x in chance.integers(0, 9, chance.integers(1, 6))
            ]
            for _ in range(2)
        ]
        for accounting in ("complete", "paired"):
            task = Fields(schema=PLAIN, accounting=accounting)
            assert_same(*twins(task, [({"lines": sides[0]}, {"lines": sides[1]})]))


@pytest.mark.parametrize(("limit", "value"), [("batch.LONG_LISTS", 6), ("comparison.AT_ONCE", 5), ("comparison.AT_ONCE", 20)])
def test_lists_are_compared_some_at_a_time_and_long_ones_one_by_one(
    limit: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"calque.fields.columns.{limit}", value)
    lines = [{"name": f"part {number}", "amount": float(number)} for number in range(5)]
    pairs = [({"lines": lines[:first]}, {"lines": lines[1:last]}) for first in range(5) for last in range(1, 5)]
    for accounting in ("complete", "paired"):
        assert_same(*twins(Fields(schema=PLAIN, accounting=accounting), pairs))


@pytest.mark.parametrize(
    "field",
    [
        {"type": "object", "fields": {"a": {"type": "list[str]"}}},
        {"type": "list[str]"},
        {"type": "str", "default": "x"},
        {"type": "str", "alias": "y"},
        {"type": "list[object]", "match_key": "a", "fields": {"a": {"type": "str"}}},
        {"type": "str", "comparator": "one_of"},
    ],
)
def test_what_columns_do_not_hold_has_no_layout(field: Any) -> None:
    task = Fields(schema={"fields": {"field": field}})
    assert layout_of(task.schema, task.accounting, task.boxes) is None


@pytest.mark.parametrize("fields", [MOST_FIELDS, MOST_FIELDS + 1])
def test_wide_records_are_written_in_order(fields: int) -> None:
    names = [f"field{number}" for number in range(fields)]
    task = Fields(schema={"fields": {name: {"type": "str"} for name in names}})
    assert (layout_of(task.schema, task.accounting, task.boxes) is None) == (fields > MOST_FIELDS)
    sides = [{name: {"_value": f"{name} {side}", "_confidence": 0.5, "_bbox": [0, 0, 1, 1]} for name in names} for side in "ab"]
    assert_same(*twins(task, [(sides[0], sides[1]), (sides[1], sides[1])]))


@given(st.data())
def test_lines_in_blocks_are_the_lines(tmp_path_factory: Any, data: Any) -> None:
    file = Path(tmp_path_factory.getbasetemp()) / "blocks.jsonl"
    texts = data.draw(st.lists(st.sampled_from(["x", "longer text " * 9, "é"]), min_size=1, max_size=9))
    file.write_text("".join(json.dumps({"a": text}) + data.draw(st.sampled_from(["\n", "\r\n", "\n\n"])) for text in texts))
    records = read_records(str(file)).records
    assert isinstance(records, LineRecords)
    rows = data.draw(st.lists(st.integers(-1, len(texts) - 1), max_size=20) | st.just(list(range(len(texts)))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_records, "BLOCK", data.draw(st.sampled_from([1, 40, 1 << 18])))
        blocks = list(records.blocks(rows))
    lines = [text[start : start + size] for text, starts, sizes in blocks for start, size in zip(starts, sizes, strict=True)]
    assert lines == [b"{}" if row < 0 else records.line(row) for row in rows]


def test_a_run_by_columns_imports_no_masked_arrays() -> None:
    """They are a tenth of a short command's time."""
    script = """
import sys
from calque import Evaluator, Fields
record = {"id": "a", "n": {"_value": 5, "_confidence": 0.5, "_bbox": [0, 0, 1, 1]}, "day": "2024-03-05", "l": [{"t": "x"}]}
items = {"type": "list[object]", "fields": {"t": {"type": "str"}}}
schema = {"fields": {"n": {"type": "int"}, "day": {"type": "date"}, "l": items}}
Evaluator(Fields(schema=schema), keep="numbers").update([record], [record]).compute().to_json()
print("numpy" in sys.modules, "numpy.ma" in sys.modules)
"""
    told = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert told.split() == ["True", "False"]


@pytest.mark.parametrize("keep", ["numbers", "outcomes"])
@pytest.mark.parametrize("truth", [None, ""])
@pytest.mark.parametrize("found", [None, ""])
def test_null_and_an_empty_text_are_not_the_same_to_paired_accounting(truth: Any, found: Any, keep: Any) -> None:
    """Both say nothing, so neither is missed or invented; but who was sure of the one was wrong about the other."""
    task = Fields(schema={"fields": {"a": {"type": "str"}}}, accounting="paired")
    pair = {"d": {"a": truth}}, {"d": {"a": {"_value": found, "_confidence": 0.7}}}
    numbers = Evaluator(task, keep=keep).update(*pair).compute().to_dict()
    assert numbers["fields"]["a"]["tn"] == 1
    brier = numbers["confidence_metrics"]["fields"]["a"]["brier_score"]["value"]
    assert brier == pytest.approx(0.09 if truth == found else 0.49)


@pytest.mark.parametrize("begin", [b"", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_the_mark_before_the_first_record_is_no_part_of_it(begin: bytes, tmp_path: Path) -> None:
    lines = [b'{"id": 1, "a": "x"}\n', b'{"id": 2, "a": "y"}\n']
    (tmp_path / "r.jsonl").write_bytes(begin + b"".join(lines))
    corpus = read_records(str(tmp_path / "r.jsonl"))
    assert (corpus.documents, corpus.issues) == ((1, 2), ())
    assert isinstance(corpus.records, LineRecords)
    assert [corpus.records.line(row) for row in range(2)] == lines
