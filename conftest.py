"""How tests are collected; and the written pages as doctests, each in a folder of its own with the demo's files at hand."""

import contextlib
import gc
import signal
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from tests.docs.pages import PAGES, lay_out

# A shell starts what runs in the background deaf to Ctrl-C. Commands that tests start must not inherit that: some are sent it.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Thousands of tests and what they import stay to the end: garbage is not looked for among them, again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Modules without a prompt have no examples to look for, in none of their functions."""
    collectors = yield
    if any(isinstance(each, DoctestModule) for each in collectors) and b">>>" not in file_path.read_bytes():
        return [each for each in collectors if not isinstance(each, DoctestModule)]
    return collectors


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """A hook and not a fixture: the many other tests need no folder."""
    if isinstance(item, pytest.DoctestItem) and item.path in PAGES:
        with tempfile.TemporaryDirectory() as folder, reader_of(item.path, Path(folder)):
            return (yield)
    return (yield)


@contextlib.contextmanager
def reader_of(page: Path, folder: Path) -> Iterator[None]:
    """What the page's reader has: the sample files, and the Python files that the page itself holds."""
    from calque.evaluation.task import Task

    lay_out(page, folder)
    before = set(sys.modules), dict(Task.known)
    sys.path.insert(0, str(folder))
    try:
        with contextlib.chdir(folder):
            yield
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules.keys() - before[0] if (folder / f"{name}.py").exists()]:
            del sys.modules[name]
        Task.known.clear()
        Task.known.update(before[1])
