"""The pytest plugin of a workplace: it records which test runs which lines, or runs chosen tests in a given order.

It is copied next to ``startup.py`` and imports nothing of the project. ``chosen`` holds the tests to run, ``tests`` what
was recorded about each, and ``failed`` the first test that failed.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
MEMORY = 8 << 30  # a fault that makes a list grow for ever ends here; browsers reserve far more, and write to little of it


def pytest_configure(config: pytest.Config) -> None:
    if (HERE / "record").exists():
        config.pluginmanager.register(Recorder())
    else:
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
        config.pluginmanager.register(Chooser(json.loads((HERE / "chosen").read_text("utf-8"))))


class Recorder:
    """Tells the coverage tool which test runs, and keeps how long each took.

    What a fixture of several tests runs is noted under the fixture's name, and belongs to each test that asks for it.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()
        self.skipped: set[str] = set()
        self.shared: dict[str, list[str]] = {}

    def enter(self, name: str) -> None:
        from coverage import Coverage

        (HERE / "current").write_text(name, "utf-8")
        watch = Coverage.current()
        if watch is not None:
            watch.switch_context(name)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        forget()
        defined: dict[str, Any] = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
        wide = (each for several in defined.values() for each in several if each.scope != "function")
        self.shared[item.nodeid] = [fixture_name(each) for each in wide]
        self.enter(item.nodeid)
        try:
            return (yield)
        finally:
            self.enter("")

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: pytest.FixtureRequest) -> Generator[None, Any, Any]:
        outer = (HERE / "current").read_text("utf-8")
        if fixturedef.scope != "function":
            self.enter(fixture_name(fixturedef))
        try:
            return (yield)
        finally:
            self.enter(outer)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if not report.passed:
            (self.failed if report.failed else self.skipped).add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        unfit = self.failed | self.skipped
        fit = {name: [seconds, self.shared[name]] for name, seconds in self.seconds.items() if name not in unfit}
        (HERE / "tests").write_text(json.dumps({"fit": fit, "failed": sorted(self.failed)}), "utf-8")


def fixture_name(fixture: Any) -> str:
    return f"fixture {fixture.baseid}::{fixture.argname}"


def forget() -> None:
    """Empty the caches of functions: what an earlier test left there would hide lines from this one."""
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "")).startswith(str(HERE.parent)) and "." in name:
            for value in list(vars(module).values()):
                if callable(getattr(value, "cache_clear", None)):
                    value.cache_clear()


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
            with (HERE / "failed").open("a", encoding="utf-8") as names:
                names.write(f"{report.nodeid}\n")
