"""Class maps: what the labels of one side are called in the evaluation, and which are dropped."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from calque.base.errors import ConfigError

DROP = "drop"
"""The target that leaves a label out."""
LARGEST = 4 * 1024 * 1024
Pairs: TypeAlias = tuple[tuple[str, str], ...]
"""Labels (or patterns with ``*``) with their targets; an empty target drops the label."""


def class_map(given: Any) -> Pairs:
    """A class map from a file's path, a mapping or pairs, in one canonical form.

    >>> class_map({"Picture": "Figure", "Chart": "Figure", "Page-*": None})
    (('Chart', 'Figure'), ('Page-*', ''), ('Picture', 'Figure'))
    >>> class_map({"Figure": ["Picture", "Chart"], "drop": ["Page-*"]}) == _
    True
    """
    if isinstance(given, str | os.PathLike):
        return _from_file(given) if os.fspath(given) else ()
    if isinstance(given, Mapping):
        return _canonical(_pairs(given, "the class map"), "the class map")
    if given is not None and not isinstance(given, Iterable):
        raise ConfigError(f"class_map must be a file, a mapping or pairs of labels, not {given!r}")
    return _canonical([_pair(item) for item in given or ()], "the class map")


def _pair(item: Any) -> tuple[str, str]:
    if isinstance(item, tuple | list) and len(item) == 2 and all(isinstance(part, str) for part in item):
        return item[0], item[1]
    raise ConfigError(f"a class map is a file, a mapping or pairs of labels, not {item!r}")


def _from_file(path: str | os.PathLike[str]) -> Pairs:
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise ConfigError(f"{name}: the class map cannot be read: {(error.strerror or str(error)).lower()}") from None
    tree = parsed_yaml(data, name)
    if not isinstance(tree, Mapping):
        raise ConfigError(f"{name}: a class map is written as label: target, one a line; this is not")
    return _canonical(_pairs(tree, name), name)


def parsed_yaml(data: bytes, file: str) -> Any:
    """What a small YAML or JSON file holds; `ConfigError` when it is neither."""
    import json

    if len(data) > LARGEST:
        raise ConfigError(f"{file}: is larger than {LARGEST // 2**20} MB")
    try:
        if data.lstrip()[:1] in (b"{", b"["):
            # YAML reads most JSON, but not tabs.
            return json.loads(data, object_pairs_hook=lambda pairs: _object(pairs, file))
    except (ValueError, RecursionError):
        pass
    from calque.base import yaml_tree  # 20 ms that few runs need

    return yaml_tree.load(data, file)


def _object(pairs: list[tuple[str, Any]], file: str) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for key, value in pairs:
        if key in tree:
            raise ConfigError(f"{file}: the key {key!r} occurs twice; keep one")
        tree[key] = value
    return tree


def _pairs(tree: Mapping[Any, Any], file: str) -> Iterable[tuple[str, str]]:
    """Reads ``label: target``, ``target: [labels]``, ``drop: [labels]`` and all of them under ``map``."""
    for key, value in tree.items():
        if key == "map" and isinstance(value, Mapping):
            yield from _pairs(value, file)
        elif isinstance(value, list):
            target = "" if key == DROP else _name(key, file)
            yield from ((_name(label, file), target) for label in value)
        elif value is None or value is False or value == DROP:
            yield _name(key, file), ""
        else:
            yield _name(key, file), _name(value, file)


def _name(value: Any, file: str) -> str:
    """A label; YAML reads ``1`` and ``true`` as other things than strings."""
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise ConfigError(f"{file}: expected the name of a label, not {reprlib.repr(value)}; put it in quotes")
    return str(value)


def _canonical(pairs: Iterable[tuple[str, str]], file: str) -> Pairs:
    targets: dict[str, str] = {}
    for label, target in pairs:
        if targets.setdefault(label, target) != target:
            raise ConfigError(f"{file}: {label!r} is mapped to {targets[label] or DROP!r} and to {target or DROP!r}; keep one")
    return tuple(sorted(targets.items()))


def target_of(label: str, pairs: Pairs) -> str | None:
    """What a label becomes: its own entry, else the longest pattern that fits; ``None`` when the map does not name it.

    >>> target_of("TextRegion:heading", (("TextRegion:*", "Text"), ("*", "")))
    'Text'
    """
    from fnmatch import fnmatchcase

    exact = dict(pairs).get(label)
    if exact is not None:
        return exact
    fitting = [(len(pattern), target) for pattern, target in pairs if "*" in pattern and fnmatchcase(label, pattern)]
    return max(fitting)[1] if fitting else None
