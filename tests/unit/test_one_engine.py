"""Threads and processes are started in one place."""

from __future__ import annotations

import ast
from pathlib import Path

import calque

SOURCE = Path(calque.__file__).parent
ENGINES = SOURCE / "engines"

STARTING = {"threading", "_thread", "concurrent", "multiprocessing", "subprocess"}
"""Modules that can start a thread or a process."""

ALLOWED = {
    "__main__.py": "asks at the end whether a thread is left that Python would wait for",
    "cli/exits.py": "asks whether this is the main thread: only there signals are heard",
    "cli/progress.py": "tells the thread that shows a sign of life when to end",
    "report/images.py": "a lock: the library that draws PDF pages takes one caller at a time",
    "evaluation/shards/checkpoint.py": "a lock: whoever writes a batch is let finish before the folder is put in order",
    "evaluation/storage/spool.py": "a lock: a file has one position, and threads take turns",
}
"""Who may import ``threading``, and what for; none of them starts a thread."""

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


def test_nothing_else_starts_threads_or_processes() -> None:
    importing = {}
    for path in sorted(SOURCE.rglob("*.py")):
        if path.is_relative_to(ENGINES):
            continue
        text = path.read_text(encoding="utf-8")
        if not any(name in text for name in STARTING):
            continue
        tree = ast.parse(text)
        if used := imported(tree) & STARTING:
            importing[path.relative_to(SOURCE).as_posix()] = used
            assert not named(tree) & STARTERS, f"{path}: use calque.engines"
    assert importing == {name: {"threading"} for name in ALLOWED}
