"""What keeps start-up short: frozen classes that cost nothing to make, names that are imported on first use, room for calls."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any, ClassVar, Self, TypeVar, cast, dataclass_transform

Call = TypeVar("Call", bound=Callable[..., Any])

ROOM_FOR_CALLS = 1 << 15
"""In words of memory: a quarter of a megabyte, of which no page is touched that no call needs."""


@dataclass_transform(frozen_default=True)
class Frozen:
    """What ``@dataclass(frozen=True)`` makes of a class, without the code that it writes and compiles for each.

    That takes half a millisecond a class, and a command that runs for a fifth of a second loads dozens. Instances behave
    alike; a default is one value for all, so it must not be one that changes.

    >>> class Point(Frozen):
    ...     x: float
    ...     y: float = 0.0
    >>> Point(1.0), Point(1.0) == Point(x=1.0, y=0.0), Point(1.0).replaced(y=2.0)
    (Point(x=1.0, y=0.0), True, Point(x=1.0, y=2.0))
    """

    _names: ClassVar[tuple[str, ...]] = ()
    _known: ClassVar[frozenset[str]] = frozenset()
    _defaults: ClassVar[dict[str, Any]] = {}
    _positional: ClassVar[int] = 0

    def __init_subclass__(cls, *, kw_only: bool = False, eq: bool = True, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        own = inspect.get_annotations(cls)
        cls._names = (*cls._names, *own)
        cls._known = frozenset(cls._names)
        cls._defaults = {**cls._defaults, **{name: cls.__dict__[name] for name in own if name in cls.__dict__}}
        cls._positional = 0 if kw_only else len(cls._names)
        if not eq:
            cls.__eq__ = object.__eq__  # type: ignore[method-assign]  # as dataclasses do, for columns that cannot be compared
            cls.__hash__ = object.__hash__  # type: ignore[method-assign]  # one goes with the other

    def __init__(self, *given: Any, **named: Any) -> None:
        twice = given and (len(given) > self._positional or not named.keys().isdisjoint(self._names[: len(given)]))
        named.update(zip(self._names, given, strict=False))
        values = named if len(named) == len(self._names) else {**self._defaults, **named}
        if twice or values.keys() != self._known:
            raise TypeError(f"{type(self).__name__} takes {', '.join(self._names)}, each once, and all that have no default")
        self.__dict__.update(values)
        self.__post_init__()

    def __post_init__(self) -> None:
        """A place for checks, as in dataclasses."""

    def replaced(self, **changes: Any) -> Self:
        """The same but for these values."""
        return type(self)(**{**{name: self.__dict__[name] for name in self._names}, **changes})

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"cannot assign to {name!r}: {type(self).__name__} never changes")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"cannot delete {name!r}: {type(self).__name__} never changes")

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._names)
        return f"{type(self).__qualname__}({values})"

    def __eq__(self, other: object) -> bool:
        return self._values() == other._values() if isinstance(other, Frozen) and type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._values())

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self._names)


def lazily(
    module: str, homes: Mapping[str, str], *, own: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The ``__getattr__``, ``__dir__`` and ``__all__`` of a module: ``homes`` says which module defines each of its names.

    >>> load, listed, names = lazily("calque", {"Issue": "calque.core.errors"}, own=["__version__"])
    >>> load("Issue").__name__, names
    ('Issue', ['__version__', 'Issue'])
    """
    names = [*own, *sorted(homes)]

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[module], name, value)
        return value

    return load, lambda: names, names


def roomy(call: Call) -> Call:
    """Give a function that runs a whole process memory for all calls inside of it, in one piece.

    Python keeps the frames of calls in pieces of 16 kB and returns the last one as soon as it is empty: a loop whose calls
    cross the end of a piece asks the system for memory each time. A function that says it needs much gets a long piece.
    """
    function = cast("FunctionType", call)
    function.__code__ = function.__code__.replace(co_stacksize=ROOM_FOR_CALLS)
    return call
