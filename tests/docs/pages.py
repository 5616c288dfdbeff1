"""The written pages, and what they hold that can be run: terminal sessions and files.

Run as a script, it writes the output of every terminal session anew; read the difference before you commit it.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = tuple(sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]))

_FENCE = re.compile(r"^```(?P<language>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE_NAME = re.compile(r"# (?P<name>[a-z_.]+\.(?:py|yaml))\n")
ANYTHING = "..."
"""A line of an expected output that stands for any number of lines."""


@dataclass(frozen=True)
class Command:
    """What is typed after ``$`` (and ``>`` when it goes on), and what the page says comes back."""

    typed: str
    output: str

    def accepts(self, actual: str) -> bool:
        """Whether the page is right about what comes back."""
        parts = [r"(?:.*\n)*" if line == f"{ANYTHING}\n" else re.escape(line) for line in self.output.splitlines(keepends=True)]
        return re.fullmatch("".join(parts), actual) is not None


def blocks(page: Path, language: str) -> list[str]:
    """The bodies of the fenced blocks of one language."""
    return [match["body"] for match in _FENCE.finditer(page.read_text("utf-8")) if match["language"] == language]


def commands(block: str) -> Iterator[Command]:
    """The commands of a ``console`` block. Text before the first one is a mistake of the page."""
    typed: list[str] = []
    output: list[str] = []
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            if typed:
                yield Command("".join(typed), "".join(output))
            typed, output = [line[2:]], []
        elif line.startswith("> ") and typed and not output:
            typed.append(line[2:])
        elif typed:
            output.append(line)
        else:
            raise ValueError(f"a console block begins with a command, not with {line!r}")
    yield Command("".join(typed), "".join(output))


def lay_out(page: Path, folder: Path) -> None:
    """Put into the folder what a reader has at hand: the demo's files, and the page's own Python and YAML files."""
    for name, content in _demo_files().items():
        (folder / name).write_bytes(content)
    for body in (*blocks(page, "python"), *blocks(page, "yaml")):
        named = _FILE_NAME.match(body)
        if named:
            (folder / named["name"]).write_text(body, "utf-8")


@functools.cache
def _demo_files() -> dict[str, bytes]:
    """What the demo keeps, by name; every page begins with the same files."""
    with tempfile.TemporaryDirectory() as folder:
        run("calque demo --keep .", Path(folder))
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def run(typed: str, folder: Path, *, before: int = 0) -> tuple[str, int]:
    """What a terminal shows for a command, and its exit code; ``before`` is the code of the command before it."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    plain = {"PATH": path, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONUTF8": "1", "HOME": str(folder)}
    plain |= {name: value for name, value in os.environ.items() if name.startswith("CALQUE_")}
    done = subprocess.run(
        ["sh", "-c", f"(exit {before})\n{typed}"],
        cwd=folder,
        env=plain,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return done.stdout, done.returncode


def session(page: Path, folder: Path) -> Iterator[tuple[Command, str]]:
    """Every command of a page with what really comes back, run one after the other in one folder."""
    lay_out(page, folder)
    code = 0
    for block in blocks(page, "console"):
        for command in commands(block):
            actual, code = run(command.typed, folder, before=code)
            yield command, actual


def rewrite(page: Path) -> list[str]:
    """Correct the outputs of a page in place; returns the commands that need a hand because their output is cut short."""
    before, after = "", page.read_text("utf-8")
    by_hand = []
    with tempfile.TemporaryDirectory() as folder:
        for command, actual in session(page, Path(folder)):
            typed = "$ " + command.typed.removesuffix("\n").replace("\n", "\n> ") + "\n"
            prose, _, after = after.partition(typed + command.output)
            cut_short = f"{ANYTHING}\n" in command.output
            if cut_short and not command.accepts(actual):
                by_hand.append(command.typed.strip())
            before += prose + typed + (command.output if cut_short else actual)
    page.write_text(before + after, "utf-8")
    return by_hand


if __name__ == "__main__":
    for each in PAGES:
        for left in rewrite(each):
            print(f"{each.relative_to(ROOT)}: correct by hand: {left}")  # noqa: T201  # a script's answer
