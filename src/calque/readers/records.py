"""Records from JSON, JSON Lines and folders: indexed once, parsed again when a document is compared."""

from __future__ import annotations

import json
import os
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import is_dataclass, replace
from functools import partial
from typing import Any

from calque.base.errors import ContractError, Issue, IssueLog, Severity
from calque.base.files import FileStamp, file_stamp
from calque.corpus.boxes import Corpus, UnitId
from calque.corpus.records import RecordCorpus
from calque.engines import process_engine
from calque.kernels import kernels
from calque.readers.line_records import LineRecords, Taker, check_unchanged, whole_lines, without
from calque.readers.record_ids import paired_by_line
from calque.readers.sources import compression, json_tree

ID_KEYS = ("doc_id", "id")
"""Where a record's id is looked for when nobody says, and the schema has no such field."""

LOOK_AHEAD = 1 << 16

DEEPEST = 100
"""Levels of nesting that are compared; what is nested deeper is named and left out."""
TOO_DEEP = f"is nested more than {DEEPEST} levels deep"

LONG = 1 << 24
"""From how many bytes on a file of lines is read in a process of its own, beside the other."""


SMALL = 1 << 23
"""Up to so many bytes a file of lines is read once, and what is made of its records is kept until they are compared."""


class FileRecords(Sequence[Any]):
    """One object for each file of a folder, read when it is asked for, without its id: the file's name is the id.

    A file that is not as it was when the folder was read is refused.
    """

    def __init__(self, paths: Sequence[str], marks: Sequence[FileStamp], declared: frozenset[str], id_key: str | None) -> None:
        self._paths = paths
        self._marks = marks
        self._declared = declared
        self._id_key = id_key

    def __len__(self) -> int:
        return len(self._paths)

    def part(self, rows: Sequence[int]) -> FileRecords:
        """Those in these rows."""
        paths, marks = [self._paths[row] for row in rows], [self._marks[row] for row in rows]
        return FileRecords(paths, marks, self._declared, self._id_key)

    def __getitem__(self, index: Any) -> Any:
        path = self._paths[index]
        data = json_tree.read_bytes(path)
        check_unchanged(path, self._marks[index])
        record = json_tree.parse(data, path)
        return without(record, self._id_key or (_id_key(record, self._declared) if isinstance(record, Mapping) else None))


def read_records(
    source: Any,
    *,
    declared: frozenset[str] = frozenset(),
    id_key: str | None = None,
    strict: bool = False,
    taker: Callable[[], Taker | None] | None = None,
) -> RecordCorpus:
    """The records in a file (JSON or JSON Lines), a folder of JSON files, or Python objects.

    Each record's id stands under ``id_key``, by default ``doc_id`` or ``id`` unless the schema declares a field of that
    name. Records without ids are numbered from 0; files of a folder are named by their stems. A ``taker`` is shown the lines
    of a small file.
    """
    if isinstance(source, RecordCorpus):
        return source
    if isinstance(source, str | os.PathLike):
        return _from_path(os.fspath(source), declared, id_key, strict, taker)
    if isinstance(source, Corpus):
        raise TypeError(f"records are compared with records, got a {type(source).__name__}. Pass a path or a list of objects.")
    source = as_json(source)
    if isinstance(source, Mapping):
        return _from_tree(source, "", declared, id_key)
    if isinstance(source, Iterable) and not isinstance(source, bytes):
        listed = [as_json(each) for each in source]
        return _from_list(listed, "", declared, id_key)
    raise TypeError(f"cannot read records from a {type(source).__name__}: give a path, objects or a RecordCorpus")


def as_json(record: Any) -> Any:
    """The JSON of a model of ours, of any pydantic model or of a dataclass; anything else as it is."""
    if hasattr(record, "raw_json"):
        return record.raw_json()
    if hasattr(record, "model_dump") and not isinstance(record, type):
        return record.model_dump(mode="json", by_alias=True)
    if is_dataclass(record) and not isinstance(record, type | RecordCorpus):
        from pydantic import TypeAdapter

        return TypeAdapter(type(record)).dump_python(record, mode="json", by_alias=True)
    return record


