"""Files on other machines, through fsspec: listed, and brought here as they are read."""

from __future__ import annotations

import os
from typing import Any

from calque.core.errors import CalqueError, MissingExtra


def _fsspec() -> Any:
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtra("fsspec", "dask", "an address such as s3://bucket/truth.parquet") from error
    return fsspec


def found_there(pattern: str) -> list[str]:
    """The addresses that a pattern stands for, sorted."""
    with _told(pattern):
        files, _, names = _fsspec().get_fs_token_paths(pattern)
        return sorted(files.unstrip_protocol(name) for name in names)


def fetched(address: str, folder: str) -> str:
    """A copy of a file in a folder of this machine, under its own name."""
    target = os.path.join(folder, os.path.basename(address.rstrip("/")) or "file")
    with _told(address):
        files, _, (name, *_) = _fsspec().get_fs_token_paths(address)
        files.get(name, target, recursive=files.isdir(name))
    return target


class _told:  # noqa: N801  # reads as what it does
    """Whatever goes wrong on the way is told with the address."""

    def __init__(self, address: str) -> None:
        self._address = address

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, CalqueError):
            raise CalqueError(f"{self._address}: cannot be read: {type(error).__name__}: {error}") from error
