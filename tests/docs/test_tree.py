"""The maps that newcomers are given name every room of the tree, and no room that is not there."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src/calque"
DESIGN = (ROOT / "docs/explanation/design.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
PACKAGES = sorted(str(path.parent.relative_to(SOURCE)) for path in SOURCE.glob("*/**/__init__.py"))
LAYERS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]["layers"]


def block(text: str, title: str) -> list[str]:
    """The lines of the first fenced block below a heading."""
    found = re.search(rf"^## {title}\n.*?```text\n(.*?)```", text, re.MULTILINE | re.DOTALL)
    assert found, title
    return found.group(1).splitlines()


def test_the_design_shows_every_folder() -> None:
    shown = [line.split()[0].rstrip("/") for line in block(DESIGN, "The tree")[1:]]
    assert sorted(shown) == PACKAGES


def test_the_design_shows_every_layer_in_order() -> None:
    assert block(DESIGN, "The layers") == [layer.replace("calque.", "").replace(" : ", ", ") for layer in LAYERS]


def test_every_module_stands_in_a_layer() -> None:
    """Below a layer that names it, or a package of it: nothing may be imported from anywhere by accident."""
    named = [name for layer in LAYERS for name in re.split(r" [:|] ", layer)]
    for path in SOURCE.rglob("*.py"):
        module = ".".join(("calque", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
        if path.name != "__init__.py":
            assert any(module == name or module.startswith(f"{name}.") for name in named), module


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/explanation/design.md"])
def test_every_path_that_is_named_exists(page: str) -> None:
    files = [ROOT / page] if page.endswith(".md") else sorted((ROOT / page).glob("*.md"))
    for file in files:
        for path in re.findall(r"`((?:src/calque|native|tests|docs|benchmarks)/[\w./-]*)`", file.read_text()):
            assert path.startswith("src/calque/counting") or (ROOT / path).exists(), f"{file.name}: {path}"
        for path in re.findall(
            r"`((?:core|readers|kernels|detection|fields|checks|words|layout|cli)/[\w/]+\.py)`", file.read_text()
        ):
            assert (SOURCE / path).exists(), f"{file.name}: {path}"


def test_the_map_leads_to_every_folder() -> None:
    """CONTRIBUTING's table: every folder is named, or one above it that shows its parts at a glance."""
    table = re.search(r"## Where does my change go\?\n(.*?)\n## ", CONTRIBUTING, re.DOTALL)
    assert table
    paths = re.findall(r"`src/calque/([\w/]+?)(?:/|\.py)?`", table.group(1))
    for package in PACKAGES:
        assert any(path == package or path.startswith(f"{package}/") for path in paths), package


def test_the_first_page_leads_to_every_page() -> None:
    """The list of docs/index.md is whole: what is written can be found."""
    index = (ROOT / "docs/index.md").read_text("utf-8")
    pages = sorted(
        page for folder in ("tutorial", "how-to", "reference", "explanation") for page in (ROOT / "docs" / folder).glob("*.md")
    )
    assert [str(page.relative_to(ROOT / "docs")) for page in pages if f"({page.parent.name}/{page.name})" not in index] == []


@pytest.mark.parametrize("name", ["Side", "Gathering"])
def test_names_that_many_would_like_to_have_are_used_once_at_most(name: str) -> None:
    """What a class of such a name is has to be guessed from where it stands: each says of what it is a side."""
    found = [path for path in SOURCE.rglob("*.py") if re.search(rf"^class {name}\b", path.read_text(), re.MULTILINE)]
    assert [path.relative_to(SOURCE).as_posix() for path in found] in ([], ["corpus/boxes.py"])
