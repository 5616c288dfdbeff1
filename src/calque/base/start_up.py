"""What keeps start-up short: classes that cost nothing to make, names and patterns on first use, room for calls."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import operator
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast, dataclass_transform

Call = TypeVar("Call", bound=Callable[..., Any])

ROOM_FOR_CALLS = 1 << 15
"""In words of memory: a quarter of a megabyte, of which no page is touched that no call needs."""


def _as_field(given: Any) -> Any:
    """A default as a field of a dataclass, which refuses what could be changed unless a function makes it."""
    if given is dataclasses.MISSING:
        return dataclasses.field()
    return dataclasses.field(default_factory=lambda: given) if type(given).__hash__ is None else given


@functools.cache
def _twin(made: type[Frozen], *, frozen: bool) -> type:
    """The dataclass that a frozen class is like, without the methods."""
    asked = [(name, kind, _as_field(given)) for name, (kind, given) in made._declared.items()]
    return dataclasses.make_dataclass(
        made.__name__,
        asked,
        namespace={"__doc__": "Said by the class itself."},  # or one is written, which takes longer than all else
        init=False,
        repr=False,
        eq=False,
        kw_only=not made._positional,
        frozen=frozen,
    )


class _OfTwin:
    """What `dataclasses` asks of a class: its fields, and how it was made. Only who asks pays for the twin that knows."""

    def __init__(self, *, frozen: bool) -> None:
        self._frozen = frozen

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    def __get__(self, _instance: object, owner: type[Frozen]) -> Any:
        return getattr(_twin(owner, frozen=self._frozen), self._name)  # type: ignore[arg-type]  # classes are hashable


class _Parameters:
    """What a class is made with, for `inspect.signature`."""

    def __get__(self, _instance: object, owner: type[Frozen]) -> inspect.Signature:
        if owner.__init__ is not Frozen.__init__:
            raise AttributeError("__signature__")  # a dataclass that derives from it says so itself
        kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        asked = [
            inspect.Parameter(
                name,
                kinds[place >= owner._positional],
                default=owner._defaults.get(name, inspect.Parameter.empty),
                annotation=owner._declared[name][0],
            )
            for place, name in enumerate(owner._names)
        ]
        return inspect.Signature(asked, return_annotation=None)


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

    _declared: ClassVar[dict[str, tuple[Any, Any]]] = {}
    """By name the annotation, and the default or field; those of all bases, too."""
    _names: ClassVar[tuple[str, ...]] = ()
    _known: ClassVar[frozenset[str]] = frozenset()
    _defaults: ClassVar[dict[str, Any]] = {}
    _positional: ClassVar[int] = 0
    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]
    else:
        __dataclass_fields__ = _OfTwin(frozen=False)
        __dataclass_params__ = _OfTwin(frozen=True)
        __signature__ = _Parameters()

    def __init_subclass__(cls, *, kw_only: bool = False, eq: bool = True, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        own = {
            name: (kind, cls.__dict__.get(name, dataclasses.MISSING))
            for name, kind in inspect.get_annotations(cls).items()
            if not str(kind).startswith(("ClassVar", "typing.ClassVar"))
        }
        inherited = [base.__dict__["_declared"] for base in reversed(cls.__mro__[1:]) if "_declared" in base.__dict__]
        cls._declared = {name: entry for declared in (*inherited, own) for name, entry in declared.items()}
        cls._names = tuple(cls._declared)
        cls.__match_args__ = cls._names  # type: ignore[misc, attr-defined]  # type checkers have their own
        cls._known = frozenset(cls._names)
        defaults = {
            name: given.default if isinstance(given, dataclasses.Field) else given for name, (_, given) in cls._declared.items()
        }
        cls._defaults = {name: default for name, default in defaults.items() if default is not dataclasses.MISSING}
        cls._positional = 0 if kw_only else len(cls._names)
        if not eq:
            cls.__eq__ = object.__eq__  # type: ignore[method-assign]  # as dataclasses do, for columns that cannot be compared
            cls.__hash__ = object.__hash__  # type: ignore[method-assign]  # one goes with the other

    def __init__(self, *given: Any, **named: Any) -> None:
        if given and not self._positional:
            kind = type(self).__name__
            raise TypeError(f"{kind} takes keyword arguments only, got {given[0]!r}. Write {kind}(SETTING={given[0]!r}).")
        twice = given and (len(given) > self._positional or not named.keys().isdisjoint(self._names[: len(given)]))
        named.update(zip(self._names, given, strict=False))
        values = named if len(named) == len(self._names) else {**self._defaults, **named}
        if twice or values.keys() != self._known:
            raise TypeError(self._refusal(named))
        self.__dict__.update(values)
        self.__post_init__()

    def _refusal(self, named: Iterable[str]) -> str:
        """What is wrong with arguments that do not fit."""
        import difflib  # only to explain

        takes = f"{type(self).__name__} takes {', '.join(self._names)}, each once, and all that have no default"
        unknown = next((name for name in named if name not in self._known), None)
        if unknown is None:
            return takes
        close = difflib.get_close_matches(unknown, self._names, n=1)
        return f"{type(self).__name__} has no {unknown!r}" + (f": did you mean {close[0]!r}?" if close else f"; {takes}")

    def __post_init__(self) -> None:
        """A place for checks, as in dataclasses."""

    def replaced(self, **changes: Any) -> Self:
        """The same but for these values."""
        return type(self)(**{**{name: self.__dict__[name] for name in self._names}, **changes})

    __replace__ = replaced

    def __setattr__(self, name: str, value: Any) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot assign to {name!r}: {type(self).__name__} never changes")

    def __delattr__(self, name: str) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot delete {name!r}: {type(self).__name__} never changes")

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._names)
        return f"{type(self).__qualname__}({values})"

    def __eq__(self, other: object) -> bool:
        return self._values() == other._values() if isinstance(other, Frozen) and type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._values())

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self._names)


@dataclass_transform(frozen_default=True)
class Struct(tuple[Any, ...]):
    """What `typing.NamedTuple` makes of a class, without the code that it writes and compiles for each.

    >>> class Span(Struct):
    ...     start: int
    ...     stop: int = 0
    >>> Span(1), Span(1)._replace(stop=4), Span(3).start, (*Span(3, stop=5),)
    (Span(start=1, stop=0), Span(start=1, stop=4), 3, (3, 5))
    """

    _fields: ClassVar[tuple[str, ...]] = ()
    _field_defaults: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls._fields = tuple(inspect.get_annotations(cls))
        cls._field_defaults = {name: cls.__dict__[name] for name in cls._fields if name in cls.__dict__}
        for place, name in enumerate(cls._fields):
            setattr(cls, name, property(operator.itemgetter(place)))

    def __new__(cls, *given: Any, **named: Any) -> Self:
        """A struct of these values, by place or by name."""
        values = cls._field_defaults | dict(zip(cls._fields, given, strict=False)) | named
        twice = len(given) > len(cls._fields) or not named.keys().isdisjoint(cls._fields[: len(given)])
        if twice or len(values) != len(cls._fields) or not values.keys() >= set(cls._fields):
            raise TypeError(f"{cls.__name__} takes {', '.join(cls._fields)}, each once, and all that have no default")
        return super().__new__(cls, [values[name] for name in cls._fields])

    def _replace(self, **changes: Any) -> Self:
        return type(self)(**dict(zip(self._fields, self, strict=True)) | changes)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
        return f"{type(self).__qualname__}({values})"


def lazily(
    module: str, homes: Mapping[str, str], *, own: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The ``__getattr__``, ``__dir__`` and ``__all__`` of a module: ``homes`` says which module defines each of its names.

    >>> load, listed, names = lazily("calque", {"Issue": "calque.base.errors"}, own=["__version__"])
    >>> load("Issue").__name__, names
    ('Issue', ['__version__', 'Issue'])
    """
    names = [*own, *sorted(homes)]

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}{_suggestion(name, names)}")
        value = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[module], name, value)
        return value

    return load, lambda: names, names


def _suggestion(name: str, known: list[str]) -> str:
    if name.startswith("_"):
        return ""  # Python and its tools ask for such names often
    import difflib  # only to explain

    close = difflib.get_close_matches(name, known, n=1)
    return f". Did you mean {close[0]!r}?" if close else ""


def pattern(text: str) -> Callable[[], re.Pattern[str]]:
    """A regular expression that is compiled when it is first asked for: a long one takes as long as a module.

    >>> digits = pattern(r"[0-9]+")
    >>> digits().findall("7 of 12")
    ['7', '12']
    """
    return functools.cache(functools.partial(re.compile, text))


def roomy(call: Call) -> Call:
    """Give a function that runs a whole process memory for all calls inside of it, in one piece.

    Python keeps the frames of calls in pieces of 16 kB and returns the last one as soon as it is empty: a loop whose calls
    cross the end of a piece asks the system for memory each time. A function that says it needs much gets a long piece.
    """
    function = cast("FunctionType", call)
    function.__code__ = function.__code__.replace(co_stacksize=ROOM_FOR_CALLS)
    return call
