"""The API reference: one page for each public module, written from signatures and docstrings whenever the site is built."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from calque.evaluation.task import Task, settings

MODULES = (
    "calque",
    "calque.detection",
    "calque.layout",
    "calque.fields",
    "calque.comparators",
    "calque.checks",
    "calque.words",
    "calque.tables",
    "calque.order",
    "calque.ceiling",
    "calque.coco",
)
"""The modules that have public names."""

SECTIONS = ("Args", "Returns", "Raises")
"""The sections that a docstring may have."""

WIDTH = 100
"""Longer signatures have a line for each parameter."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by mkdocs when it has found the written pages."""
    for module in MODULES:
        files.append(File.generated(config, path(module), content=page(module)))
    return files


def path(module: str) -> str:
    """Where the page of a module is."""
    return f"reference/api/{module}.md"


def public(module: str) -> list[str]:
    """The public names of a module, as people look for them."""
    return sorted(importlib.import_module(module).__all__, key=str.lower)


def page(module: str) -> str:
    """The page of a module."""
    found = importlib.import_module(module)
    named = [name for name in public(module) if not inspect.ismodule(getattr(found, name))]
    parts = [f"# {module}", prose(found)]
    for name in named:
        parts += [f"## `{name}`", *entry(name, getattr(found, name))]
    return "\n\n".join(part for part in parts if part) + "\n"


def entry(name: str, thing: Any) -> Iterator[str]:
    """What a page says of one name."""
    if not callable(thing):
        yield f"`{name} = {thing!r}`"
        return
    yield code(signature(name, thing))
    yield prose(thing)
    if inspect.isclass(thing):
        if issubclass(thing, Task) and settings(thing):
            yield setting_table(thing)
        for member, value in members(thing):
            yield f"### `{name}.{member}`"
            called = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
            yield "" if isinstance(value, property) else code(signature(f"{name}.{member}", called, bound=called is value))
            yield prose(value)


def members(thing: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that calque has given a class, inherited ones included, as they are written."""
    seen = set()
    for base in thing.__mro__:
        if base.__module__.partition(".")[0] != "calque":
            continue
        for name, value in vars(base).items():
            shown = isinstance(value, (property, classmethod, staticmethod)) or inspect.isfunction(value)
            if shown and not name.startswith("_") and name not in seen:
                seen.add(name)
                yield name, value


def signature(name: str, thing: Any, *, bound: bool = False) -> str:
    """How a function or class is called, on one line or on one for each parameter."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):  # Python's own exceptions do not say
        return ""
    parameters = [str(each) for each in _marked(list(found.parameters.values())[1 if bound else 0 :])]
    answer = "" if found.return_annotation is inspect.Signature.empty else f" -> {_annotation(found.return_annotation)}"
    line = f"{name}({', '.join(parameters)}){answer}"
    if len(line) <= WIDTH or not parameters:
        return line
    return f"{name}(\n" + "".join(f"    {each},\n" for each in parameters) + f"){answer}"


def _marked(parameters: list[inspect.Parameter]) -> Iterator[str]:
    """Parameters as they are written, with the star before those that need their names."""
    starred = False
    for each in parameters:
        if each.name in {"self", "cls"}:
            continue
        starred = starred or each.kind is each.VAR_POSITIONAL
        if each.kind is each.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        typed = "" if each.annotation is each.empty else f": {_annotation(each.annotation)}"
        default = "" if each.default is each.empty else f" = {_default(each.default)}"
        yield f"{stars}{each.name}{typed}{default if typed else default.replace(' ', '')}"


def _annotation(given: Any) -> str:
    return given if isinstance(given, str) else inspect.formatannotation(given)


def _default(given: Any) -> str:
    """A default as it would be typed; an object that has no such form is only hinted at."""
    return "..." if repr(given).startswith("<") else repr(given)


def setting_table(task: type[Task]) -> str:
    """The settings of a task, with what ``--help`` says of them."""
    defaults = {field.name: field.default for field in dataclasses.fields(task)}
    rows = [f"| `{name}` | `{defaults[name]!r}` | {text(note.help)} |" for name, note in settings(task).items()]
    return "\n".join(["| setting | default | |", "|---|---|---|", *(row.replace("\n", " ") for row in rows)])


def prose(thing: Any) -> str:
    """A docstring as Markdown: its examples are code, its sections are lists, everything else is text."""
    parts = re.split(r"\n[ \t]*\n", inspect.getdoc(thing) or "")
    return "\n\n".join(_markdown(part) for part in parts)


def _markdown(part: str) -> str:
    if part.lstrip().startswith(">>>"):
        return code(textwrap.dedent(part))
    heading, _, body = part.partition(":\n")
    return section(heading, textwrap.dedent(body)) if heading in SECTIONS else text(part)


def section(heading: str, body: str) -> str:
    """A section of a docstring as Markdown: parameters and errors are a list, what is returned is text."""
    if heading == "Returns":
        return f"**{heading}** {text(' '.join(body.split()))}"
    entries = re.split(r"\n(?=\S)", body)  # the further lines of an entry are indented
    listed = [re.sub(r"^(\w+): ", r"`\1`: ", " ".join(entry.split())) for entry in entries]
    return "\n".join([f"**{heading}**\n", *(f"- {text(entry)}" for entry in listed)])


def text(part: str) -> str:
    """Prose as Markdown: what looks like HTML is meant as it stands, unless it is code already."""
    pieces = re.split(r"(``.*?``|`.*?`)", part, flags=re.DOTALL)
    return "".join(piece if place % 2 else piece.replace("<", "&lt;") for place, piece in enumerate(pieces))


def code(lines: str) -> str:
    """A block of Python, if there is any."""
    return f"```python\n{lines}\n```" if lines else ""
