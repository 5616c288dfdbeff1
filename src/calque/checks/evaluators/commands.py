"""Programs in any language as evaluators, or as the system under test: JSON in, JSON out; off unless the user allows it."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from calque.base.files import check_no_links, open_entry, write_entry
from calque.checks.evaluators import settings
from calque.checks.evaluators.custom import CustomCheck, options
from calque.checks.evaluators.outcome import Outcome
from calque.checks.evaluators.settings import SHARED_KEYS, Complaints, Key, Keys
from calque.checks.shapes.coordinates import shown

TYPE = "command"
SECONDS = 60.0
MOST_MODULES = 1000
"""Files next to a program that are digested with it."""
LONGEST = 300
"""How much of what a program wrote to stderr a message shows."""


@dataclass(frozen=True, slots=True)
class Permission:
    """Whether programs may be run, where from, and where their answers are kept."""

    allowed: bool = False
    folder: str = ""
    """Where the suite is: programs are run there."""
    cache: str = ""
    """A folder for answers; none are kept without one."""


FORBIDDEN = Permission()


class CommandFailed(Exception):
    """A program gave no answer; the message says why."""


def _argv(value: Any) -> tuple[str, ...]:
    if (
        not isinstance(value, list | tuple)
        or not value
        or not all(isinstance(part, str) and "\0" not in part for part in value)
    ):
        raise ValueError(
            f'command must be a list of texts such as ["python3", "judge.py"], not {shown(value)}: there is no shell'
        )
    if not value[0]:
        raise ValueError("command must begin with the name of a program")
    return tuple(value)


def _retries(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 100:
        raise ValueError(f"retries must be a whole number from 0 to 100, not {shown(value)}")
    return value


def _cached(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"cache must be true or false, not {shown(value)}")
    return value


COMMAND_KEYS = (
    Key(
        "command",
        _argv,
        {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "the program and its arguments, as a list",
        ("",),
        required=True,
    ),
    Key(
        "timeout",
        settings.between("timeout", 0.0, 86400.0, open_low=True),
        {"type": "number", "exclusiveMinimum": 0, "default": SECONDS},
        "seconds that one answer may take",
        SECONDS,
    ),
    Key("retries", _retries, {"type": "integer", "minimum": 0, "default": 0}, "how often it is asked again when it fails", 0),
    Key(
        "cache",
        _cached,
        {"type": "boolean", "default": True},
        "whether its answers may be kept, where --cache names a folder",
        True,
    ),
)
_shared = {key.name: key for key in SHARED_KEYS}
KEYS = Keys(
    TYPE,
    (
        *(_shared[name] for name in ("type", "name", "weight", "verdict_ranges")),
        Key("threshold", settings.between("threshold", 0.0, 1.0), {"type": "number"}, "score from which a case passes"),
        *COMMAND_KEYS,
        Key("options", options, {"type": "object"}, "what the program is told beside the case", {}),
    ),
)
SYSTEM_KEYS = Keys("system", COMMAND_KEYS)


@dataclass(frozen=True, slots=True)
class Command:
    """A program that is asked with JSON."""

    argv: tuple[str, ...]
    timeout: float
    retries: int
    cache: str
    folder: str

    @classmethod
    def of(cls, values: Mapping[str, Any], permission: Permission) -> Command:
        """The program that the settings describe."""
        kept = permission.cache if values["cache"] else ""
        return cls(values["command"], values["timeout"], values["retries"], kept, permission.folder)

    def ask(self, question: Any) -> Any:
        """What the program answers; `CommandFailed` when it does not, however often it is asked."""
        given = json.dumps(question, ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass")
        kept = self._kept(given)
        if kept is not None:
            if kept.parent.parent.is_dir():
                check_no_links(kept.parent.parent)
            with suppress(OSError, ValueError), open_entry(kept) as file:
                return json.loads(file.read())
        for left in range(self.retries, -1, -1):
            try:
                said = self._answer(given)
                break
            except CommandFailed:
                if not left:
                    raise
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            write_entry(kept, json.dumps(said).encode())
        return said

    def _answer(self, given: bytes) -> Any:
        from calque.engines import run_program

        try:
            told = run_program(self.argv, given, seconds=self.timeout, folder=self.folder or None)
        except TimeoutError:
            raise CommandFailed(f"took longer than {self.timeout:g} s") from None
        except OSError as error:
            raise CommandFailed(f"could not be started: {(error.strerror or str(error)).lower()}") from None
        if told.code:
            raise CommandFailed(f"ended with code {told.code}{_last(told.err)}")
        try:
            return json.loads(told.out.decode("utf-8"), parse_constant=_refused)
        except (ValueError, RecursionError):
            raise CommandFailed(f"did not answer with JSON: {shown(told.out.decode('utf-8', 'replace'))}") from None

    def _kept(self, given: bytes) -> Path | None:
        """Where the answer to a question is kept: under what the program is, what it is told, and nothing else."""
        if not self.cache:
            return None
        content = hashlib.sha256()
        for part in self.argv:
            content.update(part.encode("utf-8", "surrogatepass") + b"\0")
        for file in self._files():
            there = file.stat()
            content.update(_file_digest(str(file), there.st_ino, there.st_size, there.st_mtime_ns))
        content.update(given)
        name = content.hexdigest()
        return Path(self.cache) / name[:2] / f"{name}.json"

    def _files(self) -> list[Path]:
        """Return the program, the files among its arguments, and the modules next to those: what makes it another program."""
        program = shutil.which(self.argv[0], path=None)
        named = [Path(self.folder or ".", part) for part in self.argv]
        found = [path for path in named if path.is_file()]
        beside = {other for path in found if path.suffix for other in path.parent.glob(f"*{path.suffix}")}
        modules = sorted(path for path in beside - set(found) if path.is_file())[:MOST_MODULES]
        return [*([Path(program)] if program and not named[0].is_file() else []), *found, *modules]


@lru_cache(maxsize=2 * MOST_MODULES)
def _file_digest(path: str, *_version: int) -> bytes:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _refused(text: str) -> Any:
    raise ValueError(text)


def _last(err: bytes) -> str:
    lines = err.decode("utf-8", "replace").strip().splitlines()
    return f": {lines[-1][:LONGEST]}" if lines else ""


@dataclass(frozen=True)
class CommandCheck(CustomCheck):
    """Asks a program; what it answers is taken as what a function of one's own returns."""

    def evaluate(self, output: Any, expected: Any) -> Outcome:
        """What the program says; when it breaks or takes too long, that is an error and not a failure."""
        try:
            return self._outcome(self.function(output, expected, **self.options))
        except CommandFailed as error:
            return self._broke(str(error))
        except (ValueError, TypeError) as error:
            return self._broke(f"gave an answer that is no result: {error}")


