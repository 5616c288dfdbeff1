"""The scripts of frameworks are run by a test, not collected as tests; and pycocotools may warn of itself."""

from __future__ import annotations

import pytest

collect_ignore = ["frameworks"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith("tests/coco/"):
            item.add_marker(
                pytest.mark.filterwarnings("ignore:__array__ implementation doesn't accept a copy:DeprecationWarning")
            )
