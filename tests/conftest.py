"""What every test can ask for."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import settings

from calque.base.errors import ContractError
from calque.cli import app
from calque.kernels import TWINS, VARIABLE, native_built
from tests.examples import USUAL

settings.load_profile(USUAL)  # --hypothesis-profile chooses another

if sys.platform == "win32":
    # These need a shell, terminals, named pipes and signals as POSIX has them.
    collect_ignore = [
        "build/test_without_compiler.py",
        "cli/test_exits.py",
        "cli/test_outputs.py",
        "cli/test_process.py",
        "docs",
        "engines/test_endings.py",
        "kernels/test_scan_threads.py",
    ]


OF_NO_FILE = {
    "box-invalid", "box-shape", "broken-record", "cycle", "empty-slot", "no-path", "no-start", "no-writer", "too-many-slots",
}  # fmt: skip
"""Refusals of what was given in memory, or of an option."""


@pytest.fixture(scope="session")
def refused_without_a_file() -> Iterator[list[str]]:
    """What was refused by itself without saying in which file it stands. Refusals are watched, and are what they are."""
    nameless: list[str] = []
    single = ContractError.single

    def watched(code: str, message: str, **where: str) -> ContractError:
        if "file" not in where and code not in OF_NO_FILE:
            nameless.append(f"{code}: {message}")
        return single(code, message, **where)

    with patch.object(ContractError, "single", watched):
        yield nameless


@pytest.fixture(autouse=True)
def every_refusal_names_its_file(refused_without_a_file: list[str]) -> Iterator[None]:
    """A message says where: whatever test meets a refusal, it is the file's."""
    refused_without_a_file.clear()
    yield
    assert not refused_without_a_file


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    """Escape lone surrogates in captured output and logs: workers of pytest-xdist cannot send them."""
    report = yield
    report.sections = [(name, text.encode("utf-8", "backslashreplace").decode()) for name, text in report.sections]
    return report


@pytest.fixture(params=[pytest.param(name, id=name) for name in TWINS])
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Runs the test once for each kind of kernels."""
    name: str = request.param
    if name == "native" and not native_built():
        pytest.skip("the native kernels are not built here")
    monkeypatch.setenv(VARIABLE, name)
    return name


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder of real files that CALQUE_TEST_DATA names."""
    folder = os.environ.get("CALQUE_TEST_DATA")
    if not folder:
        pytest.skip("CALQUE_TEST_DATA does not name the folder with real files")
    return Path(folder)


@pytest.fixture(scope="session")
def real_pair(test_data: Path) -> tuple[Path, Path]:
    """Real ground truth, and what a real model found."""
    folder = test_data / "data-snapshot"
    return folder / "labelstudio_ref.json", folder / "doclayout-yolo.json"


@dataclass(frozen=True)
class Run:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed, as strict JSON."""

        def refuse(name: str) -> None:
            raise AssertionError(f"{name} is not strict JSON")

        return json.loads(self.out, parse_constant=refuse)


@pytest.fixture
def calque(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., Run]:
    """Runs ``calque ARGUMENTS`` in an empty folder, through the entry point that the shell calls."""

    def run(*arguments: object) -> Run:
        capsys.readouterr()
        monkeypatch.setattr("sys.argv", ["calque", *map(str, arguments)])
        with pytest.raises(SystemExit) as ending:
            app.main()
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        code = ending.value.code
        return Run(code if isinstance(code, int) else 0, captured.out, captured.err)

    monkeypatch.chdir(tmp_path)
    return run
