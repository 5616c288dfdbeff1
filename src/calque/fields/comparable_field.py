"""How a field of a model says how it is compared."""

from __future__ import annotations

from typing import Any

from calque.comparators.base import BaseComparator
from calque.comparators.registry import describe
from calque.core.errors import ConfigError

EXTRA = "x-calque"
"""Where a pydantic field keeps its comparison, as an object of the plain form."""


def ComparableField(  # noqa: N802  # reads like pydantic's Field, which it makes
    *,
    comparator: BaseComparator | str | None = None,
    threshold: float | None = None,
    weight: float = 1.0,
    clip_under_threshold: bool = True,
    matching: str | None = None,
    match_key: str | None = None,
    default: Any = None,
    alias: str | None = None,
    **keywords: Any,
) -> Any:
    """A pydantic field with what the comparison needs to know; other keywords go to ``pydantic.Field``.

    >>> from calque import StructuredModel
    >>> from calque.comparators import NumericComparator
    >>> class Line(StructuredModel):
    ...     amount: float = ComparableField(comparator=NumericComparator(absolute_tolerance=0.01), threshold=0.95, weight=2)
    >>> Line.to_config()["fields"]["amount"]["params"]
    {'absolute_tolerance': 0.01}
    """
    settings: dict[str, Any] = {"weight": weight}
    if isinstance(comparator, BaseComparator):
        settings |= describe(comparator)
        threshold = comparator.threshold if threshold is None else threshold
    elif comparator is not None:
        settings["comparator"] = comparator
    optional = {"threshold": threshold, "matching": matching, "match_key": match_key}
    settings |= {key: value for key, value in optional.items() if value is not None}
    if not clip_under_threshold:
        settings["clip"] = False
    if threshold is not None and not 0 <= threshold <= 1:
        raise ConfigError(f"threshold must be from 0 to 1, not {threshold!r}")
    return described_field(settings, default=default, alias=alias, **keywords)


def described_field(settings: dict[str, Any], *, default: Any = None, alias: str | None = None, **keywords: Any) -> Any:
    """A pydantic field whose comparison is already in the words of the plain form."""
    from pydantic import Field

    extra = {**keywords.pop("json_schema_extra", {}), EXTRA: settings}
    return Field(default, alias=alias, json_schema_extra=extra, **keywords)
