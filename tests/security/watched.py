"""Runs the sound samples of every door and tells what the interpreter was asked to do: a program for a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

CANARY = "canary_of_doors"
"""The name of a module and of files that only data names."""
NETWORK = ("socket.", "urllib.", "ftplib.", "http.", "smtplib.", "imaplib.", "poplib.", "telnetlib.", "nntplib.", "webbrowser.")
PROGRAMS = (
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "subprocess.Popen",
    "pty.spawn",
    "ctypes.dlopen",
)
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Heard:
    """What an audit hook has heard while commands ran."""

    def __init__(self) -> None:
        self.listening = False
        self.events: list[tuple[str, str]] = []
        self.written: list[str] = []

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.listening:
            return
        if event.startswith(NETWORK) or event in PROGRAMS:
            self.events.append((event, repr(arguments)[:200]))
        named = event == "open" and os.path.basename(str(arguments[0])) in (f"{CANARY}.json", f"{CANARY}.py", CANARY)
        if named or (event in ("import", "exec", "compile") and CANARY in repr(arguments[:2])):
            self.events.append((event, repr(arguments[:2])[:200]))
        if event == "pickle.find_class":
            self.events.append((event, repr(arguments)[:100]))
        if event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITING and isinstance(arguments[0], str):
            self.written.append(os.path.abspath(arguments[0]))


def canaries(data: bytes) -> bytes:
    """The file with the names of a module, of a file and of a place far away where its own texts stand, if it is JSON."""
    names = iter(
        [
            f"{CANARY}:Canary",
            f"{CANARY}.json",
            f"../../{CANARY}",
            f"/{CANARY}/x",
            f"file://{CANARY}",
            f"http://{CANARY}.invalid/x",
        ]
        * 10_000
    )

    def renamed(node: Any, key: str = "") -> Any:
        if isinstance(node, dict):
            return {name: renamed(value, name) for name, value in node.items()}
        if isinstance(node, list):
            return [renamed(item, key) for item in node]
        return next(names) if isinstance(node, str) and key in FREE else node

    try:
        return json.dumps(renamed(json.loads(data))).encode()
    except ValueError:
        return data


FREE = {
    "doc_id",
    "doc",
    "doc_name",
    "doc_path",
    "file_name",
    "image_path",
    "imagePath",
    "filename",
    "image",
    "name",
    "id",
    "label",
    "title",
    "text",
}
"""Keys whose texts name something: documents, files, labels."""


def main() -> None:
    """Run every command of every door, on its samples and on the same with other names in them."""
    from tests.fuzz.door import laid_out, run
    from tests.fuzz.doors import DOORS

    heard = Heard()
    for door in DOORS:
        door.files  # noqa: B018  # made before anybody listens
    first = DOORS[0]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        laid_out(first.files)
        run(first.commands[0], first.files)  # what the first command imports is no business of the data
    sys.addaudithook(heard)
    outside: list[str] = []
    for door in DOORS:
        renamed = {name: canaries(data) if name in door.attacked else data for name, data in door.files.items()}
        for files in (door.files, renamed):
            with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
                Path(f"{CANARY}.py").write_text("class Canary: pass\n")
                Path(f"{CANARY}.json").write_text("{}")
                laid_out(files)
                tempfile.tempdir = folder  # what calque keeps for a while is kept where the system says
                heard.listening = True
                for command in door.commands:
                    run(command, {**files, "": b""})
                heard.listening = False
                tempfile.tempdir = None
                real = os.path.realpath(folder)
                outside += [path for path in heard.written if not os.path.realpath(path).startswith(real + os.sep)]
                heard.written.clear()
    print(json.dumps({"heard": heard.events, "outside": outside}))


if __name__ == "__main__":
    main()
