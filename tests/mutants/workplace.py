"""A workplace: a copy of the tree with an environment of its own. Faults are tried there; the user's files stay as they are."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import entry_points
from pathlib import Path

HERE = Path(__file__).parent
NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "site")


@dataclass(frozen=True)
class Workplace:
    """A folder with the copy, ``tree``, the environment that imports the package from it, ``venv``, and a second copy.

    Nothing ever runs in the second one, ``clean``: it says what the first must be after each trial.
    """

    folder: Path
    package: str

    @property
    def tree(self) -> Path:
        return self.folder / "tree"

    @property
    def clean(self) -> Path:
        return self.folder / "clean"

    @property
    def python(self) -> Path:
        return self.folder / "venv" / "bin" / "python"

    @property
    def notes(self) -> Path:
        """Where the plugin and the processes of the tests leave what they saw: the environment's folder of packages."""
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        return self.folder / "venv" / "lib" / version / "site-packages"

    def put(self, file: str, text: bytes) -> None:
        """Write a file of the copy. Its compiled forms go: they are told apart by second and size, which a fault may keep."""
        path = self.tree / file
        path.write_bytes(text)
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()

    def pytest(self, *arguments: str) -> list[str]:
        return [str(self.python), "-m", "pytest", "-p", "mutants_plugin", "-p", "no:cacheprovider", "-q", *arguments]


def package_of(root: Path) -> str:
    """The one package in ``src``."""
    (package,) = (path.parent.name for path in (root / "src").glob("*/__init__.py"))
    return package


def set_up(root: Path, folder: Path) -> Workplace:
    """Copy the tree, as far as it is the project's own."""
    place = Workplace(folder, package_of(root))
    copy_tree(root, place.tree)
    copy_compiled(root, place)
    furnish(place)
    return place


def twin(place: Workplace, folder: Path) -> Workplace:
    """A workplace like another. By now the user may have changed the tree, and a fault is a place in the text of a file."""
    other = Workplace(folder, place.package)
    shutil.copytree(place.clean, other.tree, symlinks=True)
    furnish(other)
    return other


def furnish(place: Workplace) -> None:
    """Keep a clean copy, and make the environment."""
    shutil.copytree(place.tree, place.clean, symlinks=True)
    venv.create(place.folder / "venv", with_pip=False, symlinks=True)
    shutil.copy(HERE / "startup.py", place.notes / "mutants_startup.py")
    shutil.copy(HERE / "plugin.py", place.notes / "mutants_plugin.py")
    # Folders named in a .pth file are searched, but their own .pth files are not read: the editable install stays out.
    borrowed = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    (place.notes / "mutants.pth").write_text(
        "\n".join([str(place.tree / "src"), *borrowed, "import mutants_startup\n"]), "utf-8"
    )
    for command in entry_points(group="console_scripts"):
        if command.module.split(".")[0] == place.package:
            script = place.python.with_name(command.name)
            script.write_text(
                f"#!{place.python}\nimport sys\nfrom {command.module} import {command.attr}\nsys.exit({command.attr}())\n",
                "utf-8",
            )
            script.chmod(0o755)


def copy_tree(root: Path, target: Path) -> None:
    files = own_files(root)
    if files is None:
        shutil.copytree(root, target, ignore=NOT_COPIED)
        return
    for file in files:
        if (root / file).is_file():
            (target / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / file, target / file)


def own_files(root: Path) -> Iterable[str] | None:
    """What git knows or would take; None where there is no repository."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return sorted(filter(None, listed.split("\0")))


def copy_compiled(root: Path, place: Workplace) -> None:
    """Compiled modules are installed beside the sources or among the installed packages, and git knows of neither."""
    for base in (root / "src", *(Path(path) for path in {sysconfig.get_path("platlib"), sysconfig.get_path("purelib")})):
        for path in (base / place.package).rglob("*"):
            if path.name.endswith(tuple(EXTENSION_SUFFIXES)):
                target = place.tree / "src" / path.relative_to(base)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, target)
