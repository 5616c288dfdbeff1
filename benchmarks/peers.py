"""One virtual environment for each tool, made when first needed.

    python benchmarks/peers.py [NAME ...] [--folder FOLDER]

A tool that cannot be installed is reported as missing and left out; it never stops the others.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DEFAULT_FOLDER = Path(__file__).resolve().parent / ".peers"
CHECKOUT = Path(__file__).resolve().parents[1]
GIT = ("git", "-C", str(CHECKOUT))
BUILD_INPUTS = ("pyproject.toml", "CMakeLists.txt", "native", "src")  # What an installation is made of, without the README.

ENVIRONMENTS = {
    "calque": (),  # From the checkout: see `calque_requirements`.
    "pycocotools": ("pycocotools==2.0.11",),
    "faster-coco-eval": ("faster-coco-eval==1.8.0",),
    "hotcoco": ("hotcoco==1.3.0",),
    "ultrafast-pycocotools": ("ultrafast-pycocotools==0.1.14",),
    "shapely": ("shapely==2.2.0",),
    "rapidfuzz": ("rapidfuzz==3.14.6", "numpy"),
    "jiwer": ("jiwer==4.0.0",),
    "stickler": ("stickler-eval==1.0.0",),
    "table-recognition-metric": ("table-recognition-metric==0.0.6",),
    "docling-metrics-table": ("docling-metrics-table==0.16.0",),
    "grits-metric": ("grits-metric==0.7.0",),
}


@dataclass(frozen=True)
class Installed:
    """An environment that is ready."""

    programs: Path
    version: str


@dataclass(frozen=True)
class Missing:
    """An environment that could not be made, and why."""

    reason: str


def environment(name: str, folder: Path = DEFAULT_FOLDER) -> Installed | Missing:
    """The environment of that name, made now if it is not there or no longer what it should be."""
    try:
        requirements = calque_requirements() if name == "calque" else ENVIRONMENTS[name]
        return _made(
            name,
            folder / name,
            requirements,
            distribution_of(CHECKOUT) if name == "calque" else requirements[0].partition("==")[0],
        )
    except FileNotFoundError as error:
        return Missing(str(error))
    except subprocess.CalledProcessError as error:
        return Missing(_complaint(error))


def before(commit: str, folder: Path = DEFAULT_FOLDER) -> Installed | Missing:
    """calque as a commit of the checkout has it."""
    try:
        name = f"calque-{_called([*GIT, 'rev-parse', '--short=12', f'{commit}^{{commit}}']).strip()}"
        source = folder / f"{name}-source"
        if not source.exists():
            packed = subprocess.run([*GIT, "archive", "--format=tar", commit], check=True, capture_output=True).stdout
            with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                archive.extractall(source, filter="data")
        return _made(name, folder / name, (f"{source}[parquet]",), distribution_of(source))
    except subprocess.CalledProcessError as error:
        return Missing(_complaint(error))


def _complaint(error: subprocess.CalledProcessError) -> str:
    """The line of a failed command's output that says most: pip's last ERROR, else the last line."""
    lines = [line.strip() for line in (error.stderr or "").splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    return (errors or lines or [f"it failed with exit code {error.returncode}"])[-1]


def calque_requirements() -> tuple[str, ...]:
    """calque as the checkout has it, not editable, with what it needs to read Parquet."""
    if not (CHECKOUT / "pyproject.toml").exists():
        raise FileNotFoundError("calque cannot be installed: there is no pyproject.toml above benchmarks/")
    return (f"{CHECKOUT}[parquet]",)


def _made(name: str, folder: Path, requirements: tuple[str, ...], distribution: str) -> Installed:
    programs = folder / "bin"
    stamp = folder / "installed.txt"
    ours = name not in ENVIRONMENTS or name == "calque"
    wanted = (
        "\n".join(requirements)
        + ("\ncompiled kernels" if ours else "")
        + (f"\n{checkout_digest()}" if name == "calque" else "")
    )
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"installing {name}", file=sys.stderr)
        _called([sys.executable, "-m", "venv", "--clear", str(folder)])
        # A folder of its own: another build at the same time must not interfere.
        build = ["--config-settings", f"build-dir={folder}-build"] if ours else []
        _called([str(programs / "python"), "-m", "pip", "install", "--quiet", *build, *requirements])
        stamp.write_text(wanted)
    return Installed(programs, _version(programs, distribution))


def distribution_of(source: Path) -> str:
    """Return the name under which pip knows the calque in a source folder; earlier commits have another one."""
    return str(tomllib.loads((source / "pyproject.toml").read_text("utf-8"))["project"]["name"])


def _called(command: list[str]) -> str:
    # Without its compiled kernels calque is not what is to be measured.
    environment = {**os.environ, "CALQUE_REQUIRE_NATIVE": "1"}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def _version(programs: Path, distribution: str) -> str:
    ask = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"
    return _called([str(programs / "python"), "-c", ask, distribution]).strip()


def checkout_digest() -> str:
    """A digest of the files that make calque, so that a changed checkout is installed anew."""
    digest = hashlib.sha256()
    for path in _build_files():
        digest.update(path.relative_to(CHECKOUT).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _build_files() -> Iterator[Path]:
    for name in BUILD_INPUTS:
        top = CHECKOUT / name
        paths = sorted(top.rglob("*")) if top.is_dir() else [top]
        yield from (path for path in paths if path.is_file() and "__pycache__" not in path.parts)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(ENVIRONMENTS)} (default: all)")
    parser.add_argument("--folder", type=Path, default=DEFAULT_FOLDER, help="where the environments are kept")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(ENVIRONMENTS))
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}")
    for name in arguments.names or ENVIRONMENTS:
        found = environment(name, arguments.folder)
        print(f"{name}: {found.version if isinstance(found, Installed) else f'missing: {found.reason}'}")


if __name__ == "__main__":
    main()
