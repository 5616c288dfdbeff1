"""Evaluators of one's own: any Python callable, by entry point or ``file.py:function``, kept at arm's length.

A suite file can only *name* an evaluator. Code is run when the user installed it (entry point group
``calque.evaluators``), named the file on the command line, or in a configuration of their own.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypeAlias

from calque.base.errors import ConfigError, did_you_mean
from calque.base.regular_files import read_regular, reason
from calque.base.user_code import LARGEST, SOURCE, code_named, prints_to_stderr, source_of
from calque.checks.evaluators import settings
from calque.checks.evaluators.outcome import LOGGER, Outcome, Ranges, Status, Verdict, reaches
from calque.checks.evaluators.settings import Complaints, Key, Keys
from calque.checks.shapes.coordinates import plain, shown
from calque.engines import with_timeout

GROUP = "calque.evaluators"
SECONDS = 30.0
Function: TypeAlias = Callable[..., Any]
Reference: TypeAlias = Function | str
"""A callable, or ``file.py:function``."""


def options(value: Any) -> dict[str, Any]:
    """Settings that are handed on as they are."""
    if not isinstance(value, Mapping):
        raise ValueError(f"options must be a mapping, not {shown(value)}")
    return dict(value)


def _keys(owner: str) -> Keys:
    shared = {key.name: key for key in settings.SHARED_KEYS}
    return Keys(
        owner,
        (
            *(shared[name] for name in ("type", "name", "weight", "verdict_ranges")),
            Key("threshold", settings.between("threshold", 0.0, 1.0), {"type": "number"}, "score from which a case passes"),
            Key(
                "timeout",
                settings.between("timeout", 0.0, 86400.0, open_low=True),
                {"type": "number", "exclusiveMinimum": 0},
                "seconds that one case may take",
                SECONDS,
            ),
            Key("options", options, {"type": "object"}, "keywords for the function", {}),
        ),
    )


@dataclass(frozen=True)
class CustomCheck:
    """Asks a function that takes ``output``, ``expected`` and the options, and returns a score, a bool or a mapping."""

    name: str
    weight: float
    function: Function
    options: Mapping[str, Any]
    timeout: float
    threshold: float | None
    ranges: Ranges

    def renamed(self, name: str) -> CustomCheck:
        """The same evaluator under another name."""
        return replace(self, name=name)

    def evaluate(self, output: Any, expected: Any) -> Outcome:
        """What the function says; when it breaks or takes too long, that is an error and not a failure."""
        try:
            with prints_to_stderr():
                said = with_timeout(lambda: self.function(output, expected, **self.options), self.timeout)
            return self._outcome(said)
        except TimeoutError:
            return self._broke(f"took longer than {self.timeout:g} s")
        except (Exception, SystemExit) as error:
            return self._broke(f"raised {type(error).__name__}: {error}")

    def _broke(self, what: str) -> Outcome:
        reasoning = f"the evaluator {self.name} {what}"
        LOGGER.error("%s", reasoning)
        return Outcome(0.0, Verdict.FAIL, (), (reasoning,), reasoning, {}, Status.ERROR)

    def _outcome(self, said: Any) -> Outcome:
        """What the function returned, checked; `ValueError` when it is nothing that results can hold."""
        fields = said.to_dict() if isinstance(said, Outcome) else dict(said) if isinstance(said, Mapping) else {"score": said}
        unknown = set(fields) - {"score", "verdict", "hits", "misses", "reasoning", "metadata", "status"}
        if unknown:
            raise ValueError(f"it returned the unknown key {sorted(unknown)[0]!r}")
        score = plain(fields.get("score"))
        if not isinstance(score, bool | int | float) or not 0 <= score <= 1:
            raise ValueError(f"it returned {shown(score)} and not a score from 0 to 1")
        return Outcome(
            float(score),
            Verdict(fields["verdict"]) if "verdict" in fields else self._verdict(float(score)),
            tuple(map(str, fields.get("hits", ()))),
            tuple(map(str, fields.get("misses", ()))),
            str(fields.get("reasoning", f"{self.name}: {float(score):.4g}")),
            json.loads(json.dumps(fields.get("metadata", {}), allow_nan=False)),
            Status(fields.get("status", Status.OK)),
        )

    def _verdict(self, score: float) -> Verdict:
        if self.threshold is None:
            return self.ranges.verdict(score)
        return Verdict.PASS if reaches(score, self.threshold) else Verdict.FAIL


def build(
    raw: Mapping[str, Any], registry: Mapping[str, Reference], complaints: Complaints, known: Collection[str] = ()
) -> CustomCheck | None:
    """The evaluator whose type is a name from the registry or an entry point; ``None`` and a complaint when there is none."""
    kind = str(raw["type"])
    try:
        function = _find(kind, registry)
    except ConfigError as error:  # its code cannot be loaded; the rest of the suite is looked at all the same
        complaints.add(raw, "type", str(error))
        return None
    if function is None:
        hint = _help(kind, (*known, *registry, *installed()))
        complaints.add(raw, "type", f"unknown evaluator type {shown(kind)}", help=hint)
        return None
    values = _keys(kind).read(raw, complaints)
    return CustomCheck(
        values["name"] or kind,
        values["weight"],
        function,
        values["options"],
        values["timeout"],
        values["threshold"],
        values["verdict_ranges"],
    )


def _help(kind: str, known: Collection[str]) -> str:
    if ".py:" in kind:
        return f"a suite cannot load code by itself; pass --evaluator NAME={kind} and write type: NAME"
    return did_you_mean(kind, known) or f"known are {', '.join(known)}"


def _find(name: str, registry: Mapping[str, Reference]) -> Function | None:
    if name in registry:
        reference = registry[name]
        return load(reference) if isinstance(reference, str) else reference
    for entry in entry_points(group=GROUP, name=name):
        function: Function = entry.load()
        return function
    return None


def installed() -> tuple[str, ...]:
    """The names of evaluators that installed packages bring."""
    return tuple(sorted(entry.name for entry in entry_points(group=GROUP)))


def identities(registry: Mapping[str, Reference], types: Collection[str]) -> tuple[tuple[str, str], ...]:
    """The evaluators of one's own, by name, with what tells one version of their code from another."""
    own = {name: _identity(reference) for name, reference in registry.items()}
    for name in set(types) - own.keys():
        for entry in entry_points(group=GROUP, name=name):
            own[entry.name] = f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else entry.value
    return tuple(sorted(own.items()))


