"""What a release is made of: the same bytes every time, all that is needed, and nothing else."""

from __future__ import annotations

import re
import shutil
import tomllib
import zipfile
from pathlib import Path

import pytest

from .distributions import ELSEWHERE, PURE, ROOT, build, differences, digest, members, tracked
from .environments import Environment

if shutil.which("git") is None or not (ROOT / ".git").exists():
    pytest.skip("distributions are built from what git knows", allow_module_level=True)

BUDGETS = tomllib.loads(Path(__file__).with_name("budgets.toml").read_text("utf-8"))
UNPACKED = {
    "CHANGELOG.md",
    "CITATION.cff",
    "CMakeLists.txt",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "pyproject.toml",
    ".gitignore",
}
"""What an sdist has beside src/ and native/."""


@pytest.fixture(scope="module")
def pure(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An sdist, and a wheel without kernels, which takes no compiler and no time."""
    return build(tmp_path_factory.mktemp("pure"), *PURE)


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An sdist, and a wheel with kernels."""
    return build(tmp_path_factory.mktemp("native"))


def test_a_second_build_elsewhere_gives_the_same_bytes(pure: tuple[Path, Path], tmp_path: Path) -> None:
    again = build(tmp_path, *PURE, surroundings=ELSEWHERE)
    assert [differences(*pair) for pair in zip(pure, again, strict=True)] == [[], []]


def test_archives_that_differ_are_told_apart(tmp_path: Path) -> None:
    def packed(name: str, year: int, **files: str) -> Path:
        with zipfile.ZipFile(tmp_path / name, "w") as wheel:
            for file, content in files.items():
                wheel.writestr(zipfile.ZipInfo(file, (year, 1, 1, 0, 0, 0)), content)
        return tmp_path / name

    first = packed("first.whl", 2000, a="1", b="2")
    assert differences(first, packed("same.whl", 2000, a="1", b="2")) == []
    assert differences(first, packed("later.whl", 2001, a="1", b="2")) == ["first.whl: the same members, packed differently"]
    assert differences(first, packed("other.whl", 2000, a="1", b="3", c="4")) == ["b", "c"]


def test_the_sdist_holds_sources_and_what_explains_them(pure: tuple[Path, Path]) -> None:
    known = [name for name in tracked() if name.startswith(("src/", "native/")) or name in UNPACKED]
    assert sorted(members(pure[0])) == sorted([*known, "PKG-INFO"])


def test_the_wheel_holds_the_package_and_nothing_else(pure: tuple[Path, Path]) -> None:
    package = [name.removeprefix("src/") for name in tracked() if name.startswith("src/calque/")]
    wanted = sorted(name for name in package if not name.startswith("calque/report/app/"))
    found = sorted(members(pure[1]))
    assert [name for name in found if ".dist-info/" not in name] == wanted
    assert [name for name in wanted if name.endswith(".js")]
    metadata = {name.partition(".dist-info/")[2] for name in found if ".dist-info/" in name}
    assert metadata == {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}


def test_the_wheel_without_kernels_runs_with_what_it_asks_for(pure: tuple[Path, Path], tmp_path: Path) -> None:
    environment = Environment.with_wheel(tmp_path / "environment", pure[1])
    assert "What the numbers show" in environment.run("calque", "demo", "--report", "report.html")
    assert (environment.folder / "report.html").stat().st_size > 50_000


@pytest.mark.long
def test_the_wheel_with_kernels_differs_by_its_kernels(pure: tuple[Path, Path], native: tuple[Path, Path]) -> None:
    assert digest(pure[0]) == digest(native[0])
    assert native[1].stat().st_size <= BUDGETS["bytes"]["wheel"]
    [module] = members(native[1]).keys() - members(pure[1]).keys()
    assert re.fullmatch(r"calque/kernels/_native\.(abi3|cpython-\w+-[\w-]+|cp\w+-\w+)?\.?(so|pyd)", module)
    assert ("-abi3-" in native[1].name) == ("abi3" in module)
    assert {name for name in differences(pure[1], native[1]) if ".dist-info/" not in name} == {module}


@pytest.mark.long
def test_compiled_kernels_run_where_there_is_no_compiler(native: tuple[Path, Path], tmp_path: Path) -> None:
    environment = Environment.with_wheel(tmp_path / "environment", native[1])
    assert "(kernels: native" in environment.run("calque", "--version", CALQUE_KERNELS="native")
    assert "What the numbers show" in environment.run("calque", "demo", "--report", "report.html", CALQUE_KERNELS="native")
    assert (environment.folder / "report.html").stat().st_size > 50_000


@pytest.mark.long
def test_kernels_are_compiled_to_the_same_bytes_elsewhere(
    native: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CCACHE_DISABLE", "1")  # a cache would hand out what was compiled before
    again = build(tmp_path, surroundings=ELSEWHERE)
    assert [differences(*pair) for pair in zip(native, again, strict=True)] == [[], []]
