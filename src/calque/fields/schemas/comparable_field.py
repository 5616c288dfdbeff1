"""Fields of a model with what their comparison needs to know, made as stickler's are."""

from __future__ import annotations

from typing import Any

from calque.base.errors import ConfigError, did_you_mean
from calque.comparators.base import BaseComparator, describe

EXTRA = "x-calque"
"""Where a pydantic field keeps its comparison, as an object of the plain form."""
_OWN = ("comparator", "threshold", "weight", "default", "clip_under_threshold", "matching", "match_key", "alias")


def ComparableField(  # noqa: N802  # reads like pydantic's Field, which it makes
    comparator: BaseComparator | str | None = None,
    threshold: float | None = None,
    weight: float = 1.0,
    default: Any = None,
    *,
    clip_under_threshold: bool | None = None,
    matching: str | None = None,
    match_key: str | None = None,
    alias: str | None = None,
    **keywords: Any,
) -> Any:
    """Declare a field of a `StructuredModel` and how calque compares its values.

    Args:
        comparator: A comparator or its name. By default the type of the field decides.
        threshold: The lowest similarity of two values that count as equal.
        weight: The weight of the field in the score of a record.
        default: The default value of the field.
        clip_under_threshold: Whether a similarity below the threshold counts as 0.
        matching: How the items of a list are paired.
        match_key: The field of the items by which they are paired.
        alias: The key of the field in JSON.
        keywords: Other arguments of ``pydantic.Field``.

    Returns:
        The pydantic field.

    Raises:
        TypeError: ``comparator`` is neither a comparator nor a name, or a keyword is unknown.

    >>> from calque import StructuredModel
    >>> from calque.comparators import NumericComparator
    >>> class Line(StructuredModel):
    ...     amount: float = ComparableField(NumericComparator(absolute_tolerance=0.01), 0.95, weight=2)
    >>> Line.to_config()["fields"]["amount"]["params"]
    {'absolute_tolerance': 0.01}
    """
    _check_keywords(keywords)
    settings: dict[str, Any] = {"weight": weight}
    if isinstance(comparator, BaseComparator):
        settings |= describe(comparator)
        threshold = comparator.threshold if threshold is None else threshold
    elif isinstance(comparator, str):
        settings["comparator"] = comparator
    elif comparator is not None:
        raise TypeError(f"comparator must be a comparator or the name of one, not {comparator!r}")
    optional = {"threshold": threshold, "matching": matching, "match_key": match_key}
    settings |= {key: value for key, value in optional.items() if value is not None}
    if clip_under_threshold is False:
        settings["clip"] = False
    if threshold is not None and (
        isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1
    ):
        raise ConfigError(f"threshold must be from 0 to 1, not {threshold!r}")
    return described_field(settings, default=default, alias=alias, **keywords)


def _check_keywords(keywords: dict[str, Any]) -> None:
    import inspect

    from pydantic import Field

    known = [*_OWN, *(name for name in inspect.signature(Field).parameters if name != "extra")]
    for name in keywords:
        if name == "aggregate":
            raise TypeError("ComparableField() takes no 'aggregate': every field is added up anyway; leave it out")
        if name not in known:
            hint = did_you_mean(name, known) or f"it takes {', '.join(_OWN)}, and what pydantic.Field takes"
            raise TypeError(f"ComparableField() takes no {name!r}; {hint}")


def described_field(settings: dict[str, Any], *, default: Any = None, alias: str | None = None, **keywords: Any) -> Any:
    """A pydantic field whose comparison is already in the words of the plain form."""
    from pydantic import Field

    extra = {**keywords.pop("json_schema_extra", {}), EXTRA: settings}
    if "default_factory" in keywords and default is None:
        return Field(alias=alias, json_schema_extra=extra, **keywords)
    return Field(default, alias=alias, json_schema_extra=extra, **keywords)
