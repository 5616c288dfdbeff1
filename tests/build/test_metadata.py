"""Package metadata, install lines and README links: one name, existing extras, links that work on a package index."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from calque import MissingExtra
from calque.base.errors import DISTRIBUTION

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
README = (ROOT / "README.md").read_text("utf-8")
REPOSITORY = PROJECT["urls"]["Homepage"]
TEXTS = [
    path
    for pattern in ("*.md", "*.toml", "Makefile", "docs/**/*.md", "src/**/*.py", ".github/**/*.yml", "benchmarks/**/*.py")
    for path in sorted(ROOT.glob(pattern))
    if "node_modules" not in path.parts
]


def test_install_lines_name_this_distribution() -> None:
    other = re.compile(r"\bcalque\[[a-z]+[\],]|(?:pip|uv|pipx) install '?calque(?!-eval)\b")
    found = {path.relative_to(ROOT).as_posix(): other.findall(path.read_text("utf-8")) for path in TEXTS}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_extras_that_texts_name_exist() -> None:
    text = "\n".join(path.read_text("utf-8") for path in TEXTS)
    named = {extra for group in re.findall(rf"{DISTRIBUTION}\[([a-z, ]+)\]", text) for extra in re.split(", *", group)}
    assert named
    assert named <= set(PROJECT["optional-dependencies"])


def test_readme_lists_every_extra() -> None:
    listed = re.search(r"^Extras: (.*?)\. ", README, re.MULTILINE | re.DOTALL)
    assert listed
    assert set(re.findall("`([a-z]+)`", listed[1])) == set(PROJECT["optional-dependencies"]) - {"all", "dev"}


def test_missing_extra_names_the_distribution_in_pyproject() -> None:
    assert PROJECT["name"] == DISTRIBUTION
    assert f"pip install '{PROJECT['name']}[xml]'" in str(MissingExtra("lxml", "xml", "reading XML"))


def test_metadata_says_who_it_is_from_and_where_it_is() -> None:
    assert PROJECT["authors"]
    assert {"Homepage", "Documentation", "Changelog", "Issues"} <= PROJECT["urls"].keys()
    assert any(line.startswith("Intended Audience :: ") for line in PROJECT["classifiers"])
    assert REPOSITORY in (ROOT / "CITATION.cff").read_text("utf-8")
    assert REPOSITORY in (ROOT / "mkdocs.yml").read_text("utf-8")


def test_readme_links_are_absolute_and_lead_to_files_of_the_repository() -> None:
    """The package index shows the README without the files next to it."""
    targets = re.findall(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"|^\[[^\]]+\]: (\S+)$", README, re.MULTILINE)
    links = ["".join(found) for found in targets]
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    raw = REPOSITORY.replace("https://github.com/", "https://raw.githubusercontent.com/") + "/main/"
    own = [link.partition("#")[0] for link in links if link.startswith((f"{REPOSITORY}/", raw))]
    paths = [re.sub(rf"^(?:{re.escape(raw)}|{re.escape(REPOSITORY)}/(?:blob|tree)/main/)", "", link) for link in own]
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert set(re.findall(r"\]\[([a-z]+)\]", README)) == set(re.findall(r"^\[([a-z]+)\]: ", README, re.MULTILINE))
