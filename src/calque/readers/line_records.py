"""Records that are lines of a file: where they are is known, and each is parsed when it is asked for."""

from __future__ import annotations

import io
import os
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from calque.base.errors import ContractError
from calque.base.files import FileStamp, file_stamp
from calque.readers.sources import json_tree

MARK = b"\xef\xbb\xbf"
"""With this some programs begin a file of UTF-8."""

BLOCK = 1 << 16
"""About so many bytes of lines on end are read at once."""


class Taker(Protocol):
    """Makes something of the lines of a file while they are found, so that a small one is read once."""

    size: int
    """Of how many records each piece is made."""

    def take(self, text: bytes, id_key: str) -> tuple[list[tuple[int, int, int, str | int | None]], int] | None:
        """Number, place, length and id of each line that is not blank, and how many lines there are; all of them are taken in.

        Nothing when one is not plain: no record, a key twice, nested where nobody looks. Then the taker is of no more use.
        """

    def made(self) -> list[Any]:
        """What was made of them, piece by piece."""


class LineRecords(Sequence[Any]):
    """The objects of a JSON Lines file, each parsed when it is asked for; only positions stay in memory."""

    def __init__(
        self,
        path: str,
        starts: Sequence[int],
        lengths: Sequence[int],
        id_key: str | None,
        mark: FileStamp,
        unpacked: bytes | None = None,
        made: list[Any] | None = None,
        size: int = 0,
    ) -> None:
        self._path = path
        self._mark = mark
        self._unpacked = unpacked
        """What a compressed file holds: there is no going to a place in it."""
        self._starts = starts
        self._lengths = lengths
        self.id_key = id_key
        self.made = made or []
        """What a taker made of them, of ``size`` records each."""
        self._size = size
        self._file: Any = None
        self._process = 0

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, index: Any) -> Any:
        line = self.line(index)
        record = json_tree.quickly(line)
        return without(json_tree.parse(line, self._path) if record is json_tree.ODD else record, self.id_key)

    def mean_length(self) -> float:
        """How many bytes a line has on average."""
        return sum(self._lengths) / max(len(self._lengths), 1)

    def line(self, index: int) -> bytes:
        """The text of an object, its id included."""
        return self._text(self._starts[index], self._lengths[index])

    def blocks(self, rows: Sequence[int]) -> Iterator[tuple[bytes, list[int], list[int]]]:
        """The texts of objects, those on end in one piece: bytes, where each begins, how long it is. Row -1 is an empty one."""
        place = 0
        while place < len(rows):
            if rows[place] < 0:
                yield b"{}", [0], [2]
                place += 1
                continue
            first = end = self._starts[rows[place]]
            starts, lengths = [], []
            while place < len(rows) and (row := rows[place]) >= 0 and self._starts[row] == end and end - first < BLOCK:
                starts.append(end - first)
                lengths.append(self._lengths[row])
                end += self._lengths[row]
                place += 1
            yield self._text(first, end - first), starts, lengths

    def _text(self, start: int, length: int) -> bytes:
        return self._line(start, length) if self._unpacked is None else self._unpacked[start : start + length]

    def _line(self, start: int, length: int) -> bytes:
        if self._file is None or self._process != os.getpid():
            # Forked processes must not share a file position.
            self._file, self._process = open(self._path, "rb"), os.getpid()  # noqa: SIM115  # kept open between records
        self._file.seek(start)
        text = bytes(self._file.read(length))
        if file_stamp(os.fstat(self._file.fileno())) != self._mark:
            raise changed(self._path)
        return text

    def part(self, rows: Sequence[int]) -> LineRecords:
        """Those in these rows."""
        starts, lengths = (array("q", [places[row] for row in rows]) for places in (self._starts, self._lengths))
        return LineRecords(self._path, starts, lengths, self.id_key, self._mark, self._unpacked, self._piece(rows), self._size)

    def _piece(self, rows: Sequence[int]) -> list[Any]:
        """What was made of just these rows, which is handed over: its memory is free as soon as nobody needs it."""
        if not self.made or not len(rows):
            return []
        number, within = divmod(rows[0], self._size)
        if within or list(rows) != list(range(rows[0], min(rows[0] + self._size, len(self)))):
            return []
        made, self.made[number] = self.made[number], None
        return [made]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_file": None, "made": []}

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()


def check_unchanged(path: str, mark: FileStamp) -> None:
    """Refuse a file that is another than the one with this mark."""
    try:
        same = file_stamp(os.stat(path)) == mark
    except OSError:
        same = False
    if not same:
        raise changed(path)


def changed(path: str) -> ContractError:
    """Return the error for a file that was changed or replaced between two looks at it."""
    help = "try again when nothing writes to it"
    return ContractError.single("changed", "changed while it was read", file=path, help=help)


def without(record: Any, key: str | None) -> Any:
    """The record without its id: an id is no field."""
    if key is None or not isinstance(record, Mapping) or key not in record:
        return record
    return {name: value for name, value in record.items() if name != key}


def whole_lines(path: str, unpacked: bytes | None) -> Iterator[tuple[int, bytes]]:
    """Some lines on end at a time, and where they begin in the file."""
    position = 0
    with open(path, "rb") if unpacked is None else io.BytesIO(unpacked) as file:
        if file.read(len(MARK)) == MARK:  # no part of the first record
            position = len(MARK)
        file.seek(position)
        while text := file.read(BLOCK):
            text += file.readline()
            yield position, text
            position += len(text)
