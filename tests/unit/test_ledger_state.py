"""Ledgers, the bytes they are kept as, and the evaluator that holds them."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xxhash import xxh3_128

from calque import CalqueError, ConfigError, ContractError, Corpus, Detection, Evaluator, MergeError
from calque.base.columns import Strings, Table
from calque.base.files import file_stamp, write_whole
from calque.evaluation.ledger import UNIT, Ledger, joint_names
from calque.evaluation.storage import state
from calque.evaluation.storage.state import pack, unpack
from tests.snapshots import valid_predictions, valid_truth
from tests.states import column_bytes, opened_state, sealed_state


def ledger(units: tuple[int | str, ...], rows: list[tuple[int, str, float]], names: tuple[str, ...] = ("x", "y")) -> Ledger:
    """A ledger with one table: unit, a coded name and a value."""
    table = Table({
        UNIT: np.array([row[0] for row in rows], dtype=np.int32),
        "name": np.array([names.index(row[1]) for row in rows], dtype=np.int32),
        "value": np.array([row[2] for row in rows]),
        "id": Strings.pack([f"{row[2]}" for row in rows]),
    })  # fmt: skip
    return Ledger(units=units, tables={"t": table}, names={"name": names}, details=frozenset({("t", "id")}))


def test_ledgers_join_in_canonical_order_with_joint_names() -> None:
    one = ledger(("b", "d"), [(0, "y", 1.0), (1, "x", 2.0)])
    two = ledger((7, "c"), [(0, "z", 3.0), (0, "y", 4.0), (1, "a", 5.0)], names=("a", "y", "z"))
    for order in ([one, two], [two, one]):
        joint = Ledger.concat(order)
        assert joint.units == (7, "b", "c", "d")
        assert joint.names == {"name": ("a", "x", "y", "z")}
        rows = [(joint.units[r[UNIT]], joint.names["name"][r["name"]], r["value"], r["id"]) for r in joint.table("t").rows()]
        assert rows == [
            (7, "z", 3.0, "3.0"),
            (7, "y", 4.0, "4.0"),
            ("b", "y", 1.0, "1.0"),
            ("c", "a", 5.0, "5.0"),
            ("d", "x", 2.0, "2.0"),
        ]
        assert joint.offsets("t").tolist() == [0, 2, 3, 4, 5]
        assert joint.absolute("t", np.array([0, 3]), np.array([1, 0])).tolist() == [1, 4]


def test_a_split_is_a_selection_for_each_group() -> None:
    rows = [(0, "x", 1.0), (0, "y", 2.0), (1, "x", 3.0), (3, "y", 4.5), (4, "x", 5.0), (4, "x", 6.25)]
    whole = ledger((7, 8, "a", "b", "c"), rows)
    groups = np.array([2, 0, 0, 2, 0])
    for group, part in enumerate(whole.split(groups, 4)):
        units = [unit for unit, code in zip(whole.units, groups.tolist(), strict=True) if code == group]
        alone = whole.select(units)
        assert (part.units, part.names, part.details) == (alone.units, alone.names, alone.details)
        assert list(part.table("t").rows()) == list(alone.table("t").rows())
        assert part.table("t").array(UNIT).dtype == np.int32


def test_a_single_ledger_is_itself() -> None:
    one = ledger(("a",), [])
    assert Ledger.concat([one]) is one


def test_details_can_be_let_go() -> None:
    slim = ledger(("a",), [(0, "x", 1.0)]).without_details()
    assert list(slim.table("t")) == [UNIT, "name", "value"]
    joint = Ledger.concat([slim, ledger(("b",), [(0, "y", 2.0)])])
    assert list(joint.table("t")) == [UNIT, "name", "value"]
    assert joint.details == frozenset()
    parts = [{"name": ("x", "z"), "word": ("w",)}, {"name": ("y",)}]
    assert joint_names(parts) == joint_names(parts[::-1]) == {"name": ("x", "y", "z")}  # what one has let go of means nothing


@pytest.mark.parametrize(
    ("units", "rows"),
    [
        (("b", "a"), []),
        (("a", "a"), []),
        (("a", 1), []),
        (("a", "b"), [(1, "x", 0.0), (0, "x", 0.0)]),
        (("a",), [(1, "x", 0.0)]),
        (("a",), [(-1, "x", 0.0)]),
    ],
)
def test_ledgers_out_of_order_are_refused(units: tuple[int | str, ...], rows: list[tuple[int, str, float]]) -> None:
    with pytest.raises(ValueError, match=r"order|canonical"):
        ledger(units, rows)


def test_documents_seen_twice_are_named() -> None:
    many = tuple(f"d{k}" for k in range(8))
    with pytest.raises(MergeError, match=r"seen twice: document 'd0', 'd1', 'd2', 'd3', 'd4' and 3 more"):
        Ledger.concat([ledger(many, []), ledger(many, [])])


# Bytes.


def test_a_state_gives_back_header_and_ledger() -> None:
    one = ledger((3, "a"), [(0, "x", float("nan")), (1, "y", 2.5)])
    header, again = unpack(pack({"hello": ["ü", None]}, one), "")
    assert header == {"hello": ["ü", None]}
    assert (again.units, again.names, again.details) == (one.units, one.names, one.details)
    for key, column in one.table("t").columns.items():
        other = again.table("t")[key]
        if isinstance(column, Strings):
            assert isinstance(other, Strings)
            assert other.tolist() == column.tolist()
        else:
            assert np.asarray(other).tobytes() == column.tobytes()
            assert np.asarray(other).dtype == column.dtype


@dataclass(frozen=True)
class Whole:
    """Something else in place of the header."""

    whole: object


def forged(change: Any) -> bytes:
    """A state whose header was changed by hand, with a checksum that fits."""
    text, columns = opened_state(Evaluator(Detection()).update(valid_truth(), valid_predictions()).state())
    header = json.loads(text)
    replaced = change(header)
    return sealed_state(json.dumps(replaced.whole if isinstance(replaced, Whole) else header).encode(), columns)


def first_column(header: dict[str, Any]) -> dict[str, Any]:
    column: dict[str, Any] = header["ledger"]["tables"]["truth"]["iou"]
    return column


def test_an_unchanged_forgery_is_a_state() -> None:
    assert Evaluator.from_state(forged(lambda header: None)).compute()["recall@0.5"] == 0.5


@pytest.mark.parametrize(
    "change",
    [
        lambda h: h.pop("ledger"),
        lambda h: h.pop("signature"),
        lambda h: h.pop("keep"),
        lambda h: h.update(issues=[{}]),
        lambda h: h.update(issues=7),
        lambda h: h.update(sources={"truth": [7]}),
        lambda h: h.update(fields=[]),
        lambda h: h["fields"].update(unknown=1),
        lambda h: h["fields"].update(iou="high"),
        lambda h: h["fields"].update(iou=[7]),
        lambda h: h["signature"].update(task="nonsense"),
        lambda h: h["signature"].pop("settings"),
        lambda h: h["ledger"].update(units=["b.pdf", "a.pdf"]),
        lambda h: h["ledger"].update(units=[[]]),
        lambda h: h["ledger"].update(tables=[]),
        lambda h: h["ledger"].update(details=[1]),
        lambda h: first_column(h).update(dtype="|O"),
        lambda h: first_column(h).update(dtype="nonsense"),
        lambda h: first_column(h).update(shape=[1_000_000]),
        lambda h: first_column(h).update(shape=[-1]),
        lambda h: first_column(h).update(shape=["x"]),
        lambda h: first_column(h).pop("shape"),
        lambda h: Whole([1, 2]),
        lambda h: Whole("text"),
    ],
)
def test_a_state_changed_by_hand_is_refused(change: Any) -> None:
    with pytest.raises((ContractError, ConfigError)):
        Evaluator.from_state(forged(change), file="forged")


@pytest.mark.parametrize("name", ["class_map", "class_map_truth", "class_map_pred", "metadata"])
def test_a_state_that_names_a_file_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "there.yaml").write_text("Figure: Picture")
    path = str(tmp_path / "there.yaml")
    with pytest.raises(ContractError, match=f"the setting {name} is '{path}', which would have to be looked up"):
        Evaluator.from_state(forged(lambda h: h["fields"].update({name: path})))


def test_a_state_keeps_the_content_of_files_and_not_their_names(tmp_path: Path) -> None:
    (tmp_path / "names.yaml").write_text("Figure: Picture")
    (tmp_path / "years.csv").write_text("doc_id,year\na.pdf,2024\n")
    task = Detection(class_map=tmp_path / "names.yaml", metadata=str(tmp_path / "years.csv"), by=("year",))  # type: ignore[arg-type]
    evaluator = Evaluator(task).update(valid_truth(), valid_predictions())
    for file in tmp_path.iterdir():
        file.unlink()
    again = Evaluator.from_state(evaluator.state())
    assert again.task == task
    assert again.compute().numbers == evaluator.compute().numbers


def test_a_state_with_other_numbers_is_refused_and_says_why() -> None:
    with pytest.raises(MergeError, match=r"calque 9\.9 cannot go on here: calque: numbers of 0\.1 and of 9\.0"):
        Evaluator.from_state(forged(lambda h: h["signature"].update(numbers="9.0", version="9.9")), file="x")


def test_a_state_of_another_version_with_the_same_numbers_goes_on() -> None:
    assert Evaluator.from_state(forged(lambda h: h["signature"].update(version="0.1.7"))).compute()["tp@0.5"] == 1


# Files.


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    write_whole(target, b"old")
    with pytest.raises(TypeError):
        write_whole(target, "not bytes")  # type: ignore[arg-type]
    assert target.read_bytes() == b"old"
    write_whole(target, b"new")
    assert target.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["result.json"]


def test_a_file_is_as_readable_as_any_other(tmp_path: Path) -> None:
    write_whole(tmp_path / "a", b"")
    (tmp_path / "b").write_bytes(b"")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_the_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        write_whole(tmp_path / "no" / "x", b"")
    assert caught.value.filename == str(tmp_path / "no" / "x")


# The evaluator.


def one_box(unit: str, **more: Any) -> tuple[Corpus, Corpus]:
    boxes = [[0, 0, 4, 4]]
    return (
        Corpus.from_arrays(boxes, ["a"], documents=[unit], **more),
        Corpus.from_arrays(boxes, ["a"], documents=[unit], scores=[0.5], **more),
    )


def test_nothing_can_be_computed_of_nothing() -> None:
    with pytest.raises(ValueError, match="call update"):
        Evaluator(Detection()).compute()


def test_an_empty_shard_adds_nothing() -> None:
    full = Evaluator(Detection()).update(*one_box("a"))
    wanted = full.compute().to_json()
    assert full.merge(Evaluator(Detection())).compute().to_json() == wanted
    assert Evaluator(Detection()).merge(full).compute().to_json() == wanted


def test_a_document_seen_twice_is_refused_and_changes_nothing() -> None:
    evaluator = Evaluator(Detection()).update(*one_box("a"))
    before = evaluator.state()
    with pytest.raises(MergeError, match="document 'a'"):
        evaluator.update(*one_box("a"))
    with pytest.raises(MergeError, match="document 'a'"):
        evaluator.merge(evaluator)
    assert evaluator.state() == before


def test_other_settings_are_refused_with_a_readable_difference() -> None:
    evaluator = Evaluator(Detection()).update(*one_box("a"))
    other = Evaluator(Detection(iou=(0.9,), missing="intersect")).update(*one_box("b"))
    with pytest.raises(MergeError, match=r"different settings: iou: 0\.5,0\.75 and 0\.9; missing: penalize and intersect"):
        evaluator.merge(other)


def test_going_on_after_compute() -> None:
    evaluator = Evaluator(Detection()).update(*one_box("a"))
    first = evaluator.compute()
    evaluator.update(*one_box("b"))
    assert (first["tp@0.5"], evaluator.compute()["tp@0.5"]) == (1, 2)
    assert repr(evaluator).endswith(": 2 documents>")


def test_keeping_numbers_lets_go_of_boxes_and_ids() -> None:
    corpora = one_box("a", ids=["x"])
    rich, slim = (Evaluator(Detection(), keep=keep).update(*corpora) for keep in ("outcomes", "numbers"))  # type: ignore[arg-type]
    assert len(slim.state()) < len(rich.state())
    assert slim.compute().to_json() == rich.compute().to_json()
    assert [row["outcome"] for row in slim.compute().outcomes().rows()] == ["tp", "tp"]
    assert "box" not in slim.compute().outcomes()
    assert Evaluator.from_state(slim.state()).update(*one_box("b")).compute()["tp@0.5"] == 2


def test_load_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"something else")
    with pytest.raises(ContractError, match="not a calque state") as caught:
        Evaluator.load(tmp_path / "x")
    assert str(tmp_path / "x") in str(caught.value)


def test_issues_are_the_same_whichever_shard_comes_first() -> None:
    def shard(unit: str) -> Evaluator:
        tree = valid_truth()
        for document, page in zip(tree["documents"], tree["predictions"], strict=True):
            document["doc_id"] = page["doc_id"] = f"{unit}-{document['doc_id']}"
        # Each shard finds the same kind of issue at a place of its own; which place is shown must not depend on the order.
        tree["predictions"][0]["objects"][int(unit)]["bbox"][2] = 1.0000000000000002
        return Evaluator(Detection(lenient=True)).update(tree, valid_predictions_of(unit))

    def valid_predictions_of(unit: str) -> dict[str, Any]:
        tree = valid_predictions()
        for document, page in zip(tree["documents"], tree["predictions"], strict=True):
            document["doc_id"] = page["doc_id"] = f"{unit}-{document['doc_id']}"
        tree["odd"] = 1
        return tree

    one, two = shard("0").merge(shard("1")), shard("1").merge(shard("0"))
    assert one.state() == two.state()
    assert {issue.code: issue.count for issue in one.issues()} == {"clipped": 2, "unknown-key": 2}


class Counted(str):
    """A document id that counts how often ids are looked up."""

    looked_up = 0

    def __hash__(self) -> int:
        Counted.looked_up += 1
        return super().__hash__()


def test_many_small_updates_cost_about_the_same_each() -> None:
    """Small ledgers are joined like the digits of a binary counter: a document is looked at a few times for each doubling."""
    evaluator = Evaluator(Detection())
    costs = []
    for number in range(64):
        before = Counted.looked_up
        evaluator.add(ledger((Counted(f"{number:03}"),), []))
        costs.append(Counted.looked_up - before)
    assert sum(costs) <= 64 * 4 * 7
    assert costs[1:].count(min(costs[1:])) == 31
    with pytest.raises(MergeError, match="seen twice: document '007'"):
        evaluator.add(ledger(("007",), []))


@pytest.mark.parametrize("mapped", [0, 1 << 20])
def test_a_state_file_is_opened_as_it_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mapped: int) -> None:
    monkeypatch.setattr(state, "MAPPED_BYTES", mapped)
    whole = ledger(("a", "b"), [(0, "x", 1.5), (0, "y", 2.5), (1, "y", 3.5)])
    path = tmp_path / "part.state"
    write_whole(path, pack({"kept": "part"}, whole))
    header, opened, stored = state.open_state(str(path))
    assert header == {"kept": "part"}
    assert list(opened.table("t").rows()) == list(whole.table("t").rows())
    assert (stored is None) == bool(mapped)
    if stored is not None:
        assert list(stored.load()["t"].rows()) == list(whole.table("t").rows())


def test_a_state_file_that_changed_while_in_use_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "MAPPED_BYTES", 0)
    path = tmp_path / "part.state"
    write_whole(path, pack({}, ledger(("a",), [(0, "x", 1.5)])))
    _, _, stored = state.open_state(str(path))
    assert stored is not None
    before = file_stamp(path.stat())
    path.write_bytes(path.read_bytes()[:-20])
    assert file_stamp(path.stat()) != before
    with pytest.raises(CalqueError, match="was changed or removed while it was in use"):
        stored.load()
    path.unlink()
    with pytest.raises(CalqueError, match="was changed or removed while it was in use"):
        stored.load()


def test_the_checksum_of_a_state_is_that_of_all_its_bytes() -> None:
    """Another program can tell whether a file is whole."""
    data = pack({}, ledger(("a", "b"), [(0, "x", 1.5), (1, "y", 3.5)]))
    assert xxh3_128(data[:-16]).digest() == data[-16:]
    for place in (0, len(data) // 2, len(data) - 1):
        with pytest.raises(ContractError):
            unpack(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :], "f")


@pytest.mark.parametrize(
    ("offsets", "data"),
    [
        (np.array([0, 2], dtype=np.int32), np.zeros(2, dtype=np.uint8)),
        (np.array([0, 2]), np.zeros(2, dtype=np.bool_)),
        (np.array([[0, 2]]), np.zeros(2, dtype=np.uint8)),
        (np.array([0, 2]), np.zeros((2, 1), dtype=np.uint8)),
        (np.array([0, 3]), np.zeros(2, dtype=np.uint8)),
        (np.array([1, 2]), np.zeros(2, dtype=np.uint8)),
        (np.array([0, 2, 1, 2])[[0, 1, 2, 3]], np.zeros(2, dtype=np.uint8)),
    ],
)
def test_strings_with_wrong_offsets_are_refused(offsets: Any, data: Any) -> None:
    """Any one thing that is otherwise is enough."""
    rows = max(1, offsets.size - 1)
    note = {name: {"dtype": part.dtype.str, "shape": list(part.shape)} for name, part in (("offsets", offsets), ("data", data))}
    tables = {"t": {UNIT: {"dtype": "<i4", "shape": [rows]}, "word": note}}
    described = {"ledger": {"units": ["a"], "names": {}, "details": [], "tables": tables}}
    columns = column_bytes(bytes(4 * rows)) + column_bytes(offsets.tobytes()) + column_bytes(data.tobytes())
    with pytest.raises(ContractError, match=r"strings|offsets|differ in length"):
        unpack(sealed_state(json.dumps(described).encode(), columns), "a.state")


def test_joint_names_of_a_vocabulary_that_has_grown_keep_their_codes() -> None:
    older, newer = ("counted", "small"), ("counted", "small", "not_annotated")
    assert joint_names([{"status": older}, {"status": newer}]) == {"status": newer}
    assert joint_names([{"status": newer}, {"status": older}]) == {"status": newer}
    assert joint_names([{"label": ("b",)}, {"label": ("a", "b")}]) == {"label": ("a", "b")}
