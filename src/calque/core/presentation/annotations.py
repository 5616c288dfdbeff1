"""GitHub workflow commands, which its web pages show beside a run and beside the lines of a file."""

from __future__ import annotations

from calque.core.presentation.sections import printable


def annotation(title: str, message: str, **place: str) -> str:
    """One error; ``file``, ``line`` and ``col`` say where.

    >>> annotation("gate: detection", "recall@0.5 0.8 is below 0.9")
    '::error title=gate%3A detection::recall@0.5 0.8 is below 0.9'
    """
    properties = ",".join(f"{key}={_property(value)}" for key, value in {**place, "title": title}.items() if value)
    return printable(f"::error {properties}::{_data(message)}")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
