"""Threads and processes are started in one place."""

from __future__ import annotations

import ast
from pathlib import Path

import calque

SOURCE = Path(calque.__file__).parent
ENGINES = SOURCE / "engines"

STARTING = {"threading", "_thread", "concurrent", "multiprocessing", "subprocess"}
"""Modules that can start a thread or a process."""

STARTERS = {
    "Thread",
    "Timer",
    "ThreadPoolExecutor",
    "ProcessPoolExecutor",
    "Process",
    "Pool",
    "Popen",
    "fork",
    "start_new_thread",
}


def imported(tree: ast.AST) -> set[str]:
    """The top-level modules that a file imports, anywhere in it."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def named(tree: ast.AST) -> set[str]:
    """Every name and attribute in a file."""
    plain = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return plain | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def test_only_engines_start_threads_and_processes() -> None:
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if path.is_relative_to(ENGINES) or not any(name in text for name in STARTING):
            continue
        tree = ast.parse(text)
        assert not imported(tree) & STARTING or not named(tree) & STARTERS, f"{path}: use calque.engines"
