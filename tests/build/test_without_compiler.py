"""Where nothing can be compiled, calque still installs, says so, and gives the same numbers."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.long  # wheels are built
ROOT = Path(__file__).resolve().parents[2]


def build(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Builds a wheel with a compiler that fails."""
    command = [sys.executable, "-m", "pip", "wheel", "-v", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    command += ["--config-settings", f"build-dir={folder / 'build'}"]  # not the kept one, which knows a compiler
    without = {**os.environ, "CXX": "/bin/false", "CC": "/bin/false", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    without.pop("CALQUE_REQUIRE_NATIVE", None)
    command.append(str(ROOT))
    return subprocess.run(
        command, check=False, env={**without, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The content of a wheel that was built with a compiler that fails."""
    folder = tmp_path_factory.mktemp("wheel")
    done = build(folder)
    assert done.returncode == 0, done.stdout
    assert "installed WITHOUT its compiled kernels" in done.stdout
    [wheel] = folder.glob("calque_eval-*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def run(site: Path, *arguments: str) -> str:
    # -S: the development install of calque must not step in.
    code = f"import sys; sys.path[1:1] = {[str(site)]!r}; sys.path.append({sysconfig.get_path('purelib')!r})"
    main = "import calque; from calque.cli.app import main; assert calque.__file__.startswith(sys.path[1]); main()"
    command = [sys.executable, "-S", "-c", f"{code}; {main}", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_the_wheel_is_pure_and_says_so(unpacked: Path) -> None:
    assert not list(unpacked.rglob("*.so"))
    told = run(unpacked, "--version")
    assert "kernels: reference" in told
    assert "this installation has no compiled kernels: install calque again where there is a C++20 compiler" in told


def test_who_requires_compiled_kernels_gets_no_others(tmp_path: Path) -> None:
    done = build(tmp_path, CALQUE_REQUIRE_NATIVE="1")
    assert done.returncode != 0
    assert "calque's kernels did not compile" in done.stdout
    assert not list(tmp_path.glob("*.whl"))


def test_the_demo_runs(unpacked: Path) -> None:
    assert "What the numbers show" in run(unpacked, "demo")
