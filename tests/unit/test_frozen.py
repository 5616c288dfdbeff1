"""Classes that never change, laid beside the dataclasses that they stand in for."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pkgutil
import re
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import pytest

import calque

Kept = TypeVar("Kept")


@dataclass(frozen=True)
class Span:
    """What is tried."""

    start: int
    stop: int
    step: int = 1

    def __post_init__(self) -> None:
        if self.start > self.stop:
            raise ValueError("a span does not end before it starts")

    @cached_property
    def length(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True)
class Named(Span):
    """One that adds to another."""

    name: str = ""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Columns:
    """One whose values cannot be compared."""

    rows: Any


@dataclass(frozen=True)
class Holder(Generic[Kept]):
    """One for values of any kind."""

    kept: Kept


@dataclass(frozen=True)
class Twin:
    """The dataclass that `Span` is like."""

    start: int
    stop: int
    step: int = 1


@dataclass(frozen=True, kw_only=True)
class Noted:
    """One with all that a field may say, and a default that a dataclass would refuse."""

    fixed: ClassVar[int] = 7
    length: float = field(default=1.0, metadata={"unit": "m"})
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Both(Noted, Span):
    """One with two bases."""

    last: str = ""


ASKED = [((1, 2), {}), ((1,), {"stop": 4}), ((), {"start": 1, "stop": 2, "step": 3}), ((1, 2, 3), {})]
WRONG: list[tuple[tuple[int, ...], dict[str, int]]] = [
    ((), {}),
    ((1,), {}),
    ((1, 2, 3, 4), {}),
    ((1, 2), {"start": 1}),
    ((1, 2), {"other": 1}),
    ((1,), {"step": 2}),
]


@pytest.mark.parametrize(("given", "named"), ASKED)
def test_values_defaults_text_and_hash_are_those_of_a_dataclass(given: tuple[int, ...], named: dict[str, int]) -> None:
    ours, twin = Span(*given, **named), Twin(*given, **named)
    assert (ours.start, ours.stop, ours.step) == (twin.start, twin.stop, twin.step)
    assert repr(ours) == repr(twin).replace("Twin", "Span")
    assert hash(ours) == hash(twin)
    assert ours == Span(*given, **named)
    assert ours != Span(0, 100)
    assert ours != twin


@pytest.mark.parametrize(("given", "named"), WRONG)
def test_arguments_that_a_dataclass_refuses_are_refused(given: tuple[int, ...], named: dict[str, int]) -> None:
    with pytest.raises(TypeError):
        Twin(*given, **named)
    with pytest.raises(TypeError, match=r"Span takes start, stop, step, each once, and all that have no default"):
        Span(*given, **named)


def test_an_argument_that_is_not_there_is_named_with_the_one_that_was_meant() -> None:
    with pytest.raises(TypeError, match=r"^Span has no 'stops': did you mean 'stop'\?$"):
        Span(1, stops=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^Span has no 'other'; Span takes start, stop, step"):
        Span(1, 2, other=2)  # type: ignore[call-arg]


def test_what_asks_a_dataclass_gets_the_same_answers() -> None:
    ours, twin = Span(1, 2), Twin(1, 2)
    assert is_dataclass(ours)
    assert asdict(ours) == asdict(twin)
    assert [(each.name, each.type, each.default) for each in fields(Span)] == [
        (each.name, each.type, each.default) for each in fields(Twin)
    ]
    assert replace(ours, stop=9) == Span(1, 9)
    with pytest.raises(ValueError, match="does not end before"):
        replace(ours, stop=0)
    assert Span.__match_args__ == Twin.__match_args__
    assert inspect.signature(Span) == inspect.signature(Twin)


def test_fields_of_all_bases_are_known_with_what_they_say() -> None:
    made = Both(start=1, stop=2)
    assert [each.name for each in fields(Both)] == ["start", "stop", "step", "length", "names", "last"]
    assert dict(fields(Noted)[0].metadata) == {"unit": "m"}
    assert (made.length, made.names, made.fixed) == (1.0, {}, 7)
    assert [each.name for each in fields(Noted)] == ["length", "names"]
    assert {each.kind for each in inspect.signature(Both).parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}


def test_a_dataclass_may_derive() -> None:
    @dataclass(frozen=True)
    class Longer(Span):
        more: dict[str, int] = field(default_factory=dict)

    made = Longer(1, 2, 3, {"a": 1})
    assert made == Longer(start=1, stop=2, step=3, more={"a": 1})
    assert repr(made).endswith("Longer(start=1, stop=2, step=3, more={'a': 1})")
    assert replace(Longer(1, 2), step=4) == Longer(1, 2, 4)
    assert list(inspect.signature(Longer).parameters) == ["start", "stop", "step", "more"]
    with pytest.raises(ValueError, match="does not end before"):
        Longer(2, 1)
    with pytest.raises(FrozenInstanceError):
        made.step = 2  # type: ignore[misc]


def test_nothing_can_be_changed() -> None:
    span = Span(1, 2)
    with pytest.raises(AttributeError, match="cannot assign to 'start': Span never changes"):
        span.start = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match="cannot delete 'start'"):
        del span.start
    assert span == Span(1, 2)


def test_a_changed_copy_is_checked_like_a_new_one() -> None:
    assert replace(Span(1, 2), stop=9) == Span(1, 9)
    with pytest.raises(ValueError, match="does not end before"):
        replace(Span(1, 2), stop=0)


def test_a_class_that_adds_has_all_values_and_is_another() -> None:
    assert Named(1, 2, name="a") == Named(1, 2, 1, "a")
    assert Named(1, 2) != Span(1, 2)


def test_without_equality_each_is_itself_and_keywords_are_needed() -> None:
    one, other = Columns(rows=[1]), Columns(rows=[1])
    assert one == one
    assert one != other
    assert len({one, other}) == 2
    with pytest.raises(TypeError):
        Columns([1])  # type: ignore[misc]


def test_what_is_remembered_is_no_value_and_copies_travel() -> None:
    span = Span(1, 5)
    assert span.length == 4
    assert span == Span(1, 5)
    assert pickle.loads(pickle.dumps(span)) == span
    assert replace(span, stop=7).length == 6


def test_generic_classes_may_be_named_with_their_kind() -> None:
    assert Holder[int](3).kept == 3


class Place(NamedTuple):
    """What is tried of tuples."""

    page: int
    row: int
    note: str = ""


class PlaceTwin(NamedTuple):
    """The named tuple that `Place` is like."""

    page: int
    row: int
    note: str = ""


PLACED: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((1, 2), {}),
    ((1,), {"row": 4}),
    ((), {"row": 1, "page": 2, "note": "x"}),
    ((1, 2, "y"), {}),
]
MISPLACED: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    ((1,), {}),
    ((1, 2, "", 4), {}),
    ((1, 2), {"page": 1}),
    ((1,), {"other": 2}),
    ((1, 2), {"other": 2}),
]


@pytest.mark.parametrize(("given", "named"), PLACED)
def test_structs_are_the_tuples_that_named_tuples_are(given: tuple[Any, ...], named: dict[str, Any]) -> None:
    ours, twin = Place(*given, **named), PlaceTwin(*given, **named)
    assert tuple(ours) == tuple(twin)
    assert (ours.page, ours.row, ours.note) == (twin.page, twin.row, twin.note)
    assert repr(ours) == repr(twin).replace("PlaceTwin", "Place")
    assert (hash(ours), len(ours), ours[1:]) == (hash(twin), len(twin), twin[1:])
    assert tuple(ours._replace(row=9)) == tuple(twin._replace(row=9))
    assert pickle.loads(pickle.dumps(ours)) == ours
    assert type(pickle.loads(pickle.dumps(ours))) is Place
    assert (Place._fields, Place._field_defaults) == (PlaceTwin._fields, PlaceTwin._field_defaults)


@pytest.mark.parametrize(("given", "named"), MISPLACED)
def test_what_a_named_tuple_refuses_a_struct_refuses(given: tuple[Any, ...], named: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        PlaceTwin(*given, **named)
    with pytest.raises(TypeError, match="Place takes page, row, note, each once"):
        Place(*given, **named)


def test_a_struct_never_changes() -> None:
    with pytest.raises(AttributeError):
        Place(1, 2).page = 3  # type: ignore[misc]
    with pytest.raises(TypeError):
        Place(1, 2)._replace(other=3)


def classes_of_columns() -> list[type]:
    """The classes of the package that hold arrays of their own."""
    for module in pkgutil.walk_packages(calque.__path__, "calque."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found, waiting = [], [Frozen]
    while waiting:
        for made in waiting.pop().__subclasses__():
            waiting.append(made)
            values = [str(each) for each in inspect.get_annotations(made).values() if "Callable" not in str(each)]
            if made.__module__.startswith("calque.") and any(map(COLUMN.search, values)):
                found.append(made)
    return found


COLUMN = re.compile(r"\b(Array|Bytes|Codes|Flags|Floats|Ints|Table|Strings|Ledger)\b")


def test_what_holds_columns_is_equal_to_itself_alone() -> None:
    """Comparing arrays gives an array: an equality of such classes would fail, or answer only for one row."""
    made = classes_of_columns()
    assert len(made) > 40
    assert [
        each.__qualname__ for each in made if each.__eq__ is not object.__eq__ or each.__hash__ is not object.__hash__
    ] == []
