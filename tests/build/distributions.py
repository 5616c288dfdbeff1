"""Builds what a release is made of, the sdist from files that git knows, the wheel from the sdist: the same bytes each time.

``python -m tests.build.distributions FOLDER`` builds one of each; ``--twice`` builds both again elsewhere, with other times,
rights, names and settings of the process, and compares. ``SOURCE_DATE_EPOCH`` is the time in the archives; unset, it is the
time of the last commit.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOOK = """
import os, sys
from scikit_build_core import build
os.umask(int(sys.argv[2], 8))
getattr(build, sys.argv[1])(sys.argv[3], dict(pair.split("=", 1) for pair in sys.argv[4:]))
"""
PURE = ("wheel.cmake=false", "wheel.py-api=py3")
"""What makes a wheel without kernels, as one is made where there is no compiler."""


@dataclass(frozen=True)
class Surroundings:
    """What differs between two machines and must not show in what they build."""

    folder: str
    umask: str
    touched: int
    """When every file was changed last."""
    variables: Mapping[str, str]


HERE = Surroundings("here", "022", 1_600_000_000, {"TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "1"})
ELSEWHERE = Surroundings("some/where else", "077", 1_700_000_001, {"TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": "2"})


def tracked() -> list[str]:
    """The files that git knows, and that are still there."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return sorted(name for name in listed.split("\0") if name and (ROOT / name).is_file())


def epoch() -> str:
    """The time that archives are given: ``SOURCE_DATE_EPOCH``, or that of the last commit."""
    last_commit = ["git", "log", "-1", "--format=%ct"]
    return os.environ.get("SOURCE_DATE_EPOCH") or subprocess.check_output(last_commit, cwd=ROOT, text=True).strip()


def version() -> str:
    """The version that is being built."""
    [found] = re.findall(r'^__version__ = "(.+)"$', (ROOT / "src/calque/__init__.py").read_text("utf-8"), re.MULTILINE)
    return str(found)


def build(folder: Path, *settings: str, surroundings: Surroundings = HERE) -> tuple[Path, Path]:
    """The sdist and the wheel, built into a folder; ``settings`` are the build's own, as pip's ``--config-settings``."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch) / surroundings.folder
        _copy(work / "tree", surroundings)
        _run("build_sdist", work / "tree", work / "sdist", surroundings)
        [sdist] = (work / "sdist").iterdir()
        with tarfile.open(sdist) as archive:
            archive.extractall(work / "unpacked", filter="data")
        [tree] = (work / "unpacked").iterdir()
        _run("build_wheel", tree, work / "wheel", surroundings, *settings)
        [wheel] = (work / "wheel").iterdir()
        return Path(shutil.copy(sdist, folder)), Path(shutil.copy(wheel, folder))


def _copy(tree: Path, surroundings: Surroundings) -> None:
    names = tracked()
    for name in names if surroundings is HERE else reversed(names):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)
        os.chmod(tree / name, (tree / name).stat().st_mode & ~int(surroundings.umask, 8))
        os.utime(tree / name, (surroundings.touched, surroundings.touched))


def _run(hook: str, tree: Path, out: Path, surroundings: Surroundings, *settings: str) -> None:
    out.mkdir(parents=True)
    given = {**os.environ, "SOURCE_DATE_EPOCH": epoch(), **surroundings.variables}
    if "wheel.cmake=false" not in settings:
        given["CALQUE_REQUIRE_NATIVE"] = "1"
    command = [sys.executable, "-c", HOOK, hook, surroundings.umask, str(out), *settings]
    done = subprocess.run(
        command, cwd=tree, env=given, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if done.returncode:
        raise RuntimeError(f"{hook} failed:\n{done.stdout}")


def digest(path: Path) -> str:
    """What says whether two files are the same."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def members(path: Path) -> dict[str, str]:
    """What an archive holds, by name, with the digest of each; an sdist's files without the folder they are in."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return {name: hashlib.sha256(wheel.read(name)).hexdigest() for name in wheel.namelist()}
    with tarfile.open(path) as sdist:
        files = [(each, sdist.extractfile(each)) for each in sdist.getmembers()]
        return {each.name.partition("/")[2]: hashlib.sha256(file.read()).hexdigest() for each, file in files if file}


def differences(first: Path, second: Path) -> list[str]:
    """The members in which two archives differ; one line says so where the archives alone do."""
    if digest(first) == digest(second):
        return []
    ours, theirs = members(first), members(second)
    differing = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
    return differing or [f"{first.name}: the same members, packed differently"]


def main() -> int:
    """Builds, and says what was built; 1 where two builds differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--twice", action="store_true")
    parser.add_argument("--tag", default="", help="refuse to build anything but the version that this tag names")
    arguments = parser.parse_args()
    if arguments.tag and arguments.tag != f"v{version()}":
        parser.error(f"the tag is {arguments.tag}, but the version is {version()}")
    built = build(arguments.folder)
    for path in built:
        print(f"{digest(path)}  {path.name}")  # noqa: T201  # a script's answer
    if not arguments.twice:
        return 0
    with tempfile.TemporaryDirectory() as second:
        # A compiler cache would hand out the objects of the first build.
        os.environ["CCACHE_DISABLE"] = "1"
        again = build(Path(second), surroundings=ELSEWHERE)
        differing = [name for pair in zip(built, again, strict=True) for name in differences(*pair)]
    print("\n".join([f"differs: {name}" for name in differing]) or "the same bytes twice")  # noqa: T201  # a script's answer
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
