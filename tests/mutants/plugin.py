"""The pytest plugin of a workplace: it records which test runs which lines, or runs chosen tests in a given order.

It is copied next to ``startup.py`` and imports nothing of the project. ``chosen`` holds the tests to run, ``tests`` what
was recorded about each, and ``failed`` a line for each test that failed and each file that did not load.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
import threading
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).parent
TREE = HERE.parents[3] / "tree"
MEMORY = 8 << 30  # a fault that makes a list grow for ever ends here; browsers reserve far more, and write to little of it


def pytest_configure(config: pytest.Config) -> None:
    if (HERE / "record").exists():
        config.pluginmanager.register(RECORDING)
    else:
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
        config.pluginmanager.register(Chooser(json.loads((HERE / "chosen").read_text("utf-8"))))


class Recorder:
    """Tells the coverage tool which test runs, and keeps how long each took.

    What several tests share, a fixture or what is made when the first of them asks for it, is noted under a name of its own
    and belongs to each test that asks for it, or for something that hangs on it. So does what a file of tests runs when it is
    imported.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()
        self.skipped: set[str] = set()
        self.caches: dict[str, list[Any]] = {}
        self.current = ""
        self.asked: dict[str, set[str]] = defaultdict(set)

    @contextlib.contextmanager
    def within(self, name: str) -> Iterator[None]:
        """Lines that run in here are noted under the name."""
        outer = self.current
        self.enter(name)
        try:
            yield
        finally:
            self.enter(outer)

    @contextlib.contextmanager
    def shared(self, name: str) -> Iterator[None]:
        """As within; and whoever is at work hangs on it."""
        self.asked[self.current].add(name)
        with self.within(name):
            yield

    def enter(self, name: str) -> None:
        from coverage import Coverage

        self.current = name
        (HERE / "current").write_text(name, "utf-8")
        watch = Coverage.current()
        if watch is not None:
            watch.switch_context(name)

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, Any, Any]:
        with self.within(file_name(collector.nodeid)):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        forget(self.caches)
        defined: dict[str, Any] = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
        self.asked[item.nodeid] |= {file_name(item.nodeid), *wide(each for several in defined.values() for each in several)}
        with self.within(item.nodeid):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """By now the test has asked for what it asks for by name only while it runs."""
        self.asked[item.nodeid] |= wide(getattr(getattr(item, "_request", None), "_fixture_defs", {}).values())
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: pytest.FixtureRequest) -> Generator[None, Any, Any]:
        with contextlib.ExitStack() as stack:
            for name in wide([fixturedef]):
                stack.enter_context(self.shared(name))
            return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if not report.passed:
            (self.failed if report.failed else self.skipped).add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        unfit = self.failed | self.skipped
        fit = {name: [seconds, sorted(self.reached(name))] for name, seconds in self.seconds.items() if name not in unfit}
        (HERE / "tests").write_text(json.dumps({"fit": fit, "failed": sorted(self.failed)}), "utf-8")

    def reached(self, name: str) -> set[str]:
        """What is asked for under a name, and what that asks for in turn."""
        found: set[str] = set()
        ahead = [name]
        while ahead:
            more = self.asked.get(ahead.pop(), set()) - found
            found |= more
            ahead += more
        return found


RECORDING = Recorder()


def asked_for(name: str) -> contextlib.AbstractContextManager[None]:
    """For what tests share without a fixture: they enter this whenever they ask for it, and make it in here."""
    return RECORDING.shared(f"kept {name}") if (HERE / "record").exists() else contextlib.nullcontext()


def wide(fixtures: Iterable[Any]) -> set[str]:
    """The names of the fixtures that several tests share."""
    return {f"fixture {each.baseid}::{each.argname}" for each in fixtures if each.scope != "function"}


def file_name(test: str) -> str:
    return f"import of {test.partition('::')[0]}"


def forget(known: dict[str, list[Any]]) -> None:
    """Empty the caches of functions and methods: what an earlier test left there would hide lines from this one.

    What is known is where they are, by module.
    """
    for name, module in list(sys.modules.items()):
        if name not in known:
            own = str(getattr(module, "__file__", "")).startswith(str(TREE))
            known[name] = [each for each in functions(module) if hasattr(each, "cache_clear")] if own else []
        for each in known[name]:
            each.cache_clear()


def functions(module: ModuleType) -> Iterator[Any]:
    """What is in a module, and in its classes."""
    for value in vars(module).values():
        yield value
        if isinstance(value, type) and value.__module__ == module.__name__:
            yield from (getattr(value, name) for name in vars(value))


class Chooser:
    """Runs the chosen tests only, in the order in which they were chosen, and names the one that failed."""

    def __init__(self, chosen: dict[str, Any]) -> None:
        self.rank = {name: rank for rank, name in enumerate(chosen["tests"])}
        # Ends even an orphan that hangs. A thread, since the package has its own use for the alarm signal.
        last_resort = threading.Timer(chosen["seconds"], lambda: os._exit(1))
        last_resort.daemon = True
        last_resort.start()

    def pytest_collection(self) -> None:
        """A failure is enough: nobody needs the smallest example of it."""
        if "hypothesis" in sys.modules:
            from hypothesis import Phase, settings

            settings.register_profile("mutants", settings(phases=(Phase.explicit, Phase.generate)))
            settings.load_profile("mutants")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((item for item in items if item.nodeid in self.rank), key=lambda item: self.rank[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.name_it(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self.name_it(report)

    def name_it(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.failed:
            told = {"test": report.nodeid, "loaded": isinstance(report, pytest.TestReport), "error": said_of(report)}
            with (HERE / "failed").open("a", encoding="utf-8") as lines:
                lines.write(f"{json.dumps(told)}\n")


def said_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """What went wrong, in a line: the first that pytest marks as the error."""
    lines = report.longreprtext.splitlines()
    errors = [line.removeprefix("E").strip() for line in lines if line.startswith("E ")]
    return (errors or lines[-1:] or [""])[0]
