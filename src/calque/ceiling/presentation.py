"""Ceilings for people, and for other tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calque.core.presentation.sections import Section

COLUMNS: dict[str, str] = {}


def sentence(numbers: Mapping[str, Any]) -> str:
    return ""


def headline(numbers: Mapping[str, Any]) -> list[Section]:
    return []


def sections(numbers: Mapping[str, Any]) -> list[Section]:
    return []


def flat(numbers: Mapping[str, Any]) -> list[dict[str, Any]]:
    return []
