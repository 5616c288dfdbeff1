"""Columns that are too many for memory wait in a temporary file."""

from __future__ import annotations

import os
import threading
import weakref
from typing import IO, NamedTuple, TypeAlias

import numpy as np

from calque.base.columns import Array, Column, Strings
from calque.base.errors import CalqueError
from calque.base.file_stamps import FileMark, mark_of
from calque.evaluation.storage.forms import Form


class Place(NamedTuple):
    """Where an array lies in the file, and how."""

    start: int
    form: Form


Places: TypeAlias = tuple[Place, ...]
"""Where a column lies: one array, or two for strings."""


class Shelf:
    """Columns in a file, to be read again."""

    def load(self, places: Places) -> Column:
        """The column, back in memory."""
        data, *offsets = (self.read(place) for place in places)
        return Strings(data, *offsets) if offsets else data

    def read(self, place: Place) -> Array:
        """The array at that place."""
        raise NotImplementedError


class KeptFile(Shelf):
    """A file that was written by this run and stays. It is opened when it is read, as there may be thousands.

    One that is another by now is refused: what was checked when it was written holds for that file alone.
    """

    def __init__(self, path: str, mark: FileMark) -> None:
        self._path = path
        self._mark = mark

    def read(self, place: Place) -> Array:
        """The array at that place."""
        try:
            with open(self._path, "rb") as file:
                if mark_of(os.fstat(file.fileno())) == self._mark:
                    file.seek(place.start)
                    return place.form.array(file.read(place.form.size))
        except FileNotFoundError:
            pass
        raise CalqueError(f"{self._path}: was changed or removed while it was in use; give the same command again")


class Spool(Shelf):
    """A file without a name in the temporary folder; it is gone when nobody holds it any more, or when the process ends."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._end = 0
        self._turn = threading.Lock()
        """A file has one position; threads take turns."""

    def store(self, column: Column) -> Places:
        """Write a column at the end of the file."""
        arrays = (column.data, column.offsets) if isinstance(column, Strings) else (column,)
        return tuple(self.write(np.ascontiguousarray(array)) for array in arrays)

    def write(self, array: Array) -> Place:
        """Write an array at the end of the file."""
        import tempfile  # only what is written needs it

        with self._turn:
            start = self._end
            try:
                if self._file is None:
                    self._file = tempfile.TemporaryFile(prefix="calque-")  # noqa: SIM115  # closed with the spool
                    weakref.finalize(self, self._file.close)
                self._file.seek(start)
                self._file.write(array.data)
                self._file.flush()
            except OSError as error:
                raise CalqueError(
                    f"{tempfile.gettempdir()}: {(error.strerror or str(error)).lower()}; numbers that do not fit in memory "
                    "are kept there: make room, or name another folder in the environment variable TMPDIR"
                ) from error
            self._end += array.nbytes
        return Place(start, Form.plain(array))

    def read(self, place: Place) -> Array:
        """The array at that place."""
        assert self._file is not None  # noqa: S101  # there is no place in a file that was never opened
        with self._turn:
            self._file.seek(place.start)
            return place.form.array(self._file.read(place.form.size))
