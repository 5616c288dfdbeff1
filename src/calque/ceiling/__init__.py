"""Ceiling: what several systems could reach together, what of it can be had simply, and what nobody finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calque.base.lazy_names import lazily
from calque.ceiling.task import Ceiling as Ceiling

if TYPE_CHECKING:
    from calque.ceiling.systems import Systems as Systems

_HOME = {"Systems": "calque.ceiling.systems"}

__getattr__, __dir__, __all__ = lazily(__name__, _HOME, own=["Ceiling"])
