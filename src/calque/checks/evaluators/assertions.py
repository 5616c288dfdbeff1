"""Everyday assertions: ``equals``, ``contains``, ``one_of``, ``regex``, ``numeric_tolerance`` and ``json_schema``.

Each looks at one value of the output, or, where the path has ``[*]``, at every item. What it is held against
stands in the suite or in the expected data. The score is the share of values for which it holds.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from calque.checks.evaluators import settings
from calque.checks.evaluators.outcome import Outcome, Status, Verdict, reaches, unusable, within
from calque.checks.evaluators.paths import Gathered, Missing, Path, same
from calque.checks.evaluators.patterns import TEXTS, Pattern, PatternClock
from calque.checks.evaluators.schema_work import TooDeep, TooMuchWork
from calque.checks.evaluators.schemas import Schema
from calque.checks.evaluators.settings import PATH_SCHEMA, SHARED_KEYS, Complaints, Key, Keys, flag
from calque.checks.shapes.coordinates import BadValue, number, plain, shown

NOTHING = object()
"""Stands for a setting that was not given, where ``null`` is a value."""
ROOT = Path("$", ())
LISTED = 5
"""How many values that do not hold are named."""


class BadTruth(ValueError):
    """What is expected cannot be used: the author's error, and not the model's."""


def _anything(value: Any) -> Any:
    return value


def _texts(name: str) -> Callable[[Any], tuple[Any, ...]]:
    def check(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple) or not value:
            raise ValueError(f"{name} must be a list of values, not {shown(value)}")
        return tuple(value)

    return check


def keys(owner: str, *own: Key, negates: bool = True) -> Keys:
    """The settings of an assertion: those that all have, and its own."""
    shared = {key.name: key for key in SHARED_KEYS}
    general = (
        *(shared[name] for name in ("type", "name", "weight")),
        Key("path", settings.path, PATH_SCHEMA, "where the output has the value; all of it by default", ROOT),
        Key(
            "threshold",
            settings.fraction("threshold").check,
            settings.fraction("").schema,
            "with [*] in the path: the share of items for which it must hold; all by default",
        ),
        *((flag("negate", "whether it must not hold"),) if negates else ()),
    )
    return Keys(owner, (*general, *own))


VALUE = Key("value", _anything, {}, "what the output must have, where every case is held to the same", NOTHING)
EXPECTED_PATH = Key("expected_path", settings.path, PATH_SCHEMA, "where the expected data has it; as path by default")
IGNORE_CASE = flag("ignore_case", "whether capital and small letters are the same")
IGNORE_SPACE = flag("ignore_whitespace", "whether white space around texts, and how much there is within, does not matter")


@dataclass(frozen=True, kw_only=True)
class Assertion(ABC):
    """What all assertions have in common."""

    type: ClassVar[str]
    keys: ClassVar[Keys]

    name: str
    weight: float
    path: Path
    truth_path: Path | None
    """Where the expected data says what must hold; ``None`` where the suite does."""
    value: Any
    least: float
    negate: bool

    @property
    def threshold(self) -> float:
        """The share of items for which it must hold."""
        return self.least

    @classmethod
    def from_config(cls, raw: Mapping[str, Any], complaints: Complaints) -> Self:
        """The evaluator that the settings describe; what is wrong with them goes to the complaints."""
        values = cls.keys.read(raw, complaints)
        literal = cls.literal(values)
        if literal is not NOTHING and values.get("expected_path") is not None:
            complaints.add(raw, "expected_path", f"{cls.type} is held to the suite or to the expected data, not to both")
        from_data = literal is NOTHING and "expected_path" in values
        return cls(
            name=values["name"] or cls.type,
            weight=values["weight"],
            path=values["path"],
            truth_path=(values["expected_path"] or values["path"]) if from_data else None,
            value=literal,
            least=values["threshold"] or 1.0,
            negate=values.get("negate", False),
            **cls.own(values, raw, complaints),
        )

    @classmethod
    def literal(cls, values: Mapping[str, Any]) -> Any:
        """What the suite itself says, or `NOTHING`."""
        return values.get("value", NOTHING)

    @classmethod
    def own(cls, values: Mapping[str, Any], raw: Mapping[str, Any], complaints: Complaints) -> dict[str, Any]:  # noqa: ARG003  # for those that have some
        """The fields that only this kind has."""
        return {}

    def renamed(self, name: str) -> Self:
        """The same evaluator under another name."""
        return replace(self, name=name)

    def evaluate(self, output: Any, expected: Any) -> Outcome:
        """What this evaluator says of a case. Bad data never raises: it scores 0 and says why."""
        found = self.path.find(plain(output))
        truth = self.value if self.truth_path is None else self.truth_path.find(plain(expected))
        if isinstance(found, Missing) or isinstance(truth, Missing):
            misses = [f"{side}: {one}" for side, one in (("output", found), ("expected", truth)) if isinstance(one, Missing)]
            blame = Status.ERROR if isinstance(truth, Missing) else Status.OK
            return unusable(misses, "; ".join(misses), {}, status=blame)
        try:
            if isinstance(found, Gathered):
                return self._batch(found.items, truth)
            return self._single(plain(found), plain(truth.items if isinstance(truth, Gathered) else truth))
        except BadTruth as error:
            return unusable([f"expected: {error}"], f"expected: {error}", {}, status=Status.ERROR)
        except RecursionError:
            told = "the values are nested too deeply to be compared"
            return unusable([told], told, {}, status=Status.ERROR)

    def _single(self, found: Any, truth: Any) -> Outcome:
        told = self._told(found, truth)
        verdict = Verdict.FAIL if told else Verdict.PASS
        said = told or self._holding(found, truth)
        hits, misses = ([], [said]) if told else ([said], [])
        return Outcome(0.0 if told else 1.0, verdict, hits, misses, f"{said}: {verdict}", self.metadata(found, truth))

    def _batch(self, found: Sequence[Any], truth: Any) -> Outcome:
        paired = isinstance(truth, Gathered)
        truths = truth.items if isinstance(truth, Gathered) else [truth] * len(found)
        size = max(len(found), len(truths))
        told = {
            position: self._item(found[position], truths[position])
            for position in range(min(len(found), len(truths)))
        }  # fmt: skip
        wrong = [f"output[{position}]: {text}" for position, text in told.items() if text]
        wrong += [f"expected[{position}] was not found" for position in range(len(found), len(truths))]
        wrong += [f"output[{position}] is one too many" for position in range(len(truths), len(found))]
        empty = not size
        score = (1.0 if paired else 0.0) if empty else (size - len(wrong)) / size
        if empty and not paired:
            wrong = [f"{self.path.text} has no items"]
        verdict = Verdict.PASS if reaches(score, self.least) else Verdict.FAIL
        more = [f"… and {len(wrong) - LISTED:,} more"] if len(wrong) > LISTED else []
        reasoning = (
            f"{self.type} holds for {size - len(wrong) if size else 0} of {size} items: {verdict}, threshold {self.least:g}"
        )
        if wrong:
            reasoning += f"; {wrong[0]}"
        metadata = {"items": size, "passes": size - len(wrong) if size else 0, "fails": len(wrong) if size else 0}
        hits = [f"{self.type} holds for all items"] if not wrong else []
        return Outcome(score, verdict, hits, [*wrong[:LISTED], *more], reasoning, metadata)

    def _item(self, found: Any, truth: Any) -> str:
        if isinstance(truth, Missing):
            raise BadTruth(str(truth))
        return str(found) if isinstance(found, Missing) else self._told(plain(found), plain(truth))

    def _told(self, found: Any, truth: Any) -> str:
        """Why it does not hold; empty when it does."""
        told = self.against(found, truth)
        if not self.negate:
            return told
        return "" if told else self.holding(found, truth)

    def _holding(self, found: Any, truth: Any) -> str:
        return self.against(found, truth) if self.negate else self.holding(found, truth)

    @abstractmethod
    def against(self, found: Any, truth: Any) -> str:
        """Why a value does not do; empty when it does. `BadTruth` where what is expected makes no sense."""

    @abstractmethod
    def holding(self, found: Any, truth: Any) -> str:
        """What holds, in a few words."""

    def metadata(self, found: Any, truth: Any) -> dict[str, Any]:  # noqa: ARG002  # most have nothing to add
        """What programs may want to know."""
        return {}


@dataclass(frozen=True, kw_only=True)
class TextAssertion(Assertion):
    """An assertion that can look past the case of letters and white space."""

    ignore_case: bool = False
    ignore_whitespace: bool = False

    @classmethod
    def own(cls, values: Mapping[str, Any], raw: Mapping[str, Any], complaints: Complaints) -> dict[str, Any]:  # noqa: ARG003  # as above
        """How texts are compared."""
        return {key: values[key] for key in ("ignore_case", "ignore_whitespace")}

    def plainly(self, value: Any) -> Any:
        """A value as it is compared: its texts without what does not matter."""
        if isinstance(value, str):
            text = value.casefold() if self.ignore_case else value
            return " ".join(text.split()) if self.ignore_whitespace else text
        if isinstance(value, list | tuple):
            return [self.plainly(item) for item in value]
        if isinstance(value, Mapping):
            return {key: self.plainly(item) for key, item in value.items()}
        return plain(value)


class Equals(TextAssertion):
    """Whether a value is the one that is expected."""

    type = "equals"
    keys = keys("equals", VALUE, EXPECTED_PATH, IGNORE_CASE, IGNORE_SPACE)

    def against(self, found: Any, truth: Any) -> str:
        """Where the two differ."""
        if same(self.plainly(found), self.plainly(truth)):
            return ""
        hint = " (text and number)" if isinstance(found, str) != isinstance(truth, str) and _alike(found, truth) else ""
        return f"{shown(found)} is not {shown(truth)}{hint}"

    def holding(self, found: Any, truth: Any) -> str:
        """What it equals."""
        return f"{shown(found)} equals {shown(truth)}"


class Contains(TextAssertion):
    """Whether a text has a text in it, a list an item, or an object a key."""

    type = "contains"
    keys = keys("contains", VALUE, EXPECTED_PATH, IGNORE_CASE, IGNORE_SPACE)

    def against(self, found: Any, truth: Any) -> str:
        """What is not there."""
        here, wanted = self.plainly(found), self.plainly(truth)
        if isinstance(here, str):
            if not isinstance(wanted, str):
                raise BadTruth(f"a text contains texts, not {shown(truth)}")
            held = wanted in here
        elif isinstance(here, list):
            held = any(same(item, wanted) for item in here)
        elif isinstance(here, Mapping):
            held = isinstance(wanted, str) and wanted in here
        else:
            return f"{shown(found)} is neither a text nor a list nor an object, and contains nothing"
        return "" if held else f"{shown(found)} does not contain {shown(truth)}"

    def holding(self, found: Any, truth: Any) -> str:
        """What is there."""
        return f"{shown(found)} contains {shown(truth)}"


class OneOf(TextAssertion):
    """Whether a value is one of several."""

    type = "one_of"
    keys = keys(
        "one_of",
        Key("values", _texts("values"), {"type": "array", "minItems": 1}, "the values that are allowed", NOTHING),
        EXPECTED_PATH,
        IGNORE_CASE,
        IGNORE_SPACE,
    )

    @classmethod
    def literal(cls, values: Mapping[str, Any]) -> Any:
        """The values of the suite."""
        return values["values"]

    def against(self, found: Any, truth: Any) -> str:
        """That it is none of them."""
        if not isinstance(truth, list | tuple):
            raise BadTruth(f"one_of needs a list of values, not {shown(truth)}")
        held = any(same(self.plainly(found), self.plainly(one)) for one in truth)
        return "" if held else f"{shown(found)} is none of {shown(list(truth))}"

    def holding(self, found: Any, truth: Any) -> str:
        """That it is one of them."""
        return f"{shown(found)} is one of {shown(list(truth))}"


@dataclass(frozen=True, kw_only=True)
class Regex(Assertion):
    """Whether a text has a part that fits a pattern, or fits it wholly."""

    type = "regex"
    keys = keys(
        "regex",
        Key("pattern", Pattern.compile, {"type": "string"}, "a regular expression as Python's re has it", NOTHING),
        EXPECTED_PATH,
        flag("full", "whether the whole text must fit"),
        IGNORE_CASE,
        Key(
            "timeout",
            settings.between("timeout", 0.0, 3600.0, open_low=True),
            {"type": "number", "exclusiveMinimum": 0, "default": 1},
            "seconds that one text may take",
            1.0,
        ),
    )

    full: bool = False
    ignore_case: bool = False
    timeout: float = 1.0
    clock: PatternClock | None = None
    """The seconds that this case has taken."""

    def evaluate(self, output: Any, expected: Any) -> Outcome:
        """As every assertion; all searches of a case share one clock."""
        return super(Regex, replace(self, clock=PatternClock(self.timeout))).evaluate(output, expected)

    @classmethod
    def literal(cls, values: Mapping[str, Any]) -> Any:
        """The pattern of the suite."""
        return values["pattern"]

    @classmethod
    def own(cls, values: Mapping[str, Any], raw: Mapping[str, Any], complaints: Complaints) -> dict[str, Any]:  # noqa: ARG003  # as above
        """How the pattern is used."""
        return {key: values[key] for key in ("full", "ignore_case", "timeout")}

    def against(self, found: Any, truth: Any) -> str:
        """That nothing fits."""
        pattern = self._pattern(truth)
        if not isinstance(found, str):
            return f"{shown(found)} is not a text"
        try:
            clock = self.clock or PatternClock(self.timeout)
            held = clock.fits(pattern, found, full=self.full, ignore_case=self.ignore_case)
        except TimeoutError:
            raise BadTruth(
                f"the pattern {shown(pattern.text)} takes longer than {self.timeout:g} s for {shown(found)}, "
                f"or more than {TEXTS} times as long for all texts of the case"
            ) from None
        return "" if held else f"{shown(found)} does not fit {shown(pattern.text)}"

    def holding(self, found: Any, truth: Any) -> str:
        """That something fits."""
        return f"{shown(found)} fits {shown(self._pattern(truth).text)}"

    def _pattern(self, truth: Any) -> Pattern:
        try:
            return truth if isinstance(truth, Pattern) else Pattern.compile(truth)
        except ValueError as error:
            raise BadTruth(str(error)) from None


@dataclass(frozen=True, kw_only=True)
class NumericTolerance(Assertion):
    """Whether a number is near enough to the one that is expected."""

    type = "numeric_tolerance"
    keys = keys(
        "numeric_tolerance",
        Key("value", lambda value: settings.real(value, "value"), {"type": "number"}, "the number that is right", NOTHING),
        EXPECTED_PATH,
        Key(
            "absolute",
            settings.between("absolute", 0.0, math.inf),
            {"type": "number", "minimum": 0, "default": 0},
            "how far off it may be",
            0.0,
        ),
        Key(
            "relative",
            settings.between("relative", 0.0, math.inf),
            {"type": "number", "minimum": 0, "default": 0},
            "how far off it may be, as a share of the expected number; the larger of the two counts",
            0.0,
        ),
    )

    absolute: float = 0.0
    relative: float = 0.0

    @classmethod
    def own(cls, values: Mapping[str, Any], raw: Mapping[str, Any], complaints: Complaints) -> dict[str, Any]:  # noqa: ARG003  # as above
        """How far off a number may be."""
        return {key: values[key] for key in ("absolute", "relative")}

    def against(self, found: Any, truth: Any) -> str:
        """How far off it is."""
        right = self._right(truth)
        try:
            value = number(found)
        except BadValue as error:
            return str(error)
        off, allowed = abs(value - right), self._allowed(right)
        return "" if within(off, allowed) else f"{shown(found)} is {off:g} from {shown(truth)}, more than {allowed:g}"

    def holding(self, found: Any, truth: Any) -> str:
        """That it is near enough."""
        return f"{shown(found)} is within {self._allowed(self._right(truth)):g} of {shown(truth)}"

    def metadata(self, found: Any, truth: Any) -> dict[str, Any]:
        """The distance, and what is allowed."""
        right = self._right(truth)
        try:
            off = abs(number(found) - right)
        except BadValue:
            return {"difference": None, "allowed": self._allowed(right)}
        return {"difference": off if math.isfinite(off) else None, "allowed": self._allowed(right)}

    def _allowed(self, right: float) -> float:
        return min(max(self.absolute, self.relative * abs(right)), 1e308)

    def _right(self, truth: Any) -> float:
        try:
            return number(truth)
        except BadValue as error:
            raise BadTruth(str(error)) from None


class JsonSchema(Assertion):
    """Whether a value is as a JSON Schema says."""

    type = "json_schema"
    keys = keys(
        "json_schema",
        Key(
            "schema",
            Schema.compile,
            {"oneOf": [{"type": "object"}, {"type": "boolean"}, {"type": "string"}]},
            "a JSON Schema (draft 2020-12), or the name of a JSON file with one, found from the suite's folder",
            NOTHING,
            required=True,
        ),
    )

    @classmethod
    def literal(cls, values: Mapping[str, Any]) -> Any:
        """The schema of the suite."""
        return values["schema"]

    def evaluate(self, output: Any, expected: Any) -> Outcome:
        """As every assertion; all values of a case share one bound on the work."""
        return super(JsonSchema, replace(self, value=self.value.for_case())).evaluate(output, expected)

    def against(self, found: Any, truth: Any) -> str:
        """The first things that are not as they should be."""
        try:
            told = truth.complaints(found)
        except TimeoutError:
            raise BadTruth("a pattern of the schema takes too long") from None
        except TooMuchWork as error:
            raise BadTruth(str(error)) from None
        except TooDeep as error:
            if self.negate:
                raise BadTruth(str(error)) from None  # it is not known whether the value matches
            return str(error)
        more = f" … and {len(told) - LISTED:,} more" if len(told) > LISTED else ""
        return "; ".join(told[:LISTED]) + more

    def holding(self, found: Any, truth: Any) -> str:  # noqa: ARG002  # a schema has no short name
        """That all is well."""
        return "is as the schema says"


KINDS: tuple[type[Assertion], ...] = (Equals, Contains, OneOf, Regex, NumericTolerance, JsonSchema)


def _alike(first: Any, second: Any) -> bool:
    """Whether a text spells a number."""
    try:
        return number(first) == number(second)
    except BadValue:
        return False
