"""Which kernels run."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from calque import ConfigError
from calque.kernels import TWINS, VARIABLE, chosen, keep_freed_memory, kernels, native_built


def test_the_variable_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "reference")
    assert chosen() == "reference"
    assert kernels().__name__ == "calque.kernels.reference"


def test_without_it_the_compiled_ones_run_where_they_were_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert chosen() == ("native" if native_built() else "reference")


def test_other_names_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "quantum")
    with pytest.raises(ConfigError, match="it can be 'native' or 'reference'"):
        chosen()


def test_compiled_kernels_that_were_not_built_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TWINS, "native", "calque.kernels._not_there")
    native_built.cache_clear()
    try:
        monkeypatch.setenv(VARIABLE, "native")
        with pytest.raises(ConfigError, match="without a compiler"):
            chosen()
        monkeypatch.delenv(VARIABLE)
        assert chosen() == "reference"
    finally:
        native_built.cache_clear()


def test_a_command_runs_under_either_twin_when_it_keeps_freed_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "reference")
    keep_freed_memory()  # nothing to ask: the reference kernels leave memory to Python
    if native_built():
        # In a process of its own: it holds for as long as the process lives.
        code = "from calque.kernels import keep_freed_memory; keep_freed_memory(); print('kept')"
        done = subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, VARIABLE: "native"}, capture_output=True, check=True
        )
        assert done.stdout.strip() == b"kept"