def read_record_pair(
    truth: Any,
    found: Any,
    *,
    declared: frozenset[str] = frozenset(),
    id_key: str | None = None,
    strict: bool = False,
    jobs: int = 1,
    taker: Callable[[], Taker | None] | None = None,
) -> tuple[RecordCorpus, RecordCorpus]:
    """Both sides; when only one of them has ids, both are paired by position."""
    # What is made here would have to be made again in other processes.
    reading = partial(read_records, declared=declared, id_key=id_key, strict=strict, taker=taker if jobs == 1 else None)
    # What is wrong with the truth is told first.
    expected, predictions = process_engine(jobs if _long(truth) and _long(found) else 1).map(reading, (truth, found))
    if expected.documents == predictions.documents:
        predictions = replace(predictions, documents=expected.documents)  # the same ids need not be held twice
    if expected.named == predictions.named or not expected.documents or not predictions.documents:
        pairing = paired_by_line if not expected.named else _spelt_apart
        return expected, replace(predictions, issues=(*predictions.issues, *pairing(expected, predictions)))
    numbered = expected if expected.named else predictions
    note = Issue(
        "ids-on-one-side",
        "only one side has ids; records are paired by position",
        numbered.source,
        help="give both sides a doc_id, or name its key with --id",
        severity=Severity.NOTE,
    )
    unnamed = replace(numbered, documents=tuple(range(len(numbered))), named=False, issues=(*numbered.issues, note))
    return (unnamed, predictions) if expected.named else (expected, unnamed)


def _spelt_apart(truth: RecordCorpus, found: RecordCorpus) -> list[Issue]:
    """A note on ids that are text on one side and numbers on the other, where others meet; where none does, that is told."""
    if truth.documents is found.documents:
        return []
    mine, theirs = set(truth.documents), set(found.documents)
    apart = {str(unit) for unit in mine - theirs} & {str(unit) for unit in theirs - mine}
    if not apart or mine.isdisjoint(theirs):
        return []
    which = "1 id is" if len(apart) == 1 else f"{len(apart):,} ids are"
    text = f"{which} text on one side and a number on the other, such as {min(apart)}: these records do not meet"
    help = "write the ids as numbers on both sides, or as text on both"
    return [Issue("ids-as-text", text, found.source, help=help, severity=Severity.NOTE)]


def _long(source: Any) -> bool:
    """Whether reading takes longer than starting a process, and what comes of it is short: positions of lines."""
    path = os.fspath(source) if isinstance(source, str | os.PathLike) else ""
    return path.endswith((".jsonl", ".ndjson")) and os.path.exists(path) and os.path.getsize(path) > LONG


def _from_path(
    path: str,
    declared: frozenset[str],
    id_key: str | None,
    strict: bool,
    taker: Callable[[], Taker | None] | None,
) -> RecordCorpus:
    if os.path.isdir(path):
        return _from_folder(path, declared, id_key, strict)
    packed = os.path.exists(path) and compression.magic(path) is not None
    data = json_tree.read_bytes(path) if packed else None
    if compression.plain_name(path).endswith((".jsonl", ".ndjson")) or _looks_like_lines(path, data):
        is_small = taker is not None and data is None and os.path.exists(path) and os.path.getsize(path) <= SMALL
        return _from_lines(path, declared, id_key, strict, data, taker() if taker is not None and is_small else None)
    mark = file_stamp(os.stat(path)) if os.path.isfile(path) else None
    data = json_tree.read_bytes(path) if data is None else data
    if mark is not None:
        check_unchanged(path, mark)
    tree = json_tree.parse(data, path)
    corpus = _from_tree(tree, path, declared, id_key)
    log = IssueLog(path)
    if json_tree.nested_beyond(DEEPEST, data):
        raise ContractError.single("too-deep", TOO_DEEP, file=path)
    if kernels().repeats_a_key(data):
        _tell_repeated(tree, "", log, strict)
    return replace(corpus, issues=(*corpus.issues, *log))


def marks_of(source: Any) -> tuple[Any, ...]:
    """Return what tells that a file, or one of a folder, is another than it was; nothing for what is not a path."""
    if not isinstance(source, str | os.PathLike) or not os.path.exists(source):
        return ()
    if not os.path.isdir(source):
        return file_stamp(os.stat(source))
    with os.scandir(os.fspath(source)) as entries:
        return tuple(sorted((entry.name, *file_stamp(entry.stat())) for entry in entries))


