"""What calque costs stays within ``budgets.toml``: bytes of an installation, modules of a plain run, dependencies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
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
COUNT = """
import sys
before = set(sys.modules)
sys.argv = ["calque", *sys.argv[1:]]
try:
    if len(sys.argv) == 1:
        import calque
    else:
        from calque.__main__ import main
        main()
finally:
    print("\\n".join(sorted(set(sys.modules) - before)), file=sys.stderr)
"""


def names(requirements: list[str]) -> list[str]:
    return sorted(canonicalize_name(Requirement(line).name) for line in requirements)


def imported(*arguments: str) -> dict[str, set[str]]:
    """The modules that a run adds to those of a bare interpreter, by where they come from."""
    environment = {**os.environ, "CALQUE_KERNELS": "", "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-c", COUNT, *arguments]
    modules = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stderr.splitlines()
    found: dict[str, set[str]] = {"calque": set(), "standard_library": set(), "others": set()}
    for name in modules:
        top = name.partition(".")[0]
        origin = "calque" if top == "calque" else "standard_library" if top in sys.stdlib_module_names else "others"
        found[origin].add(top if origin == "others" else name)
    return found


def hold(run: str, found: dict[str, set[str]]) -> None:
    """Compare a run with its budget, and name what came."""
    budget = BUDGETS["modules"][run]
    assert len(found["calque"]) <= budget["calque"], sorted(found["calque"])
    assert len(found["standard_library"]) <= budget["standard_library"], sorted(found["standard_library"])
    assert found["others"] <= {*budget["others"], "_editable_skbc_calque_eval"}


@pytest.mark.parametrize(("run", "arguments"), [("version", ["--version"]), ("import", [])])
def test_modules_before_there_is_anything_to_count(run: str, arguments: list[str]) -> None:
    hold(run, imported(*arguments))


@pytest.mark.skipif(not native_built(), reason="without the compiled scanner, formats are looked for")
def test_modules_of_a_plain_run(tmp_path: Path) -> None:
    category, image = {"id": 1, "name": "Table"}, {"id": 1, "width": 10, "height": 10}
    box = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 5, 5]}
    truth, found = tmp_path / "truth.json", tmp_path / "found.json"
    truth.write_text(json.dumps({"images": [image], "categories": [category], "annotations": [{**box, "id": 1}]}))
    found.write_text(json.dumps([{**box, "score": 0.5}]))
    hold("detect", imported("detect", str(truth), str(found), "--format", "json"))


@pytest.mark.skipif(not native_built(), reason="without the compiled reader of lines, other modules read")
def test_modules_of_a_plain_run_on_records(tmp_path: Path) -> None:
    schema, truth, found = tmp_path / "schema.json", tmp_path / "truth.jsonl", tmp_path / "found.jsonl"
    line = {"type": "list[object]", "fields": {"text": {"type": "str"}, "amount": {"type": "float", "comparator": "numeric"}}}
    schema.write_text(json.dumps({"fields": {"vendor": {"type": "str"}, "lines": line}}))
    for path, amount in ((truth, 5.0), (found, 6.0)):
        path.write_text(json.dumps({"doc_id": "a", "vendor": "Acme", "lines": [{"text": "bolts", "amount": amount}]}) + "\n")
    run = imported("fields", str(truth), str(found), "--schema", str(schema), "--accounting", "paired", "--format", "json")
    hold("fields", run)


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
