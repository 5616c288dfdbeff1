"""What several tests share and the first that asks makes; a mutation run is told, since all of them hang on its lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

V = TypeVar("V")


class Kept(Generic[V]):
    """Things by their names, each made when it is first asked for."""

    def __init__(self) -> None:
        self._made: dict[str, V] = {}

    def __call__(self, name: str, make: Callable[[], V]) -> V:
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]
