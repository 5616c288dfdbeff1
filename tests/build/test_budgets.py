"""The size of an installation and the dependencies stay within ``budgets.toml``."""

from __future__ import annotations

import json
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from calque.kernels import native_built

from .environments import closure

ROOT = Path(__file__).resolve().parents[2]
BUDGETS = tomllib.loads(Path(__file__).with_name("budgets.toml").read_text("utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def names(requirements: list[str]) -> list[str]:
    return sorted(canonicalize_name(Requirement(line).name) for line in requirements)


def test_bytes_of_an_installation() -> None:
    source = ROOT / "src/calque"
    assert sum(path.stat().st_size for path in source.rglob("*.py")) <= BUDGETS["bytes"]["python"]
    assert sum(path.stat().st_size for path in (source / "report/bundle").iterdir()) <= BUDGETS["bytes"]["bundle"]


@pytest.mark.skipif(not native_built(), reason="the native kernels are not built here")
def test_bytes_of_the_kernels() -> None:
    from calque.kernels import _native

    assert Path(_native.__file__).stat().st_size <= BUDGETS["bytes"]["kernels"]


def test_dependencies_of_the_project() -> None:
    project, budget = PROJECT["project"], BUDGETS["dependencies"]
    assert names(project["dependencies"]) == budget["base"]
    assert sorted(project["optional-dependencies"]) == budget["extras"]
    assert len(project["optional-dependencies"]["dev"]) <= budget["dev"]
    assert names(PROJECT["build-system"]["requires"]) == budget["build"]
    package = json.loads((ROOT / "src/calque/report/app/package.json").read_text("utf-8"))
    assert sorted({**package.get("dependencies", {}), **package.get("devDependencies", {})}) == budget["npm"]


def test_dependencies_of_dependencies() -> None:
    base = [line for line in requires("calque-eval") or () if "extra ==" not in line]
    assert names(base) == BUDGETS["dependencies"]["base"]
    assert len(closure(base)) <= BUDGETS["dependencies"]["installed"], closure(base)
