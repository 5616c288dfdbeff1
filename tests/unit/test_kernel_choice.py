"""Which kernels run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from calque import ConfigError
from calque.cli import app
from calque.kernels import TWINS, VARIABLE, chosen, kernels, native_built, native_failure


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


@pytest.fixture
def other_native(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Puts another module in the place of the compiled kernels."""

    def put(name: str) -> None:
        monkeypatch.setitem(TWINS, "native", name)
        native_failure.cache_clear()

    yield put
    native_failure.cache_clear()


def test_compiled_kernels_that_were_not_built_are_refused(
    monkeypatch: pytest.MonkeyPatch, other_native: Callable[[str], None]
) -> None:
    other_native("calque.kernels._not_there")
    monkeypatch.setenv(VARIABLE, "native")
    with pytest.raises(ConfigError, match=r"has no compiled kernels: install calque again where there is a C\+\+20 compiler"):
        chosen()
    monkeypatch.delenv(VARIABLE)
    assert chosen() == "reference"


@pytest.mark.parametrize(
    ("source", "reason"),
    [("raise ImportError('GLIBCXX_9.9 not found')", "GLIBCXX_9.9 not found"), ("import not_there_at_all", "not_there_at_all")],
)
def test_compiled_kernels_that_cannot_be_loaded_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, other_native: Callable[[str], None], source: str, reason: str
) -> None:
    (tmp_path / "broken_kernels.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    other_native("broken_kernels")
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.warns(RuntimeWarning, match=rf"cannot be loaded \(.*{reason}.*the reference kernels do the work, slower"):
        assert chosen() == "reference"
    assert chosen() == "reference"  # told once
    told = CliRunner().invoke(app.calque, ["--version"]).output
    assert "kernels: reference" in told
    assert reason in told
    monkeypatch.setenv(VARIABLE, "native")
    with pytest.raises(ConfigError, match=reason):
        chosen()


def test_the_version_says_which_kernels_run() -> None:
    told = CliRunner().invoke(app.calque, ["--version"]).output.splitlines()
    assert f"kernels: {chosen()}" in told[0]
    assert told[1:] == ([] if native_built() else [native_failure()])


@pytest.mark.parametrize("name", [name for name in TWINS if name == "reference" or native_built()])
def test_what_is_chosen_is_in_use(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(VARIABLE, name)
    assert kernels().__name__ == TWINS[name]
