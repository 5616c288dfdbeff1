"""Laws over the frozen dataclasses of the package."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re

import pytest

import calque
from calque import Detection

COLUMN = re.compile(r"\b(Array|Bytes|Codes|Flags|Floats|Ints|Table|Strings|Ledger)\b")


def dataclasses_with_columns() -> list[type]:
    """The dataclasses of the package that have arrays as fields."""
    found: dict[str, type] = {}
    for module in pkgutil.walk_packages(calque.__path__, "calque."):
        if module.name.endswith("__main__"):
            continue
        for name, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            annotations = [str(each) for each in inspect.get_annotations(kind).values() if "Callable" not in str(each)]
            if kind.__module__ == module.name and dataclasses.is_dataclass(kind) and any(map(COLUMN.search, annotations)):
                found[f"{module.name}.{name}"] = kind
    return list(found.values())


def test_dataclass_with_columns_is_compared_by_identity() -> None:
    """Comparing arrays gives an array, so a generated ``__eq__`` of such a class would fail."""
    kinds = dataclasses_with_columns()
    assert len(kinds) > 40
    assert [kind.__qualname__ for kind in kinds if kind.__eq__ is not object.__eq__] == []


def test_task_with_unknown_setting_suggests_the_nearest() -> None:
    with pytest.raises(TypeError, match="min_score"):
        Detection(min_scores=0.5)  # type: ignore[call-arg]
