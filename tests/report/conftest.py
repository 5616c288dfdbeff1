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


@pytest.fixture(scope="session")
def tabs(browser: Any) -> Iterator[Callable[[int], tuple[Any, Any]]]:
    """Pages that stay open from test to test, by number: a new window takes four times as long as what is opened in it.

    With each comes a line to Chromium itself.
    """
    known: dict[int, tuple[Any, Any]] = {}

    def tab(number: int) -> tuple[Any, Any]:
        if number not in known or known[number][0].is_closed():
            page = browser.new_context(offline=True).new_page()
            known[number] = page, page.context.new_cdp_session(page)
        return known[number]

    yield tab
    for page, _ in known.values():
        page.context.close()


@pytest.fixture
def blank(tabs: Callable[[int], tuple[Any, Any]]) -> Callable[..., Any]:
    """An empty page as in a new window: with no past, at this size, in these modes; asked again, the same one emptied."""

    def empty_page(*, width: int = 1440, height: int = 900, tab: int = 0, **modes: Any) -> Any:
        page, line = tabs(tab)
        _empty(page)  # another place in the same file would not load it anew
        line.send("Page.resetNavigationHistory")
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(**{"media": "null", "color_scheme": "light", "reduced_motion": "no-preference", **modes})
        page.mouse.move(0, 0)
        return page

    return empty_page


@pytest.fixture
def opened(blank: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """Opens a report and gives the page once it is ready; at the end nothing may have been said, asked for or popped up.

    What is opened next takes its place, unless it is in another ``tab``.
    """
    heard: list[tuple[Any, str, Callable[..., Any]]] = []
    noise: list[str] = []
    own: list[str] = []

    def listen(page: Any, event: str, handler: Callable[..., Any]) -> None:
        page.on(event, handler)
        heard.append((page, event, handler))

    def open_page(file: Path, address: str = "", **options: Any) -> Any:
        page = blank(**options)
        file = file.resolve()
        own.extend([file.as_uri(), f"{file.parent.as_uri()}/{file.stem}_files/"])
        if all(page is not known for known, *_ in heard):
            listen(page, "console", lambda message: noise.append(f"console: {message.text}"))
            listen(page, "pageerror", lambda error: noise.append(f"error: {error}"))
            listen(page, "dialog", lambda dialog: (noise.append(f"dialog: {dialog.message}"), dialog.dismiss()))
            listen(page, "request", lambda request: noise.extend(_strange(request.url, own)))
        page.goto(file.as_uri() + address)
        page.wait_for_selector("body[data-ready]", timeout=30_000)
        assert page.locator("body").get_attribute("data-ready") == "true", page.locator("body").inner_text()
        return page

    yield open_page
    for page in {id(page): page for page, *_ in heard if not page.is_closed()}.values():
        _empty(page)  # whatever the report still has to say is said before
    for page, event, handler in heard:
        page.remove_listener(event, handler)
    assert noise == []


def _empty(page: Any) -> None:
    if page.url != "about:blank":
        page.goto("about:blank")


def _strange(url: str, own: list[str]) -> list[str]:
    """The request, unless it stays in the report."""
    return [] if url.startswith(("about:blank", "blob:", "data:", *own)) else [f"request: {url}"]


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    """Every kind of report, each made when it is first asked for."""
    return Reports(tmp_path_factory.mktemp("reports"))
