"""The page that reports hold is what its sources give: built again by the same tool, it is the same to the byte."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import calque.report

REPORT = Path(calque.report.__file__).parent
APP, BUNDLE = REPORT / "app", REPORT / "bundle"


def test_the_bundle_is_what_the_sources_give(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None or not (APP / "node_modules" / "esbuild").is_dir():
        if os.environ.get("CALQUE_REQUIRE_NODE"):
            pytest.fail("Node or esbuild is not there, and CALQUE_REQUIRE_NODE asks for them: make report-app")
        pytest.skip("Node and esbuild are not installed: make report-app installs them")
    subprocess.run([node, "build.mjs", str(tmp_path)], cwd=APP, check=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in BUNDLE.iterdir())
    for name in [path.name for path in BUNDLE.iterdir()]:
        assert (tmp_path / name).read_bytes() == (BUNDLE / name).read_bytes(), f"{name} is old: make report-app"


def test_the_lock_names_versions_and_no_hosts() -> None:
    text = (APP / "package-lock.json").read_text()
    assert '"node_modules/preact"' in text
    assert "registry" not in text
    assert '"resolved"' not in text
