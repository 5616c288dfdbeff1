"""Both sides of a comparison, read, and their texts made alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from calque.base.errors import all_read
from calque.base.text_normalization import folded, normalized, squeezed
from calque.corpus.tables import CellTable, TableCorpus
from calque.readers.tables.files import is_single, names_documents, read_tables

if TYPE_CHECKING:
    from calque.tables.task import Tables


def read_sides(task: Tables, expected: Any, found: Any) -> tuple[TableCorpus, TableCorpus]:
    """Truth and prediction; every issue of both in one error."""
    truth, other = all_read(partial(_read, task, source) for source in (expected, found))
    if is_single(expected) and is_single(found) and len(truth.tables) == len(other.tables) == 1:
        # Two single files are two readings of one document, whatever they are called. Rows with ids say which one it is.
        if names_documents(expected, truth) and names_documents(found, other):
            return truth, other
        other = replace(other, tables=dict(zip(truth.tables, other.tables.values(), strict=True)))
    return truth, other


def _read(task: Tables, source: Any) -> TableCorpus:
    return prepared(task, read_tables(source, lenient=task.lenient))


def prepared(task: Tables, corpus: TableCorpus) -> TableCorpus:
    """The corpus with its texts made alike as the settings say."""
    uses_markup = task.compat != "none"
    key = (task.unicode, task.fold, task.ignore_case, uses_markup)
    if corpus.prepared == key:
        return corpus
    plain = plainly(task)
    tables = {unit: [with_texts(table, plain) for table in listed] for unit, listed in corpus.tables.items()}
    return replace(corpus, tables=tables, prepared=key, uses_markup=uses_markup)


def plainly(task: Tables) -> Callable[[str], str]:
    """What makes a text alike under the settings."""
    untouched = not task.fold and not task.ignore_case

    def plain(text: str) -> str:
        if untouched and text.isascii():
            return text
        made = folded(normalized(text, task.unicode), task.fold)[0]
        return squeezed(made.lower() if task.ignore_case else made)

    return plain


def with_texts(table: CellTable, plain: Callable[[str], str]) -> CellTable:
    """The table with other texts."""
    texts = tuple(map(plain, table.text))
    return table if texts == table.text else replace(table, text=texts)
