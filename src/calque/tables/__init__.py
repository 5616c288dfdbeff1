"""Tables: which rows, columns, cells and texts came out right, and where the loss went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calque.base.lazy_names import lazily
from calque.tables.task import Tables as Tables

if TYPE_CHECKING:
    from calque.corpus.tables import TableCorpus as TableCorpus
    from calque.tables.one_pair import Compared as Compared
    from calque.tables.one_pair import Table as Table
    from calque.tables.one_pair import compare as compare
    from calque.tables.one_pair import parse as parse
    from calque.tables.one_pair import teds as teds

_HOME = {
    "Compared": "calque.tables.one_pair",
    "Table": "calque.tables.one_pair",
    "TableCorpus": "calque.corpus.tables",
    "compare": "calque.tables.one_pair",
    "parse": "calque.tables.one_pair",
    "teds": "calque.tables.one_pair",
}

__getattr__, __dir__, __all__ = lazily(__name__, _HOME, own=["Tables"])
