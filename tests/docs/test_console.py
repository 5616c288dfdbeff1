"""Every terminal session in the written pages shows what really happens."""

from pathlib import Path

import pytest

from .pages import PAGES, ROOT, Command, blocks, commands, session

WITH_SESSIONS = [page for page in PAGES if blocks(page, "console")]


@pytest.mark.parametrize("page", WITH_SESSIONS, ids=lambda page: str(page.relative_to(ROOT)))
def test_sessions_show_what_happens(page: Path, tmp_path: Path) -> None:
    for command, actual in session(page, tmp_path):
        assert command.accepts(actual), f"$ {command.typed}{actual}\n--- but {page.name} says:\n{command.output}"


def test_the_readme_shows_a_session() -> None:
    assert ROOT / "README.md" in WITH_SESSIONS


def test_an_ellipsis_line_stands_for_any_lines() -> None:
    cut = Command("calque demo\n", "first\n...\nlast\n")
    assert cut.accepts("first\nlast\n")
    assert cut.accepts("first\n1\n2\nlast\n")
    assert not cut.accepts("first\n1\n")
    assert not Command("calque demo\n", "first\n").accepts("first\nsecond\n")


def test_commands_may_go_on_over_several_lines() -> None:
    assert list(commands("$ a \\\n> b\nout\n$ c\n")) == [Command("a \\\nb\n", "out\n"), Command("c\n", "")]


def test_a_session_begins_with_a_command() -> None:
    with pytest.raises(ValueError, match="begins with a command"):
        list(commands("output\n$ a\n"))
