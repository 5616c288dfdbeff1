"""What a comparator is: a similarity of two values in [0, 1], for one pair or for whole lists; and comparators by name."""

from __future__ import annotations

import dataclasses
import importlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from calque.base.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from calque.base.columns import Codes, Floats
    from calque.kernels.structs import TextPoints


@dataclass(frozen=True, slots=True, eq=False)
class PairScores:
    """Similarities of chosen pairs of values, by their numbers, in a form that the kernels know, too.

    Where keys are given, values with other keys are not alike at all; where texts are, the nearer they are the more alike.
    """

    keys: tuple[Floats, Floats] | None = None
    """Of the truth's values and of the found ones."""
    texts: TextPoints | None = None
    """Of both, the truth's first."""
    truth_texts: int = 0

    def __call__(self, rows: Codes, columns: Codes) -> Floats:
        """The similarity of each pair."""
        import numpy as np

        same = None if self.keys is None else self.keys[0][rows] == self.keys[1][columns]
        if self.texts is None:
            return np.asarray(same, dtype=np.float64)
        from calque.kernels import kernels

        others = columns + np.int32(self.truth_texts)
        lengths = np.diff(self.texts.offsets)
        longest = np.maximum(np.maximum(lengths[rows], lengths[others]), 1)
        made = 1.0 - kernels().edit_distances(self.texts, rows, others) / longest
        return np.asarray(made if same is None else made * same)