def build(raw: Mapping[str, Any], complaints: Complaints, permission: Permission) -> CommandCheck:
    """The evaluator that asks a program; a complaint when programs are not allowed."""
    values = KEYS.read(raw, complaints)
    refuse_unless_allowed(raw, complaints, permission)
    command = Command.of(values, permission)

    def ask(output: Any, expected: Any, **told: Any) -> Any:
        return command.ask({"output": output, "expected": expected, "options": told})

    return CommandCheck(
        values["name"] or TYPE,
        values["weight"],
        ask,
        values["options"],
        values["timeout"],
        values["threshold"],
        values["verdict_ranges"],
    )


def refuse_unless_allowed(raw: Mapping[str, Any], complaints: Complaints, permission: Permission) -> None:
    """Complain of a command where commands are not allowed."""
    if not permission.allowed:
        complaints.add(
            raw,
            "command",
            "commands are not run unless you allow it",
            help="read the suite, then pass --allow-commands (in Python allow_commands=True)",
        )


def system_of(raw: Any, complaints: Complaints, permission: Permission) -> Command | None:
    """The system under test that a suite names."""
    if not isinstance(raw, Mapping):
        complaints.add_at("", f"system is a mapping with {', '.join(SYSTEM_KEYS.by_name)}, not {shown(raw)}")
        return None
    values = SYSTEM_KEYS.read(raw, complaints)
    refuse_unless_allowed(raw, complaints, permission)
    return Command.of(values, permission)
