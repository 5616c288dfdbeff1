"""Which kernels run."""

from __future__ import annotations

import pytest

from calque import ConfigError
from calque.kernels import TWINS, VARIABLE, chosen, kernels, native_built


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
