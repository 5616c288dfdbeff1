"""What a value can be, and how values of that type are compared when a schema does not say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

from calque.base.errors import ConfigError

Accounting = Literal["complete", "paired"]


def check_accounting(accounting: str) -> None:
    """Refuse a name that no accounting has: it would be taken for the complete one."""
    known = get_args(Accounting)
    if accounting not in known:
        raise ConfigError(f"accounting must be one of {', '.join(known)}, not {accounting!r}")


class Manner(NamedTuple):
    """How values are compared: a comparator by name, its options, and from where on two values are the same."""

    comparator: str
    threshold: float
    params: Mapping[str, Any] = {}


HISTORIC_THRESHOLD = 0.5
"""What stickler takes where nobody says, and paired accounting therefore; for objects it is the default in both."""
FREE_TEXT = 0.9
"""From where on two texts are the same. At one half INV-2024-0017 is INV-2024-0099."""
LONG_TEXT = 0.8

COMPLETE: dict[str, Manner] = {
    "str": Manner("levenshtein", FREE_TEXT),
    "text": Manner("levenshtein", LONG_TEXT),
    "int": Manner("numeric", 1.0),
    "float": Manner("numeric", 1.0),
    "amount": Manner("numeric", 1.0, {"strict": True}),
    "bool": Manner("exact", 1.0),
    "date": Manner("date", 1.0, {"same_text": True}),
    "datetime": Manner("date", 1.0, {"times": True, "same_text": True}),
    "time": Manner("date", 1.0, {"times": True, "same_text": True}),
    "code": Manner("exact", 1.0, {"trim": True}),
    "any": Manner("anls_star", FREE_TEXT),
}
"""The types of values. A ``code`` is right or wrong as a whole: an id, an IBAN, an e-mail address, one of an enumeration."""

PAIRED: dict[str, Manner] = {
    name: Manner(manner.comparator, HISTORIC_THRESHOLD) for name, manner in COMPLETE.items()
}  # fmt: skip

GRADED = ("bbox_iou",)
"""Comparators whose similarity is no share of agreement: one half is their usual threshold, whatever the type."""
EXACTING = ("date", "numeric", "exact", "normalized", "phone")
"""Comparators that say yes or no: a date within a range, or without its year, is not the same date."""

LEAF_TYPES = tuple(COMPLETE)
TYPES = (*LEAF_TYPES, "object", "list[object]", *(f"list[{leaf}]" for leaf in LEAF_TYPES))

SPOKEN_TYPES = {
    "string": "str", "number": "float", "integer": "int", "boolean": "bool", "list": "list[str]", "Any": "any", "dict": "any",
    "structured_model": "object", "optional_structured_model": "object", "list_structured_model": "list[object]",
    "decimal": "amount", "Decimal": "amount", "money": "amount", "enum": "code", "id": "code",
}  # fmt: skip
"""Other names of types: of JSON Schema, of stickler, and of everyday."""


def spoken_type(given: str) -> str:
    """The type that a name stands for, and the name itself where it stands for none.

    >>> spoken_type("List[str]"), spoken_type("Optional[number]"), spoken_type("Dict[str, int]"), spoken_type("strng")
    ('list[str]', 'float', 'any', 'strng')
    """
    if given in SPOKEN_TYPES or given in TYPES:
        return SPOKEN_TYPES.get(given, given)
    outer, bracket, rest = given.partition("[")
    inner = rest.removesuffix("]")
    if not bracket or inner == rest:
        return given
    if outer == "Optional":
        return spoken_type(inner)
    if outer in ("list", "List"):
        leaf = spoken_type(inner)
        return "list[any]" if "[" in leaf else f"list[{leaf}]" if leaf in (*LEAF_TYPES, "object") else given
    return "any" if outer in ("Dict", "dict", "Union") else given


def leaf_of(kind: str) -> str:
    """The type of a value, or of the values of a list."""
    return kind.removeprefix("list[").removesuffix("]")


def manner(leaf: str, accounting: Accounting, comparator: str | None = None) -> Manner:
    """How values of a type are compared, with the comparator of the type or another one."""
    own = (PAIRED if accounting == "paired" else COMPLETE)[leaf]
    if comparator is None or comparator == own.comparator:
        return own
    if accounting == "paired" or comparator in GRADED:
        return Manner(comparator, HISTORIC_THRESHOLD)
    return Manner(comparator, 1.0 if comparator in EXACTING else own.threshold)
