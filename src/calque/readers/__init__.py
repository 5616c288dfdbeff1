"""Readers: one file for each format. Boxes are opened in `opening`; records, words and lattices have doors of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calque.base.lazy_names import lazily

if TYPE_CHECKING:
    from calque.readers.sides.reading import check_pair as check_pair
    from calque.readers.sides.reading import read as read
    from calque.readers.sides.reading import read_pair as read_pair
    from calque.readers.sides.reading import stream_pair as stream_pair

_HOME = dict.fromkeys(("check_pair", "read", "read_pair", "stream_pair"), "calque.readers.sides.reading")

__getattr__, __dir__, __all__ = lazily(__name__, _HOME)
