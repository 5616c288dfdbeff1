"""Empty environments: an interpreter, what an installation says it needs, and nothing else; no compiler, no package index."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def closure(requirements: Iterable[str]) -> list[str]:
    """The names of the distributions that requirements lead to, without extras."""
    found: set[str] = set()
    waiting = [Requirement(line) for line in requirements]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if wanted and name not in found:
            found.add(name)
            waiting += map(Requirement, distribution(name).requires or ())
    return sorted(found)


@dataclass(frozen=True)
class Environment:
    """A virtual environment without pip; what it runs finds no program but its own."""

    folder: Path

    @classmethod
    def with_wheel(cls, folder: Path, wheel: Path) -> Environment:
        """A new environment with a wheel, and copies of the distributions that the wheel asks for."""
        venv.create(folder, with_pip=False, symlinks=os.name != "nt")
        made = cls(folder)
        pip = [sys.executable, "-m", "pip", "--python", str(made.program("python")), "install"]
        subprocess.run([*pip, "--quiet", "--no-deps", "--no-index", str(wheel)], check=True)
        for name in closure(made.requirements()):
            made.copy(name)
        return made

    def program(self, name: str) -> Path:
        """Where one of its programs is."""
        return self.folder / ("Scripts" if os.name == "nt" else "bin") / name

    def requirements(self) -> list[str]:
        """What the installed calque says it needs."""
        code = "from importlib.metadata import requires; print('\\n'.join(requires('calque-eval')))"
        return self.run("python", "-c", code).splitlines()

    def copy(self, name: str) -> None:
        """Take a distribution over from the environment that runs the tests."""
        target = Path(self.run("python", "-c", "import sysconfig; print(sysconfig.get_path('platlib'))").strip())
        installed = distribution(name)
        for file in installed.files or ():
            if ".." not in file.parts and "__pycache__" not in file.parts:  # no programs
                (target / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(str(installed.locate_file(file)), target / file)

    def run(self, name: str, *arguments: str, **variables: str) -> str:
        """What one of its programs prints, in its folder."""
        given = {"PATH": str(self.program("")), "CC": "no-compiler", "CXX": "no-compiler", **variables}
        given |= {kept: os.environ[kept] for kept in ("SYSTEMROOT",) if kept in os.environ}
        command = [str(self.program(name)), *arguments]
        return subprocess.run(command, cwd=self.folder, env=given, check=True, stdout=subprocess.PIPE, text=True).stdout
