"""What GitHub does for the project: workflows call what exists, nothing can change under them, and nothing can be stolen."""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import calque

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
BESIDE_MAKE = ("python -m pip ", "python -m pytest ", "python -m cibuildwheel ", "calque ", "sudo apt-get ", 'echo "epoch=')
"""What else a step may run."""


def load(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    return loaded


def jobs(path: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = load(path)["jobs"]
    return found


def steps(path: Path) -> Iterator[dict[str, Any]]:
    for job in jobs(path).values():
        yield from job["steps"]


def commands(path: Path) -> list[str]:
    return [line for step in steps(path) if "run" in step for line in step["run"].splitlines()]


def test_there_are_workflows_for_tests_docs_and_releases() -> None:
    assert [path.stem for path in WORKFLOWS] == ["docs", "release", "tests"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_may_only_read_and_end_in_time(path: Path) -> None:
    workflow = load(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["name"] == path.stem
    assert all(job["name"] and 0 < job["timeout-minutes"] <= 120 for job in workflow["jobs"].values())
    assert "pull_request_target" not in path.read_text("utf-8")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_commands_exist(path: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    assert commands(path)
    for command in commands(path):
        if not command.startswith("make "):
            assert command.startswith(BESIDE_MAKE), command
            continue
        target, *given = shlex.split(command)[1:]
        assert target in targets, command
        assert all(f"$({setting.partition('=')[0]})" in MAKEFILE for setting in given), command


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_a_command_is_given_is_never_written_into_it(path: Path) -> None:
    """A name of a branch or a tag could end the command and begin another."""
    assert not [command for command in commands(path) if "${{" in command]


def test_actions_are_pinned_to_commits_and_each_to_one() -> None:
    text = "\n".join(path.read_text("utf-8") for path in WORKFLOWS)
    used = re.findall(r"uses: (\S+)(.*)", text)
    pins = {}
    for action, rest in used:
        name, _, commit = action.partition("@")
        assert re.fullmatch(r"[0-9a-f]{40}", commit), action
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", rest), action
        assert pins.setdefault(name, (commit, rest)) == (commit, rest)
    assert {"actions/checkout", "actions/setup-python", "pypa/gh-action-pypi-publish"} <= pins.keys()


def test_no_secret_is_kept_or_asked_for() -> None:
    for path in WORKFLOWS:
        assert not re.search(r"secrets\.|password:|api[-_]key|_TOKEN", path.read_text("utf-8"))
        for step in steps(path):
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


def test_only_who_publishes_may_write() -> None:
    writing = {
        (path.stem, name): job["permissions"] for path in WORKFLOWS for name, job in jobs(path).items() if "permissions" in job
    }
    assert writing == {
        ("docs", "publish"): {"pages": "write", "id-token": "write"},
        ("release", "publish"): {"id-token": "write"},
    }
    publish = jobs(ROOT / ".github/workflows/release.yml")["publish"]
    assert publish["environment"] == "release"
    assert publish["if"] == "github.ref_type == 'tag'"
    assert not [step for step in publish["steps"] if "run" in step]


def test_every_python_and_every_system_is_tested() -> None:
    named = [line.rpartition(" ")[2] for line in PROJECT["project"]["classifiers"] if re.search(r":: 3\.\d+$", line)]
    tests = jobs(ROOT / ".github/workflows/tests.yml")
    matrix = tests["matrix"]["strategy"]["matrix"]
    assert matrix["python"] == named
    assert PROJECT["project"]["requires-python"] == f">={named[0]}"
    systems = {"ubuntu-24.04", "ubuntu-24.04-arm", "macos-15", "macos-15-intel", "windows-2025"}
    assert set(matrix["system"]) == systems
    assert "3.14t" in str(tests["free-threaded"]["steps"])
    release = jobs(ROOT / ".github/workflows/release.yml")
    assert set(release["wheels"]["strategy"]["matrix"]["system"]) == systems
    assert release["try"]["strategy"]["matrix"] == {"system": matrix["system"], "python": [*named, "3.14t"]}


def test_wheels_are_built_for_every_python() -> None:
    """3.11 has one of its own, 3.12 and later share the stable interface, free-threaded ones have their own."""
    built = PROJECT["tool"]["cibuildwheel"]["build"]
    assert built == ["cp311-*", "cp312-*", "cp314t-*"]
    assert PROJECT["tool"]["scikit-build"]["wheel"]["py-api"] == "cp312"


@pytest.mark.parametrize("path", [path for path in FORMS if path.stem != "config"], ids=lambda path: path.stem)
def test_issue_forms_ask_for_something(path: Path) -> None:
    form = load(path)
    assert form["name"]
    assert form["description"]
    asked = [item["id"] for item in form["body"]]
    assert len(asked) == len(set(asked))
    assert all(item["type"] in {"input", "textarea"} and item["attributes"]["label"] for item in form["body"])
    assert any(item.get("validations", {}).get("required") for item in form["body"])


def test_who_cites_finds_this_version() -> None:
    citation = load(ROOT / "CITATION.cff")
    assert citation["version"] == calque.__version__
    assert citation["license"] == PROJECT["project"]["license"]
    assert citation["authors"]
    assert f": {calque.__version__}\n" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_files_name_no_package_host_and_no_folder_of_a_machine() -> None:
    """Whose index and whose folders they are is the business of whoever builds."""
    hosts = ("pypi" + ".org", "python" + "hosted", "npm" + "js.org", "/" + "root/", "/" + "home/")
    pattern = "|".join(map(re.escape, hosts))
    found = subprocess.run(["git", "grep", "-nIE", pattern], cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode > 1:
        pytest.skip("this is no checkout of git")
    assert found.stdout == ""