def _looks_like_lines(path: str, unpacked: bytes | None) -> bool:
    """Whether the first line is an object by itself and something follows."""
    try:
        with open(path, "rb") as file:
            head = file.read(LOOK_AHEAD) if unpacked is None else unpacked[:LOOK_AHEAD]
    except OSError:
        return False  # reading it tells what is wrong
    line, newline, rest = head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")
    if not newline or not rest.strip() or not line.lstrip().startswith(b"{"):
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _from_folder(path: str, declared: frozenset[str], id_key: str | None, strict: bool) -> RecordCorpus:
    listed = sorted(os.listdir(path))
    names = [name for name in listed if os.path.splitext(name)[1].lower() == ".json"]
    files = [file for file in (os.path.join(path, name) for name in names) if not os.path.isdir(file)]
    if not files:
        raise ContractError.single("no-records", "the folder holds no .json files", file=path)
    log = IssueLog(path)
    read = set(files)
    for name in listed:
        if not name.startswith(".") and os.path.join(path, name) not in read:
            log.add("not-read", name, "is not a .json file", help="one record per .json file is read", severity=Severity.NOTE)
    kept, marks = [], []
    repeats_a_key = kernels().repeats_a_key
    for file in files:
        name = os.path.basename(file)
        try:
            with json_tree.readable(file):
                mark = file_stamp(os.stat(file))
            data = json_tree.read_bytes(file)
            tree = json_tree.parse(data, file)
        except ContractError as error:
            if strict:
                raise
            log.add("broken-file", name, error.issues[0].message, severity=Severity.LOSS)
            continue
        if json_tree.nested_beyond(DEEPEST, data):
            _lose("broken-file", name, TOO_DEEP, log, strict)
            continue
        if repeats_a_key(data):
            _tell_repeated(tree, name, log, strict)
        kept.append(file)
        marks.append(mark)
    stems = [os.path.splitext(os.path.basename(file))[0] for file in kept]
    _check_distinct(stems, path)
    return RecordCorpus(
        documents=tuple(stems), records=FileRecords(kept, marks, declared, id_key), source=path, issues=tuple(log)
    )


def _from_lines(
    path: str,
    declared: frozenset[str],
    id_key: str | None,
    strict: bool,
    unpacked: bytes | None = None,
    taker: Taker | None = None,
) -> RecordCorpus:
    json_tree.check_readable(path)
    mark = file_stamp(os.stat(path))
    found = _Lines(path, declared, id_key, strict)
    for begin, text in whole_lines(path, unpacked):
        taken = None if taker is None else found.taken(begin, text, taker)
        if not taken:
            taker = None
            found.look_at(begin, text)
    check_unchanged(path, mark)
    if not found.starts and not found.log.total:
        raise ContractError.single("empty-file", "the file is empty", file=path)
    _check_id_key(id_key, found.ids, path)
    made, size = ([], 0) if taker is None else (taker.made(), taker.size)
    records = LineRecords(path, found.starts, found.lengths, found.key, mark, unpacked, made, size)
    return _corpus(records, found.ids, found.numbers, path, found.log)


class _Lines:
    """The lines of a file that hold records, while they are found."""

    def __init__(self, path: str, declared: frozenset[str], id_key: str | None, strict: bool) -> None:
        self.log = IssueLog(path)
        self.key = id_key
        self.ids: list[Any] = []
        # Lists would take four times the memory.
        self.starts, self.lengths, self.numbers = array("q"), array("q"), array("q")
        self._keys = list(ID_KEYS if id_key is None else (id_key,))
        self._declared, self._strict = declared, strict
        self._next = 0
        """The number of the next line."""

    def look_at(self, begin: int, text: bytes) -> None:
        """Find the records in the next lines, and tell what is odd about them."""
        lines, size = kernels().record_lines(text, self._keys, DEEPEST)
        for line, start, length, ids in lines:
            number = self._next + line
            record: Mapping[str, Any] | None = ids
            if ids is None:
                record = _looked_at(text[start : start + length], number, self.log, self._strict)
            if record is not None:
                self.key = self.key or _id_key(record, self._declared)
                self.starts.append(begin + start)
                self.lengths.append(length)
                self.numbers.append(number)
                self.ids.append(record.get(self.key) if self.key else None)
        self._next += size

    def taken(self, begin: int, text: bytes, taker: Taker) -> bool:
        """Whether a taker took the next lines in: it does when all are plain, and the first of all has an id."""
        if not self._next and self.key is None:
            first, _ = kernels().record_lines(text[: text.find(b"\n") + 1] or text, self._keys, DEEPEST)
            self.key = _id_key(first[0][3] or {}, self._declared) if first else None
        taken = None if self.key is None else taker.take(text, self.key)
        if taken is None:
            return False
        lines, size = taken
        # One call for each line would take as long as all else that Python does here.
        self.starts.extend([begin + start for _, start, _, _ in lines])
        self.lengths.extend([length for _, _, length, _ in lines])
        self.numbers.extend([self._next + line for line, _, _, _ in lines])
        self.ids += [own for _, _, _, own in lines]
        self._next += size
        return True


def _looked_at(line: bytes, number: int, log: IssueLog, strict: bool) -> Mapping[str, Any] | None:
    """The object on a line that is not plain, and what is odd about it; nothing when it is no record."""
    record = _parsed_line(line, number, log, strict)
    if not isinstance(record, Mapping):
        return None
    place = f"line {number + 1}"
    if json_tree.nested_beyond(DEEPEST, line):
        _lose("broken-line", place, TOO_DEEP, log, strict)
        return None
    _tell_repeated(record, place, log, strict)
    return record


