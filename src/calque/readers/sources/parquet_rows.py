"""Parquet as rows of Python values, within bounds: a text that stands in a million rows is in memory once, as in the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from calque.core.errors import ContractError, MissingExtra
from calque.readers.sources.parquet_sizes import TEXT, row_groups, unreadable

AT_ONCE = 16_384
"""How many rows are Python objects at a time."""


def parquet_rows(path: str, columns: Sequence[str], needed: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """The rows of a file with those of the columns that it has; `ContractError` when it cannot be read."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise MissingExtra("pyarrow", "parquet", "reading Parquet") from error
    try:
        with open(path, "rb", buffering=0) as bare:
            groups = row_groups(bare, path, columns.__contains__)  # before anything believes what it says
        texts = {".".join(chunk.leaf.path) for group in groups for chunk in group.chunks if chunk.leaf.kind == TEXT}
        with parquet.ParquetFile(path, read_dictionary=sorted(texts)) as file:
            known = [name for name in columns if name in file.schema_arrow.names]
            if missing := [name for name in needed if name not in known]:
                raise ContractError.single("no-column", f"has no column {', '.join(missing)}", file=path)
            # Each row group has dictionaries of its own, and pyarrow cannot join those of lists.
            for number in range(len(groups)):
                for batch in file.iter_batches(AT_ONCE, row_groups=[number], columns=known, use_threads=False):
                    yield from _rows(known, batch)
    except (ArrowException, OSError, TypeError, ValueError, OverflowError) as error:
        unreadable(path, str(error).splitlines()[0] if str(error) else type(error).__name__)


def _rows(names: Sequence[str], batch: Any) -> list[dict[str, Any]]:
    columns = [_values(batch.column(name)) for name in names]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def _values(array: Any) -> list[Any]:
    """The values of a column; equal texts are one object."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        known = array.dictionary.to_pylist()
        return [None if code is None else known[code] for code in array.indices.to_pylist()]
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        inside = iter(_values(array.flatten()))
        return [
            None if length is None else [next(inside) for _ in range(length)] for length in array.value_lengths().to_pylist()
        ]
    values: list[Any] = array.to_pylist()
    return values
