"""Records from files, folders and Python objects: ids, what is left out, what is refused, and where it stands."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Annotated, Any

import pydantic
import pytest

from calque.base.errors import ContractError
from calque.corpus.records import RecordCorpus
from calque.readers.records import read_record_pair, read_records


def told(corpus: RecordCorpus) -> list[tuple[str, str, str, str]]:
    return [(issue.code, issue.file, issue.pointer, issue.message) for issue in corpus.issues]


def records(corpus: RecordCorpus) -> dict[Any, Any]:
    return {unit: corpus.record(place) for place, unit in enumerate(corpus.documents)}


def written(path: Path, text: str | bytes) -> str:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


LINES = '{"doc_id": "a", "x": 1}\n\n{"doc_id": "b", "x": 2}\n'


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("name", ["r.jsonl", "r.json"])
def test_lines_are_records_however_the_file_is_called(tmp_path: Path, name: str, mark: str, packed: bool) -> None:
    data = (mark + LINES).encode()
    path = written(tmp_path / (name + ".gz" * packed), gzip.compress(data) if packed else data)
    corpus = read_records(path)
    assert records(corpus) == {"a": {"x": 1}, "b": {"x": 2}}
    assert (corpus.named, corpus.source, corpus.issues) == (True, path, ())


def test_lines_that_are_no_records_are_left_out(tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", '{"x": 1}\n[2]\n{"x": \n{"x": 3, "x": 4}\n{"x": 5}\n')
    corpus = read_records(path)
    assert records(corpus) == {0: {"x": 1}, 3: {"x": 4}, 4: {"x": 5}}
    assert not corpus.named
    assert [(code, file, place.partition(" column")[0]) for code, file, place, _ in told(corpus)] == [
        ("broken-line", path, "line 2"),
        ("broken-line", path, "line 3"),
        ("duplicate-key", path, "line 4"),
    ]
    assert told(corpus)[0][3] == "holds an array, not an object"
    assert corpus.issues[0].help == "the line is left out"
    with pytest.raises(ContractError) as raised:
        read_records(path, strict=True)
    assert (raised.value.issues[0].file, raised.value.issues[0].pointer) == (path, "line 2")


def test_keys_that_occur_twice_are_told(tmp_path: Path) -> None:
    path = written(tmp_path / "r.json", '{"a": {"x": 1, "x": 2}}')
    corpus = read_records(path)
    assert [(code, pointer) for code, _, pointer, _ in told(corpus)] == [("duplicate-key", "/a")]
    with pytest.raises(ContractError, match="the key 'x' occurs more than once; the last value counts"):
        read_records(path, strict=True)


def test_a_folder_is_named_by_its_files(tmp_path: Path) -> None:
    for name, text in {
        "b.json": '{"id": 7, "x": 1}',
        "a.JSON": '{"x": 2}',
        "no.txt": "{}",
        "bad.json": "{",
        "two.json": '{"x":1,"x":2}',
    }.items():
        written(tmp_path / name, text)
    (tmp_path / "folder.json").mkdir()
    corpus = read_records(tmp_path)
    assert records(corpus) == {"a": {"x": 2}, "b": {"x": 1}, "two": {"x": 2}}
    assert [(code, pointer) for code, _, pointer, _ in told(corpus)] == [
        ("not-read", "folder.json"),
        ("not-read", "no.txt"),
        ("broken-file", "bad.json"),
        ("duplicate-key", "two.json"),
    ]
    assert records(read_records(tmp_path, declared=frozenset({"id"})))["b"] == {"id": 7, "x": 1}
    assert records(read_records(tmp_path, id_key="x"))["b"] == {"id": 7}
    with pytest.raises(ContractError):
        read_records(tmp_path, strict=True)
    (tmp_path / "none").mkdir()
    with pytest.raises(ContractError, match=r"the folder holds no \.json files"):
        read_records(tmp_path / "none")


@pytest.mark.parametrize(
    ("given", "options", "found"),
    [
        ([{"id": 1, "x": 2}], {}, {1: {"x": 2}}),
        ([{"id": 1, "doc_id": "a"}], {}, {"a": {"id": 1}}),
        ([{"id": 1, "doc_id": "a"}], {"declared": frozenset({"doc_id"})}, {1: {"doc_id": "a"}}),
        ([{"id": 1, "k": "z"}], {"id_key": "k"}, {"z": {"id": 1}}),
        ([{"x": 1}, {"x": 2}], {}, {0: {"x": 1}, 1: {"x": 2}}),
        ({"x": 1}, {}, {0: {"x": 1}}),
        ({"a": {"x": 1}, "b": {"x": 2}}, {"declared": frozenset({"x"})}, {"a": {"x": 1}, "b": {"x": 2}}),
        ({"a": {"x": 1}, "b": 2}, {"declared": frozenset({"x"})}, {0: {"a": {"x": 1}, "b": 2}}),
        ({"x": {"y": 1}}, {"declared": frozenset({"x"})}, {0: {"x": {"y": 1}}}),
        ({"a": {"x": 1}}, {}, {0: {"a": {"x": 1}}}),
        ([], {}, {}),
    ],
)
def test_objects(given: Any, options: dict[str, Any], found: dict[Any, Any]) -> None:
    assert records(read_records(given, **options)) == found


def test_what_is_no_record_among_objects_is_told() -> None:
    corpus = read_records([{"x": 1}, 7, {"x": 3}])
    assert records(corpus) == {0: {"x": 1}, 2: {"x": 3}}
    assert told(corpus) == [("broken-record", "", "/1", "holds a number, not an object")]


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ([{"id": 1}, {"x": 2}], {}, "some records have an id and some have none"),
        ([{"id": 1}, {"id": True}], {}, "some records have an id and some have none"),
        ([{"id": 1}, {"id": 1}], {}, "document 1 is there twice"),
        ([{"x": 1}], {"id_key": "k"}, "no record has the key 'k'"),
    ],
)
def test_ids_that_are_refused(given: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ContractError, match=message) as raised:
        read_records(given, **options)
    if "some" in message:
        assert raised.value.issues[0].pointer == "record 2"


@pytest.mark.parametrize("text", ["", "\n\n", "7", '"x"'])
def test_files_without_records(tmp_path: Path, text: str) -> None:
    with pytest.raises(ContractError):
        read_records(written(tmp_path / "r.json", text))
    with pytest.raises(ContractError, match="the file is empty" if not text.strip() else "not an object|holds"):
        read_records(written(tmp_path / "r.jsonl", text), strict=True)


def test_what_cannot_be_read_at_all() -> None:
    for odd in (7, b"x", None):
        with pytest.raises(TypeError, match="cannot read records from a"):
            read_records(odd)


def test_sides_with_ids_on_one_are_paired_by_position() -> None:
    named, plain = [{"id": "a", "x": 1}, {"id": "b", "x": 2}], [{"x": 1}, {"x": 2}]
    for truth, found in ((named, plain), (plain, named)):
        one, other = read_record_pair(truth, found)
        assert one.documents == other.documents == (0, 1)
        assert [issue.code for issue in (*one.issues, *other.issues)] == ["ids-on-one-side"]
        assert not one.named
    for truth, found in ((named, []), (named, named)):
        assert read_record_pair(truth, found)[0].documents == ("a", "b")
        assert read_record_pair(truth, found)[1].issues == ()


@pytest.mark.parametrize(
    ("truth", "found", "message"),
    [
        ([1, 2, 3], [1, "2"], "1 id is text on one side and a number on the other, such as 2: these records do not meet"),
        (
            [1, 2, 3],
            [1, "3", "2"],
            "2 ids are text on one side and a number on the other, such as 2: these records do not meet",
        ),
        ([1, 2], ["1", "2"], ""),
        ([1, 2], [1, 3], ""),
    ],
)
def test_ids_that_are_spelt_in_two_ways(truth: list[Any], found: list[Any], message: str) -> None:
    sides = read_record_pair([{"id": unit} for unit in truth], [{"id": unit} for unit in found])
    assert [issue.message for issue in sides[1].issues] == ([message] if message else [])


def test_deep_records_are_left_out(tmp_path: Path) -> None:
    deep = json.dumps({"x": 1}).replace("1", "[" * 300 + "]" * 300)
    corpus = read_records(written(tmp_path / "r.jsonl", f'{{"x": 1}}\n{deep}\n'))
    assert len(corpus) == 1
    assert corpus.issues[0].code == "broken-line"
    with pytest.raises(ContractError):
        read_records(written(tmp_path / "r.json", deep))


def test_models_of_others_are_read_under_the_names_of_their_json() -> None:
    class Model(pydantic.BaseModel):
        total: float = pydantic.Field(alias="Total")

    @pydantic.dataclasses.dataclass
    class Plain:
        total: Annotated[float, pydantic.Field(alias="Total")]

    for record in (Model(Total=1.5), Plain(Total=1.5)):  # type: ignore[call-arg]  # mypy does not know the alias
        assert read_records([record]).record(0) == {"Total": 1.5}