def _identity(reference: Reference) -> str:
    """A digest of the code: of the whole file, or of a function's text; where that is not to be had, its name."""
    if isinstance(reference, str):
        file, _, name = reference.rpartition(":")
        code = source_of(file) + f":{name}".encode()
    else:
        try:
            code = inspect.getsource(reference).encode()
        except (OSError, TypeError):
            named = reference if hasattr(reference, "__qualname__") else type(reference)
            code = f"{named.__module__}:{named.__qualname__}".encode()
    return hashlib.sha256(code).hexdigest()[:12]


def load(reference: str) -> Function:
    """The function that ``file.py:function`` names; a file is run once for each of its versions."""
    file, _, name = reference.rpartition(":")
    if not file or not name:
        raise ConfigError(f"{reference!r} does not name a function; write file.py:function")
    if not file.endswith(SOURCE):
        raise ConfigError(f"{file}: is not a Python file; write file.py:function")
    function: Function = code_named(file, name, what="function", fits=callable)
    return function


def named_evaluators(folder: Path) -> dict[str, str]:
    """The evaluators that the project in a folder names for all its suites, as ``FILE.py:FUNCTION`` by name.

    They stand below ``[tool.calque.evaluators]`` in its pyproject.toml, and files are found from that folder.
    """
    path = folder / "pyproject.toml"
    if not path.is_file():
        return {}
    import tomllib

    try:
        tree = tomllib.loads(read_regular(str(path), LARGEST).decode("utf-8"))
    except OSError as error:
        raise ConfigError(f"pyproject.toml: {reason(error)}") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"pyproject.toml: {error}") from None
    named: Any = tree
    for key in ("tool", "calque", "evaluators"):
        named = named.get(key, {}) if isinstance(named, dict) else {}
    if not isinstance(named, dict) or not all(isinstance(value, str) for value in named.values()):
        raise ConfigError('pyproject.toml: tool.calque.evaluators holds lines like name = "file.py:function"')
    for name, reference in named.items():
        file = reference.rpartition(":")[0] or reference
        if "\0" in file or not (folder / file).is_file():
            raise ConfigError(f"pyproject.toml: tool.calque.evaluators.{name}: there is no file {file!r}")
    return {name: str(folder / reference) for name, reference in named.items()}