@dataclass(frozen=True)
class BaseComparator(ABC):
    """How alike two values are. Subclasses say so in `_compare`; a registered name makes them usable in schemas.

    Both values absent are alike (1.0), one absent is not (0.0); `_compare` never sees ``None``. What costs time and
    depends on one value only belongs in `prepare`: lists compare every value many times and prepare it once.
    """

    name: ClassVar[str] = ""

    threshold: float | None = None
    """From where on two values count as the same, for fields that do not say."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)

    def __post_init__(self) -> None:
        given = self.threshold
        # Other libraries have other options in the first place.
        if given is not None and (isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1):
            raise ConfigError(f"{type(self).__name__}: threshold must be from 0 to 1, not {given!r}; give options by name")

    def prepare(self, value: Any) -> Any:
        """The form of a value that `_compare` and `matrix` take."""
        return value

    def prepare_all(self, values: Sequence[Any]) -> Sequence[Any]:
        """Many values at once, for `matrix`; override it where that is faster than one by one."""
        return [self.prepare(value) for value in values]

    @abstractmethod
    def _compare(self, truth: Any, found: Any) -> float:
        """The similarity of two prepared values, neither of them ``None``."""

    def compare(self, truth: Any, found: Any) -> float:
        """The similarity of two values."""
        if truth is None or found is None:
            return 1.0 if truth is found else 0.0
        try:
            return self._compare(self.prepare(truth), self.prepare(found))
        except RecursionError:
            raise ValueError(
                f"{type(self).__name__}: a value is nested too deeply to be compared. Compare its parts."
            ) from None

    def __call__(self, truth: Any, found: Any) -> float:
        """The same as `compare`."""
        return self.compare(truth, found)

    def matrix(self, truths: Sequence[Any], founds: Sequence[Any]) -> Floats:
        """The similarity of every prepared truth with every prepared found value."""
        import numpy as np

        rows = [[self._compare(truth, found) for found in founds] for truth in truths]
        return np.array(rows, dtype=np.float64).reshape(len(truths), len(founds))

    def by_pairs(self, truths: Sequence[Any], founds: Sequence[Any]) -> Callable[[Codes, Codes], Floats]:
        """What gives the similarities of chosen pairs of prepared values, by their numbers; equal pairs are compared once."""
        import numpy as np

        from calque.base.columns import distinct

        def scores(rows: Codes, columns: Codes) -> Floats:
            pairs = rows.astype(np.int64) * max(len(founds), 1) + columns
            known, place = distinct(pairs)
            chosen = (divmod(pair, max(len(founds), 1)) for pair in known.tolist())
            compared = [self._compare(truths[row], founds[column]) for row, column in chosen]
            return np.asarray(np.array(compared, dtype=np.float64)[place])

        return scores

    def binary_compare(self, truth: Any, found: Any) -> tuple[int, int]:
        """``(1, 0)`` for two values that count as the same, else ``(0, 1)``."""
        same = self.compare(truth, found) >= (0.5 if self.threshold is None else self.threshold)
        return (1, 0) if same else (0, 1)

    def params(self) -> dict[str, Any]:
        """The options that differ from their defaults, by name; the threshold is not one of them."""
        return {
            field.name: value
            for field in dataclasses.fields(self)
            if field.name != "threshold" and (value := getattr(self, field.name)) != field.default
        }


@dataclass(frozen=True)
class FunctionComparator(BaseComparator):
    """A plain function of two values as a comparator."""

    name: ClassVar[str] = "function"

    function: Callable[[Any, Any], float] = lambda truth, found: float(truth == found)
    label: str = "function"
    """The name under which the function is registered."""

    def _compare(self, truth: Any, found: Any) -> float:
        score = float(self.function(truth, found))
        if not 0 <= score <= 1:
            raise ConfigError(f"comparator {self.label!r}: a similarity is from 0 to 1, not {score!r}")
        return score

    def params(self) -> dict[str, Any]:
        """None: the registered name stands for the function."""
        return {}


BUILT_IN = {
    "anls": ("anls", "ANLSComparator"),
    "anls_star": ("anls", "ANLSStarComparator"),
    "bbox_iou": ("box", "BBoxIoUComparator"),
    "date": ("date", "DateComparator"),
    "exact": ("text", "ExactComparator"),
    "fuzzy": ("text", "FuzzyComparator"),
    "ignore": ("choice", "IgnoreComparator"),
    "levenshtein": ("text", "LevenshteinComparator"),
    "normalized": ("text", "NormalizedComparator"),
    "numeric": ("numeric", "NumericComparator"),
    "one_of": ("choice", "OneOfComparator"),
    "phone": ("phone", "PhoneComparator"),
}
"""The comparators that come with calque: their module here, and their class."""
OTHER_NAMES = {"Fuzz": "fuzzy", "NumericExactC": "numeric"}
"""What stickler calls some of them beside the name of the class."""

_REGISTERED: dict[str, Callable[..., BaseComparator]] = {}

Registered = TypeVar("Registered", bound=Callable[..., Any])


def register_comparator(name: str, comparator: Registered) -> Registered:
    """Register a comparator under a name that schemas can use.

    Args:
        name: The name.
        comparator: A subclass of `BaseComparator`, or a function of two values that returns their similarity from 0 to 1.

    Returns:
        The comparator itself.

    Raises:
        ConfigError: calque has a comparator of that name.
        TypeError: ``name`` is not a text, or ``comparator`` is neither a class nor a function.

    >>> _ = register_comparator("same_length", lambda truth, prediction: float(len(truth) == len(prediction)))
    >>> comparator("same_length").compare("abc", "xyz")
    1.0
    """
    if not isinstance(name, str) or not name:
        raise TypeError(f"register_comparator: name must be a text, not {name!r}")
    if name in BUILT_IN:
        raise ConfigError(f"the comparator {name!r} comes with calque and cannot be replaced; choose another name")
    if isinstance(comparator, type) and issubclass(comparator, BaseComparator):
        _REGISTERED[name] = comparator
    elif callable(comparator):
        function: Any = comparator
        _REGISTERED[name] = partial(FunctionComparator, function=function, label=name)
    else:
        raise TypeError(f"{name}: a comparator is a class derived from BaseComparator or a function of two values")
    return comparator


def names() -> list[str]:
    """All comparators that schemas can name."""
    return sorted({*BUILT_IN, *_REGISTERED})


def named_in(schema: str) -> dict[str, Callable[..., BaseComparator]]:
    """The registered comparators that a schema may name, for a process that does not know them yet."""
    return {name: made for name, made in _REGISTERED.items() if json.dumps(name, ensure_ascii=False) in schema}


def adopt(comparators: Mapping[str, Callable[..., BaseComparator]]) -> None:
    """Know what was registered in another process."""
    _REGISTERED.update(comparators)


def comparator(name: str, params: Mapping[str, Any] | None = None, threshold: float | None = None) -> BaseComparator:
    """The comparator of a name, with options. Class names work as well.

    >>> comparator("numeric", {"absolute_tolerance": 0.01}).params()
    {'absolute_tolerance': 0.01}
    """
    make = _maker(name)
    options = dict(params or {})
    known = {field.name: str(field.type) for field in dataclasses.fields(make)} if isinstance(make, type) else {"threshold": ""}
    for key, value in options.items():
        if key not in known:
            raise ConfigError(
                f"comparator {name!r} has no option {key!r}; {did_you_mean(key, known) or 'it has ' + ', '.join(known)}"
            )
        _check_option(f"comparator {name!r}: {key}", value, known[key])
    if "inner" in options and not isinstance(options["inner"], BaseComparator):
        options["inner"] = _described(options["inner"], f"comparator {name!r}: inner")
    options.setdefault("threshold", threshold)
    return make(**options)


_EXPECTED: dict[str, tuple[tuple[type, ...], str]] = {
    "bool": ((bool,), "true or false"),
    "float": ((int, float), "a number"),
    "str": ((str,), "text"),
}
"""What an option may be, by its annotation. Others are for the comparator itself to check."""


def _check_option(where: str, value: Any, annotation: str) -> None:
    kind, _, optional = annotation.partition(" | ")
    if kind not in _EXPECTED or (optional == "None" and value is None):
        return
    types, told = _EXPECTED[kind]
    if not isinstance(value, types) or (isinstance(value, bool) and kind != "bool"):
        raise ConfigError(f"{where}: {told} is expected here, not {value!r}")


def _maker(name: str) -> Callable[..., BaseComparator]:
    short = next((key for key, (_, class_name) in BUILT_IN.items() if class_name == name), OTHER_NAMES.get(name, name))
    if short in BUILT_IN:
        module, class_name = BUILT_IN[short]
        made: type[BaseComparator] = getattr(importlib.import_module(f"calque.comparators.{module}"), class_name)
        return made
    if short not in _REGISTERED:
        raise ConfigError(
            f"no comparator is named {name!r}; {did_you_mean(name, names()) or 'there are ' + ', '.join(names())}"
        )
    return _REGISTERED[short]


def describe(made: BaseComparator) -> dict[str, Any]:
    """The name and options that `comparator` makes this one from."""
    name = made.label if isinstance(made, FunctionComparator) else _name_of(type(made))
    params = made.params()
    return {"comparator": name, "params": params} if params else {"comparator": name}


def _name_of(kind: type[BaseComparator]) -> str:
    known = [name for name, made in _REGISTERED.items() if made is kind]
    if known:
        return known[0]
    if kind.name in BUILT_IN and _maker(kind.name) is kind:
        return kind.name
    # Known from here on in this process; a state that names it asks others to register it first.
    name = f"{kind.__module__}:{kind.__qualname__}"
    _REGISTERED[name] = kind
    return name


def _described(description: Any, where: str) -> BaseComparator:
    if isinstance(description, str):
        return comparator(description)
    if not isinstance(description, Mapping) or not isinstance(description.get("comparator"), str):
        raise ConfigError(f'{where}: a name, or {{"comparator": name, "params": {{…}}}}, is expected here, not {description!r}')
    return comparator(description["comparator"], description.get("params"))
