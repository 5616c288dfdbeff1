"""Run the examples of the written pages with the interpreter that runs this script, which needs nothing but calque itself.

    python tests/docs/base_install.py [PAGE ...]

``make base`` runs it in an environment that has calque and its required dependencies only. Every terminal session and every
Python example must give what its page shows. An example may ask for an extra only if its page names that extra. The script
then skips the rest of that page's sessions or examples, and prints that. The exit code is 1 if an example gives anything else.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.docs.pages import PAGES, ROOT, blocks, lay_out, session

NAMED = re.compile(r"calque-eval\[([a-z]+)\]")
ASKED_FOR = re.compile(r"pip install 'calque-eval\[([a-z]+)\]'")


class ExtraNeeded(Exception):
    """An example that needs an extra which its page names."""


def check_sessions(page: Path, extras: set[str]) -> str:
    """Run the terminal sessions of a page; return what differs."""
    with tempfile.TemporaryDirectory() as folder:
        for command, actual in session(page, Path(folder)):
            if command.accepts(actual):
                continue
            if needed(actual) & extras:
                raise ExtraNeeded(", ".join(sorted(needed(actual))))
            return f"$ {command.typed}{actual}--- but the page shows:\n{command.output}"
    return ""


def check_examples(page: Path, extras: set[str]) -> str:
    """Run the Python examples of a page; return what differs."""
    test = doctest.DocTestParser().get_doctest(page.read_text("utf-8"), {"__name__": "__main__"}, page.name, str(page), 0)
    told = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        lay_out(page, Path(folder))
        sys.path.insert(0, folder)
        known = set(sys.modules)
        try:
            Examples(extras).run(test, out=told.write)
        finally:
            sys.path.remove(folder)
            for name in [name for name in sys.modules.keys() - known if (Path(folder) / f"{name}.py").exists()]:
                del sys.modules[name]
    return told.getvalue()


class Examples(doctest.DocTestRunner):
    """Doctests that stop where an extra is missing."""

    def __init__(self, extras: set[str]) -> None:
        super().__init__(verbose=False)
        self._extras = extras

    def report_unexpected_exception(
        self,
        out: Any,
        test: doctest.DocTest,
        example: doctest.Example,
        exc_info: tuple[type[BaseException], BaseException, TracebackType],
    ) -> None:
        """Stop at a missing extra that the page names; report everything else."""
        error = exc_info[1]
        if needed(str(error)) & self._extras:
            raise ExtraNeeded(", ".join(sorted(needed(str(error)))))
        if self._extras and isinstance(error, ModuleNotFoundError):  # the example itself imports, for instance, pyarrow
            raise ExtraNeeded(f"with {error.name}")
        super().report_unexpected_exception(out, test, example, exc_info)


def needed(text: str) -> set[str]:
    """Return the extras that an error message asks for."""
    return set(ASKED_FOR.findall(text))


def main(arguments: list[str]) -> int:
    """Run the pages that are named, or all of them."""
    wrong = 0
    for page in [Path(name).resolve() for name in arguments] or PAGES:
        text = page.read_text("utf-8")
        for title, present, check in (
            ("sessions", bool(blocks(page, "console")), check_sessions),
            ("examples", ">>> " in text, check_examples),
        ):
            if not present:
                continue
            began = time.monotonic()
            try:
                difference = check(page, set(NAMED.findall(text)))
                verdict = "differs" if difference else "ok"
            except ExtraNeeded as error:
                difference, verdict = "", f"ok up to the first that needs the extra {error}"
            wrong += bool(difference)
            name = page.relative_to(ROOT) if page.is_relative_to(ROOT) else page
            print(f"{name}: {title} {verdict} ({time.monotonic() - began:.1f} s)", flush=True)
            if difference:
                print(difference)
    print(f"{wrong} of the pages' sessions and examples differ" if wrong else "all pages show what happens")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
