"""What the native build promises, read from its sources: kernels without Python, and a module without a global lock."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KERNELS = sorted(path for path in (ROOT / "native").iterdir() if not path.name.startswith(("bind_", "module.")))


def test_there_are_kernels() -> None:
    assert len(KERNELS) > 40


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.name)
def test_only_the_bindings_know_python(path: Path) -> None:
    """The others are compiled by ``make cross`` for systems whose Python is not here."""
    assert not re.findall(r"#include [<\"](?:nanobind/|Python\.h).*", path.read_text())


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.name)
def test_no_kernel_keeps_what_it_could_change(path: Path) -> None:
    """Several threads run a kernel at once; what outlives a call is constant, and made once."""
    outliving = re.findall(
        r"^\s*(?:static|thread_local) (?!const |constexpr |inline constexpr )[^()]*;", path.read_text(), re.MULTILINE
    )
    assert not outliving or path.name == "interrupt.cpp"  # the work that a thread is part of, and its last check


def test_the_module_is_declared_to_need_no_global_lock() -> None:
    [call] = re.findall(r"^nanobind_add_module\((.*)\)$", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
    assert "FREE_THREADED" in call.split()
