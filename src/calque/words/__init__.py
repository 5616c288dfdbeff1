"""Words: what OCR read, in order, against what is there; and the best that a lattice of candidates could give."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from calque.words.task import Words

if TYPE_CHECKING:
    from calque.words.alignment import Alignment as Alignment
    from calque.words.alignment import align as align
    from calque.words.best_path import Oracle as Oracle
    from calque.words.best_path import oracle as oracle
    from calque.words.build import build_lattice as build_lattice
    from calque.words.cleaning import Cleaning as Cleaning
    from calque.words.cleanup import clean as clean
    from calque.words.confusion import confusions as confusions
    from calque.words.tokenizers import tokenize as tokenize

_HOME = {
    "Alignment": "alignment",
    "Cleaning": "cleaning",
    "Oracle": "best_path",
    "align": "alignment",
    "build_lattice": "build",
    "clean": "cleanup",
    "confusions": "confusion",
    "oracle": "best_path",
    "tokenize": "tokenizers",
}

__all__ = ["Words", *sorted(_HOME)]  # noqa: PLE0604  # the names are strings, in the table above


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'calque.words' has no attribute {name!r}")
    return getattr(importlib.import_module(f"calque.words.{_HOME[name]}"), name)
