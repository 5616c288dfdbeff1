"""Evaluators that a project names for all its suites: ``[tool.calque.evaluators]`` in its pyproject.toml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from calque.core.errors import ConfigError


def named_evaluators(folder: Path) -> dict[str, str]:
    """The evaluators of the project in a folder, as ``FILE.py:FUNCTION`` by name; files are found from that folder."""
    path = folder / "pyproject.toml"
    if not path.is_file():
        return {}
    import tomllib

    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"pyproject.toml: {error}") from None
    named: Any = tree
    for key in ("tool", "calque", "evaluators"):
        named = named.get(key, {}) if isinstance(named, dict) else {}
    if not isinstance(named, dict) or not all(isinstance(value, str) for value in named.values()):
        raise ConfigError('pyproject.toml: tool.calque.evaluators holds lines like name = "file.py:function"')
    return {name: str(folder / reference) for name, reference in named.items()}
