"""Words: what OCR read, in order, against what is there; and the best that a lattice of candidates could give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calque.base.lazy_names import lazily
from calque.words.task import Words as Words

if TYPE_CHECKING:
    from calque.words.alignment import Alignment as Alignment
    from calque.words.alignment import align as align
    from calque.words.confused import confusions as confusions
    from calque.words.lattice.best_path import Oracle as Oracle
    from calque.words.lattice.best_path import oracle as oracle
    from calque.words.lattice.lattices import build_lattice as build_lattice
    from calque.words.one_pair import Compared as Compared
    from calque.words.one_pair import compare as compare
    from calque.words.text.cleaning import Cleaning as Cleaning
    from calque.words.text.cleaning import clean as clean
    from calque.words.text.tokenizers import tokenize as tokenize

_HOME = {
    "Alignment": "calque.words.alignment",
    "Cleaning": "calque.words.text.cleaning",
    "Compared": "calque.words.one_pair",
    "Oracle": "calque.words.lattice.best_path",
    "align": "calque.words.alignment",
    "build_lattice": "calque.words.lattice.lattices",
    "clean": "calque.words.text.cleaning",
    "compare": "calque.words.one_pair",
    "confusions": "calque.words.confused",
    "oracle": "calque.words.lattice.best_path",
    "tokenize": "calque.words.text.tokenizers",
}

__getattr__, __dir__, __all__ = lazily(__name__, _HOME, own=["Words"])