def _parsed_line(line: bytes, number: int, log: IssueLog, strict: bool) -> Any:
    """The object on a line; what is none is a loss, or refused."""
    place = f"line {number + 1}"
    try:
        record = json_tree.parse_line(line, log.file, number + 1)
        if isinstance(record, Mapping):
            return record
        problem = f"holds {json_tree.a_kind(record)}, not an object"
    except ContractError as error:
        place, problem = error.issues[0].pointer, error.issues[0].message
    _lose("broken-line", place, problem, log, strict)
    return None


def _lose(code: str, place: str, problem: str, log: IssueLog, strict: bool) -> None:
    if strict:
        raise ContractError.single(code, problem, file=log.file, pointer=place)
    help = "the line is left out" if code == "broken-line" else ""
    log.add(code, place, problem, help=help, severity=Severity.LOSS)


def _tell_repeated(tree: Any, place: str, log: IssueLog, strict: bool) -> None:
    """Name every key that occurs more than once in an object: all values but the last are lost."""
    for pointer, key in json_tree.repeated_keys(tree):
        where = ": ".join(filter(None, (place, pointer)))
        text, help = f"the key {key!r} occurs more than once; the last value counts", "keep one of them"
        if strict:
            raise ContractError.single("duplicate-key", text, file=log.file, pointer=where, help=help)
        log.add("duplicate-key", where, text, help=help, severity=Severity.LOSS)


def _from_tree(tree: Any, source: str, declared: frozenset[str], id_key: str | None) -> RecordCorpus:
    """A list of records, records by id, or one record."""
    if isinstance(tree, list):
        return _from_list(tree, source, declared, id_key)
    if isinstance(tree, Mapping):
        if declared and not declared & tree.keys() and tree and all(isinstance(value, Mapping) for value in tree.values()):
            return RecordCorpus(documents=tuple(map(str, tree)), records=list(tree.values()), source=source)
        return _from_list([tree], source, declared, id_key)
    raise ContractError.single(
        "not-records", f"holds {json_tree.a_kind(tree)}; records are an object or a list of objects", file=source
    )


def _from_list(listed: Sequence[Any], source: str, declared: frozenset[str], id_key: str | None) -> RecordCorpus:
    log = IssueLog(source)
    kept, ids, numbers = [], [], []
    key = id_key
    for number, record in enumerate(listed):
        if not isinstance(record, Mapping):
            log.add("broken-record", f"/{number}", f"holds {json_tree.a_kind(record)}, not an object", severity=Severity.LOSS)
            continue
        key = key or _id_key(record, declared)
        kept.append(record)
        ids.append(record.get(key) if key else None)
        numbers.append(number)
    _check_id_key(id_key, ids, source)
    return _corpus([without(record, key) for record in kept] if key else kept, ids, numbers, source, log)


def _check_id_key(id_key: str | None, ids: Sequence[Any], source: str) -> None:
    """Refuse a key that was asked for and that no record has: pairing by line instead would be a surprise."""
    if id_key is not None and ids and all(each is None for each in ids):
        raise ContractError.single("no-id", f"no record has the key {id_key!r}", file=source, help="name another with --id")


def _id_key(record: Mapping[str, Any], declared: frozenset[str]) -> str | None:
    return next((key for key in ID_KEYS if key in record and key not in declared), None)


def _corpus(records: Sequence[Any], ids: Sequence[Any], numbers: Sequence[int], source: str, log: IssueLog) -> RecordCorpus:
    """The corpus, with ids if every record has its own; a repeated id is refused."""
    named = bool(ids) and all(issubclass(kind, str | int) and kind is not bool for kind in set(map(type, ids)))
    if any(each is not None for each in ids) and not named:
        at = next(
            number
            for number, each in zip(numbers, ids, strict=True)
            if not isinstance(each, str | int) or isinstance(each, bool)
        )
        text = "some records have an id and some have none, or one that is neither text nor a whole number"
        raise ContractError.single(
            "no-id", text, file=source, pointer=f"record {at + 1}", help="give every record an id, or none"
        )
    units: Sequence[UnitId] = ids if named else numbers
    _check_distinct(units, source)
    return RecordCorpus(documents=tuple(units), records=records, named=named, source=source, issues=tuple(log))


def _check_distinct(units: Sequence[UnitId], source: str) -> None:
    if len(set(units)) < len(units):
        twice = next(unit for unit, count in Counter(units).items() if count > 1)
        raise ContractError.single("repeated-id", f"document {twice!r} is there twice", file=source, help="ids must be unique")
