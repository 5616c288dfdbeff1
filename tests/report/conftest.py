"""A real browser, offline: whatever a report says on the console, asks the network for or pops up fails the test."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.report.made import Reports

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The system's Chromium, driven by Playwright."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        if os.environ.get("CALQUE_REQUIRE_BROWSER"):
            pytest.fail("there is no Chromium, and CALQUE_REQUIRE_BROWSER asks for one")
        pytest.skip("no Chromium is installed")
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a report and gives the page once it is ready; at the end nothing may have been said, asked for or popped up."""
    contexts: list[Any] = []
    noise: list[str] = []

    def open_page(file: Path, address: str = "", **options: Any) -> Any:
        context = browser.new_context(
            offline=True, viewport={"width": options.pop("width", 1440), "height": options.pop("height", 900)}, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: noise.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: noise.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (noise.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        own = file.resolve().as_uri()
        folder = file.resolve().parent.as_uri() + f"/{file.stem}_files/"
        page.on(
            "request",
            lambda request: request.url.startswith((own, "blob:", "data:", folder)) or noise.append(f"request: {request.url}"),
        )
        page.goto(own + address)
        page.wait_for_selector("body[data-ready]", timeout=30_000)
        assert page.locator("body").get_attribute("data-ready") == "true", page.locator("body").inner_text()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert noise == []


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    """Every kind of report, each made when it is first asked for."""
    return Reports(tmp_path_factory.mktemp("reports"))
