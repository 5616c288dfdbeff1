"""Strict settings: every key is known, every value is checked, and a message says what, where and what was probably meant."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from calque.base.errors import ConfigError, did_you_mean
from calque.base.yaml_tree import Located
from calque.checks.evaluators.outcome import Ranges
from calque.checks.evaluators.paths import Path
from calque.checks.shapes.coordinates import shown

Value = TypeVar("Value")


class Complaints:
    """Collects everything that is wrong with a configuration, so that it can be told at once."""

    def __init__(self, file: str = "", place: str = "") -> None:
        self.file = file
        self.place = place
        """Where everything stands that does not know its own place."""
        self.lines: list[str] = []
        """Everything that is wrong so far."""

    def add(self, where: Mapping[str, Any], key: str | None, message: str, *, help: str = "") -> None:
        """Write down what is wrong with a key of a mapping, or with the mapping itself."""
        place = self.place
        if isinstance(where, Located):
            place = where.place if key is None else where.places.get(key, where.place)
        self.add_at(place, message, help=help)

    def add_at(self, place: str, message: str, *, help: str = "") -> None:
        """Write down what is wrong at a place."""
        said = ": ".join(part for part in (self.file, place, message) if part)
        self.lines.append(f"{said}; {help}" if help else said)

    def raise_all(self) -> None:
        """Raise a `ConfigError` if anything is wrong."""
        if self.lines:
            raise ConfigError("\n".join(self.lines))


@dataclass(frozen=True, slots=True)
class Key:
    """One setting: how it is checked, and how an editor learns of it."""

    name: str
    check: Callable[[Any], Any]
    """The setting's value, ready to use; `ValueError` when it is not valid."""
    schema: Mapping[str, Any]
    help: str
    default: Any = None
    required: bool = False


@dataclass(frozen=True, slots=True)
class Keys:
    """The settings that something takes."""

    owner: str
    keys: tuple[Key, ...]
    by_name: Mapping[str, Key] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {key.name: key for key in self.keys})

    def read(self, config: Mapping[str, Any], complaints: Complaints) -> dict[str, Any]:
        """The values of all settings; what is wrong goes to the complaints and has its default here."""
        for name in config:
            if name not in self.by_name:
                hint = did_you_mean(str(name), self.by_name) or f"known are {', '.join(self.by_name)}"
                complaints.add(config, name, f"unknown key {name!r} in {self.owner}", help=hint)
        return {key.name: self._value(key, config, complaints) for key in self.keys}

    def _value(self, key: Key, config: Mapping[str, Any], complaints: Complaints) -> Any:
        if key.name not in config:
            if key.required:
                complaints.add(config, None, f"{self.owner} needs {key.name!r}", help=key.help)
            return key.default
        try:
            return key.check(config[key.name])
        except ValueError as error:
            complaints.add(config, key.name, str(error))
            return key.default

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of a mapping with these settings."""
        return {
            "type": "object",
            "additionalProperties": False,
            "properties": {key.name: {"description": key.help, **key.schema} for key in self.keys},
            "required": [key.name for key in self.keys if key.required],
        }


def real(value: Any, name: str) -> float:
    """A finite number; a bool is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        raise ValueError(f"{name} must be a finite number, not {shown(value)}")
    return float(value)


def between(name: str, low: float, high: float, *, open_low: bool = False) -> Callable[[Any], float]:
    """A check for a number in a range, which includes its ends, or all but the lower one."""

    def check(value: Any) -> float:
        number = real(value, name)
        if not (low <= number <= high) or (open_low and number == low):
            ends = f"{'(' if open_low else '['}{low:g}, {high:g}]" if high < math.inf else f"at least {low:g}"
            raise ValueError(f"{name} must be {'in ' if high < math.inf else ''}{ends}, not {shown(value)}")
        return number

    return check


def fraction(name: str) -> Key:
    """A setting above 0 and up to 1."""
    return Key(name, between(name, 0.0, 1.0, open_low=True), {"type": "number", "exclusiveMinimum": 0, "maximum": 1}, "")


def one_of(words: Iterable[str], complaint: str, listing: str) -> Callable[[Any], str]:
    """A check for a word from a list; ``complaint`` begins the message, ``listing`` introduces the valid words."""
    known = tuple(words)

    def check(value: Any) -> str:
        if isinstance(value, str) and value in known:
            return value
        spelled = value if isinstance(value, str) else shown(value)
        question = did_you_mean(spelled, known)
        raise ValueError(f"{complaint}: {spelled}; {listing} {', '.join(known)}" + (f"; {question}" if question else ""))

    return check


def choice(name: str, words: Iterable[str], default: str, help: str) -> Key:
    """A setting that takes one of a few words."""
    known = tuple(words)
    check = one_of(known, f"Invalid {name}", "it can be")
    return Key(name, check, {"enum": list(known), "default": default}, help, default)


def flag(name: str, help: str) -> Key:
    """A setting that is true or false; false by default."""

    def check(value: Any) -> bool:
        if not isinstance(value, bool):
            raise ValueError(f"{name} must be true or false, not {shown(value)}")
        return value

    return Key(name, check, {"type": "boolean", "default": False}, help, False)


def path(value: Any) -> Path:
    """A compiled path."""
    if not isinstance(value, str):
        raise ValueError(f"a path must be text, not {shown(value)}")
    return Path.compile(value)


PATH_SCHEMA = {"type": "string", "minLength": 1}


def text(value: Any) -> str:
    """Text that is not empty."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"a name must be text, not {shown(value)}")
    return value


def ranges(value: Any) -> Ranges:
    """``{pass: 0.8, partial: 0.5}``."""
    if not isinstance(value, Mapping) or not set(value) <= {"pass", "partial"}:
        raise ValueError(f"verdict_ranges must be {{pass: 0.8, partial: 0.5}}, not {shown(value)}")
    usual = Ranges()
    limit = between("verdict_ranges", 0.0, 1.0)
    chosen = Ranges(limit(value.get("pass", usual.pass_from)), limit(value.get("partial", usual.partial_from)))
    if chosen.partial_from > chosen.pass_from:
        raise ValueError(f"verdict_ranges: partial ({chosen.partial_from:g}) must not lie above pass ({chosen.pass_from:g})")
    return chosen


def page_size(value: Any) -> tuple[float, float]:
    """``[width, height]``."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ValueError(f"page_size must be [width, height], not {shown(value)}")
    width, height = (real(part, "page_size") for part in value)
    if width <= 0 or height <= 0:
        raise ValueError(f"page_size must be positive, not {shown(value)}")
    return width, height


SHARED_KEYS = (
    Key("type", text, {"type": "string"}, "what to evaluate", required=True),
    Key("name", text, {"type": "string", "minLength": 1}, "how results call this evaluator; its type by default"),
    Key(
        "weight",
        between("weight", 0.0, math.inf),
        {"type": "number", "minimum": 0, "default": 1},
        "its weight in the mean over evaluators",
        1.0,
    ),
    Key(
        "verdict_ranges",
        ranges,
        {
            "type": "object",
            "additionalProperties": False,
            "properties": {"pass": {"type": "number"}, "partial": {"type": "number"}},
        },
        "without a threshold: scores from which a case passes, or passes in part",
        Ranges(),
    ),
    Key(
        "page_size",
        page_size,
        {"type": "array", "items": {"type": "number", "exclusiveMinimum": 0}, "minItems": 2, "maxItems": 2},
        "width and height of the page",
    ),
    Key("page_size_path", path, PATH_SCHEMA, "where the expected data has [width, height] of the page"),
)
"""The settings that every geometric evaluator takes."""
