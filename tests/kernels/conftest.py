"""Every test of a kernel runs over both twins, as far as they are built."""

from __future__ import annotations

from types import ModuleType

import pytest

from calque.kernels import TWINS, checked_kernels, native_built


def _twin(name: str) -> ModuleType:
    if name == "native" and not native_built():
        pytest.skip("calque was installed without a compiler")
    return checked_kernels(name)


@pytest.fixture(params=list(TWINS), scope="session")
def kernels(request: pytest.FixtureRequest) -> ModuleType:
    return _twin(request.param)


@pytest.fixture(scope="session")
def reference() -> ModuleType:
    return _twin("reference")


@pytest.fixture(scope="session")
def native() -> ModuleType:
    return _twin("native")
