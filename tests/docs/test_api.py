"""The API reference is written from docstrings: every public name has one, and the site builds without a warning."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs import api_pages

from .pages import ROOT


@pytest.mark.parametrize("module", api_pages.MODULES)
def test_every_public_name_is_explained(module: str) -> None:
    page = api_pages.page(module)
    found = importlib.import_module(module)
    for name in api_pages.public(module):
        if callable(getattr(found, name)):
            assert f"\n## `{name}`\n" in page
            assert inspect.getdoc(getattr(found, name)), f"{module}.{name}"


@pytest.mark.parametrize("module", api_pages.MODULES[:-1])
def test_public_functions_have_sections_and_an_example(module: str) -> None:
    found = importlib.import_module(module)
    for name in api_pages.public(module):
        function = getattr(found, name)
        if inspect.isfunction(function):
            text = inspect.getdoc(function) or ""
            assert all(part in text for part in ("\nArgs:\n", "\nReturns:\n", "\n>>> ")), f"{module}.{name}"
            for parameter in inspect.signature(function).parameters:
                assert re.search(rf"^    {parameter}: \S", text, re.MULTILINE), f"{module}.{name}: {parameter}"


def test_pages_are_in_the_navigation_and_lead_everywhere() -> None:
    listed = re.findall(r"(reference/api/.*\.md)", (ROOT / "mkdocs.yml").read_text("utf-8"))
    assert listed == [api_pages.path(module) for module in api_pages.MODULES]
    modules = sorted((ROOT / "src/calque").glob("*/__init__.py"))
    with_names = {f"calque.{path.parent.name}" for path in modules if "_HOME = {" in path.read_text("utf-8")}
    assert with_names - {"calque.engines", "calque.readers"} <= set(api_pages.MODULES)  # theirs are for calque alone


def test_examples_are_code_and_angle_brackets_are_text() -> None:
    def example(*given: int, page: str = "a") -> None:
        """Takes ``<td>`` and <td>.

        >>> 1 + 1
        2
        """

    assert api_pages.prose(example) == "Takes ``<td>`` and &lt;td>.\n\n```python\n>>> 1 + 1\n2\n```"
    assert api_pages.signature("example", example) == "example(*given: int, page: str = 'a') -> None"


def test_prose_of_a_docstring_with_sections_lists_parameters_and_errors() -> None:
    def example(page: str) -> None:
        """Read a page.

        Args:
            page: The name of the page, or
                its path.
            jobs: The number of workers.

        Returns:
            The page, as ``<td>``
            or <td>.

        Raises:
            ValueError: The page does not exist.
        """

    assert api_pages.prose(example).split("\n\n") == [
        "Read a page.",
        "**Args**",
        "- `page`: The name of the page, or its path.\n- `jobs`: The number of workers.",
        "**Returns** The page, as ``<td>`` or &lt;td>.",
        "**Raises**",
        "- `ValueError`: The page does not exist.",
    ]


def test_long_signatures_have_a_line_for_each_parameter() -> None:
    def example(first_of_them: str, *, the_second_of_them: str = "a long default", the_third_of_them: float = 0.5) -> None: ...

    assert api_pages.signature("example", example).splitlines() == [
        "example(",
        "    first_of_them: str,",
        "    *,",
        "    the_second_of_them: str = 'a long default',",
        "    the_third_of_them: float = 0.5,",
        ") -> None",
    ]


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    page = (tmp_path / "site/reference/api/calque.html").read_text("utf-8")
    assert "Pairs boxes of one page and label greedily by IoU" in page
    # The page loads nothing from other hosts; a canonical link is only a name.
    assert not re.search(r"<(?:script|link(?! rel=\"canonical\")|img)[^>]*(?:src|href)=\"https?:", page)
