"""Names that people type for measures and runs, and the nearest three of a mistyped one."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence

from calque.core.errors import ConfigError
from calque.core.measures import MeasureName
from calque.core.result import Result


def nearest(word: str, known: Iterable[str]) -> str:
    """The three that are most like a mistyped word, in words.

    >>> nearest("recal@0.5", ["recall@0.5", "recall@0.75", "AP", "precision@0.5"])
    'the nearest are recall@0.5, recall@0.75, precision@0.5'
    """
    close = difflib.get_close_matches(word, list(known), n=3, cutoff=0.0)
    return f"the nearest are {', '.join(close)}" if close else "there are none"


def measure_named(results: Sequence[Result], text: str) -> str:
    """The measure of some results that a text names, in full: ``f1`` is ``f1@0.5`` where that is the lowest threshold."""
    task = results[0].task
    known = dict.fromkeys(name for result in results for name in result.task.names(result.numbers))
    if text in known:
        return text
    try:
        place = task.address(MeasureName.parse(text))
    except ValueError as error:
        raise ConfigError(f"{error}; {nearest(text, known)}") from None
    for name in known:
        if task.address(MeasureName.parse(name)) == place:
            return name
    raise ConfigError(f"there is no measure {text!r}; {nearest(text, known)}")


def run_named(text: str, runs: Collection[str]) -> str:
    """The run of that name."""
    if text not in runs:
        raise ConfigError(f"there is no run {text!r}; {nearest(text, runs)}")
    return text
