"""Annotations in words, whether values fit them, and errors that name the argument."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
import pytest

from calque import Ceiling, Detection, Fields, Layout, Order, Tables, Words
from calque.base.arguments import LOOKED_AT, described, fits, names_arguments, names_fields
from calque.base.errors import ConfigError
from calque.checks import Checks
from calque.evaluation.task import Task, settings


class Answer:
    """A class of which an instance is asked for."""


@pytest.mark.parametrize(
    ("value", "hint", "fit"),
    [
        (3, int, True), (3, float, True), (True, int, False), (1.5, int, False), ("3", float, False), (np.int64(3), int, True),
        ("a", Literal["a", "b"], True), ("c", Literal["a", "b"], False), (None, int | None, True), ("x", int | None, False),
        ([1, 2], list[int], True), ([1, "2"], list[int], False), ("ab", list[str], False), (b"ab", Sequence[int], False),
        ({"a": 1}, Mapping[str, int], True), ({"a": "1"}, Mapping[str, int], False), ([1], Mapping[str, int], False),
        ({"a": 1}, Iterable[str], True), (iter([1]), Iterable[str], True), ([1], list, True), (3, Iterable[int], False),
        ([[1.5]], np.ndarray, True), (["x"], np.ndarray, False), ("12", np.ndarray, False), ([], np.ndarray, True),
        (object(), Any, True), (Answer(), Answer, True), (3, Answer, False), (3, "unknown", True),
        ([1] * LOOKED_AT + ["x"], list[int], True), ([1] * (LOOKED_AT - 1) + ["x"], list[int], False),
    ],
)  # fmt: skip
def test_values_fit_their_annotations(value: Any, hint: Any, fit: bool) -> None:
    assert fits(value, hint) is fit


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        (bool, "True or False"), (int, "a whole number"), (bytes, "bytes"), (str | None, "a text or None"),
        (Sequence[float], "a list of numbers"), (list[int], "a list of whole numbers"), (list[bytes], "a list"),
        (list, "a list"),
        (Mapping[str, int], "a mapping"), (dict, "a mapping"), (Callable[..., int], "a function"), (Answer, "an Answer"),
        (np.ndarray, "an array of numbers"), (Literal["x", 3], "'x' or 3"), (type("Box", (), {}), "a Box"),
    ],
)  # fmt: skip
def test_annotations_in_words(hint: Any, words: str) -> None:
    assert described(hint) == words


@names_arguments
def tried(number: float, *, names: Sequence[str] = ()) -> float:
    """Stumbles over anything but a number and texts."""
    return number / 2 + len("".join(names))


@pytest.mark.parametrize(
    ("given", "named", "message"),
    [
        (("x",), {}, "tried: number must be a number, not 'x'"),
        ((1,), {"names": [1]}, "tried: names must be a list of texts, not [1]"),
        ((10**400,), {}, None),
        (("y" * 90,), {}, f"tried: number must be a number, not '{'y' * 76}..."),
        (("y" * 78,), {}, f"tried: number must be a number, not '{'y' * 78}'"),
        ((), {}, "tried() missing 1 required positional argument: 'number'"),
    ],
)
def test_the_argument_that_is_wrong_is_named(given: tuple[Any, ...], named: dict[str, Any], message: str | None) -> None:
    with pytest.raises((TypeError, OverflowError)) as raised:
        tried(*given, **named)
    assert message is None or str(raised.value) == message


def test_what_fits_and_fails_is_told_with_all_that_was_given() -> None:
    @names_arguments
    def picked(place: int, of: Sequence[int]) -> int:
        return of[place]

    with pytest.raises(TypeError, match=r"picked: cannot take place=3, of=\[1\]"):
        picked(3, [1])
    assert picked(0, [1]) == 1


def test_classes_name_the_arguments_of_their_constructor() -> None:
    @names_arguments
    class Half:
        def __init__(self, number: float) -> None:
            self.value = number / 2

    assert Half(3).value == 1.5
    with pytest.raises(TypeError, match="Half: number must be a number, not 'x'"):
        Half("x")  # type: ignore[arg-type]


@dataclass(frozen=True)
class Base:
    """Fields that are checked."""

    size: float = 1.0
    name: str = ""

    def __init_subclass__(cls) -> None:
        names_fields(cls)


@dataclass(frozen=True)
class Checked(Base):
    """One whose check stumbles, or refuses."""

    def __post_init__(self) -> None:
        if self.name == "refused":
            raise ConfigError("told as it is")
        {1.0: "one", 2.0: "two"}[self.size].index(self.name)


def test_the_field_that_is_wrong_is_named() -> None:
    assert Checked(2.0, "tw").size == 2.0
    with pytest.raises(TypeError, match="Checked: size must be a number, not 'x'"):
        Checked("x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"Checked: size cannot be 3\.0"):
        Checked(3.0)
    with pytest.raises(TypeError, match=r"Checked: name cannot be 'z'"):
        Checked(2.0, "z")
    with pytest.raises(ConfigError, match="told as it is"):
        Checked(name="refused")


TASKS = (Ceiling, Checks, Detection, Fields, Layout, Order, Tables, Words)


@pytest.mark.parametrize(("task", "name"), [(task, field.name) for task in TASKS for field in fields(task) if field.init])
def test_every_setting_of_every_task_refuses_what_it_cannot_be_by_its_name(task: type[Task], name: str) -> None:
    for nothing_like_it in (complex(1, 2), object()):
        with pytest.raises((ConfigError, TypeError), match=name):
            task(**{name: nothing_like_it})


@pytest.mark.parametrize(
    ("task", "name"), [(task, name) for task in TASKS for name, note in settings(task).items() if note.kind == "choice"]
)
def test_every_choice_refuses_what_is_not_among_them_and_says_what_is(task: type[Task], name: str) -> None:
    choices = settings(task)[name].choices
    with pytest.raises(ConfigError, match=rf"{name}.*'{choices[-1]}x'") as refusal:
        task(**{name: f"{choices[-1]}x"})
    assert f"did you mean '{choices[-1]}'?" in str(refusal.value) or all(choice in str(refusal.value) for choice in choices)
