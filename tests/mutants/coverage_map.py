"""Which tests run a line, and how long each takes: recorded in one run of the tests, and kept until a file changes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from coverage.exceptions import DataError

from coverage import CoverageData
from tests.mutants.choosing import Candidate
from tests.mutants.sites import Body, Mutant, bodies_of, defined_in
from tests.mutants.workplace import Workplace

MAP = ("tests.json", "lines")


@dataclass(frozen=True)
class CoverageMap:
    """What was recorded: the lines by test, the seconds of each test, and what each test shares with others."""

    tree: Path
    lines: CoverageData
    seconds: dict[str, float]
    shared: dict[str, list[str]]

    def tests(self, mutant: Mutant) -> list[Candidate]:
        """The tests that run the statement of a fault.

        What runs at import belongs to the tests that run anything else of the file, or of a file that imports it; what a
        parameter stands at, to those that run its function.
        """
        around = mutant.around
        if around.at_import:
            body = next((body for body in self.bodies(mutant.file) if body.head == around.first), None)
            found = self.running(mutant.file, [body]) if body else set()
            named = found or self.importing(mutant.file)
        else:
            names = self.names(mutant.file, range(around.first, around.last + 1))
            named = self.known(names) | (self.importing(mutant.file) if any(map(at_import, names)) else set())
        whole, within = self.counts, counted(self.lines, mutant.file)
        return [Candidate(test, self.seconds[test], self.share(test, whole, within)) for test in sorted(named)]

    def share(self, test: str, whole: Mapping[str, int], within: Mapping[str, int]) -> float:
        """Which share of the lines that a test runs is in a file."""
        names = [test, *(name for name in self.shared[test] if not at_import(name))]
        return sum(within.get(name, 0) for name in names) / max(1, sum(whole.get(name, 0) for name in names))

    @cached_property
    def counts(self) -> dict[str, int]:
        return counted(self.lines)

    @cached_property
    def sharing(self) -> dict[str, list[str]]:
        """The tests that hang on each thing that is shared."""
        sharing = defaultdict(list)
        for test, names in self.shared.items():
            for name in names:
                sharing[name].append(test)
        return dict(sharing)

    def importing(self, file: str) -> set[str]:
        """The tests that run a function of a file or of one that imports it, and those of files that name what it defines."""
        running = {test for each in (file, *self.importers(file)) for test in self.running(each, self.bodies(each))}
        defined = set(defined_in((self.tree / file).read_bytes()))
        naming = {path for path, named in self.names_in_tests.items() if named & defined}
        return running | {test for test in self.seconds if test.partition("::")[0] in naming}

    @cached_property
    def names_in_tests(self) -> dict[str, set[str]]:
        """The words of each file of tests."""
        files = {test.partition("::")[0] for test in self.seconds}
        return {
            file: set(re.findall(r"\w+", (self.tree / file).read_text("utf-8")))
            for file in files
            if file.startswith("tests/") and (self.tree / file).exists()
        }

    def running(self, file: str, bodies: Iterable[Body]) -> set[str]:
        """The tests that run functions of a file, other than by importing it."""
        names = self.names(file, {line for body in bodies for line in range(body.first, body.last + 1)})
        return self.known(name for name in names if not at_import(name))

    def bodies(self, file: str) -> list[Body]:
        return bodies_of((self.tree / file).read_bytes())

    def names(self, file: str, lines: Container[int]) -> set[str]:
        """The names under which any of the lines of a file was noted."""
        return {name for line, names in self.lines.contexts_by_lineno(file).items() if line in lines for name in names}

    def known(self, names: Iterable[str]) -> set[str]:
        """The tests of these names, and those that share something of these names."""
        return {test for name in names for test in self.sharing.get(name, [name]) if test in self.seconds}

    def importers(self, file: str) -> list[str]:
        """The files that import a module, as far as their text tells."""
        module = file.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        parent, _, name = module.rpartition(".")
        texts = {path: (self.tree / path).read_text("utf-8") for path in self.lines.measured_files()}
        return [path for path, text in texts.items() if f"{module} import" in text or f"from {parent} import {name}" in text]


def coverage_map(place: Workplace, cache: Path, tests: Sequence[str]) -> CoverageMap:
    """The map from the cache. What a changed file of tests runs is recorded anew; after any other change, everything is."""
    others, files = fingerprints(place.tree, tests)
    told, noted = place.folder / "tests.json", place.folder / "lines"
    fetch(cache, place.folder, tests)
    kept = json.loads(told.read_text("utf-8")) if told.exists() else {}
    if kept.get("others") != others:
        kept = {"others": others, "files": {}, "fit": {}}
        noted.unlink(missing_ok=True)
    stale = [file for file, digest in files.items() if kept["files"].get(file) != digest]
    if stale or not kept["fit"]:
        sys.stderr.write("recording which tests run which lines: as long as the tests take, once until a source changes\n")
        options = [each for each in tests if each.startswith("-")]
        seen = record(place, noted, [*options, *stale] if kept["fit"] else tests)
        fit = {test: about for test, about in kept["fit"].items() if test.partition("::")[0] not in stale}
        kept = {"others": others, "files": files, "fit": {**fit, **seen}}
        told.write_text(json.dumps(kept), "utf-8")
        keep(cache, place.folder, tests)
    lines = CoverageData(str(noted))
    lines.read()
    # A file that is gone would end every run in which one of its tests is chosen.
    fit = {test: about for test, about in kept["fit"].items() if (place.tree / test.partition("::")[0]).exists()}
    seconds, shared = ({test: about[part] for test, about in fit.items()} for part in (0, 1))
    return CoverageMap(place.tree, lines, seconds, shared)


def counted(lines: CoverageData, file: str = "") -> dict[str, int]:
    """How many lines were noted under each name, in one file or in all."""
    # In coverage's own tables, whose form it documents: asked file by file, it would list every line of every test.
    query = (
        "select context.context, numbits from line_bits join context on context.id = context_id join file on file.id = file_id"
    )
    counts: dict[str, int] = defaultdict(int)
    with contextlib.closing(sqlite3.connect(lines.data_filename())) as tables:
        for name, bits in tables.execute(f"{query} where path = ?" if file else query, (file,) if file else ()):
            counts[name] += int.from_bytes(bits, "little").bit_count()
    return dict(counts)


def at_import(name: str) -> bool:
    """Whether lines of this name ran while a file was imported, and may have run so for any file that came first."""
    return not name or name.startswith("import of ")


def kept_in(cache: Path, tests: Sequence[str]) -> Path:
    """Each choice of tests has a file of its own."""
    return cache / f"{hashlib.sha256(json.dumps(list(tests)).encode()).hexdigest()[:8]}.zip"


def fetch(cache: Path, folder: Path, tests: Sequence[str]) -> None:
    if kept_in(cache, tests).exists():
        with ZipFile(kept_in(cache, tests)) as packed:
            packed.extractall(folder, MAP)


def keep(cache: Path, folder: Path, tests: Sequence[str]) -> None:
    """In one step, so that a run that is broken off or a second one leaves no half of a map."""
    cache.mkdir(parents=True, exist_ok=True)
    with ZipFile(folder / "map.zip", "w", ZIP_DEFLATED) as packed:
        for name in MAP:
            packed.write(folder / name, name)
    beside = cache / f"{os.getpid()}.new"
    shutil.copy(folder / "map.zip", beside)
    beside.replace(kept_in(cache, tests))


def fingerprints(tree: Path, tests: Sequence[str]) -> tuple[str, dict[str, str]]:
    """What tells a change: one of all sources and settings, and one for each file of tests among those that are run."""
    folders = tuple(f"{test}/" for test in tests if not test.startswith("-"))
    ignored = tuple(f"{test.removeprefix('--ignore=')}/" for test in tests if test.startswith("--ignore="))
    others, files = hashlib.sha256(), {}
    for path in sorted(path for path in tree.rglob("*") if path.suffix in {".py", ".toml"}):
        file = path.relative_to(tree).as_posix()
        if file.startswith("tests/mutants/"):
            continue
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if not path.name.startswith("test_"):
            others.update(f"{file} {digest}\n".encode())
        elif f"{file}/".startswith(folders or "") and not f"{file}/".startswith(ignored):
            files[file] = digest
    return others.hexdigest(), files


def record(place: Workplace, target: Path, tests: Sequence[str]) -> dict[str, tuple[float, list[str]]]:
    """Run the tests once, and add what every process of theirs noted to one file, with paths of the tree.

    What comes back is the time and the shared fixtures of every test that passed.
    """
    (place.notes / "current").write_text("", "utf-8")
    (place.notes / "record").write_text(str(place.tree / "src"), "utf-8")
    try:
        subprocess.run(place.pytest(*tests), cwd=place.tree, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    finally:
        (place.notes / "record").unlink()
    if not (place.notes / "tests").exists():
        raise SystemExit("the tests could not be run in a copy of the tree: does `make test` pass?")
    whole = CoverageData(str(target))
    whole.read()
    for part in sorted(place.notes.glob("lines.*")):
        notes = CoverageData(str(part))
        try:
            notes.read()
        except DataError:  # some tests kill processes, and what those were writing is no database
            continue
        whole.update(notes, map_path=lambda path: Path(path).relative_to(place.tree).as_posix())
    whole.write()
    seen = json.loads((place.notes / "tests").read_text("utf-8"))
    for test in seen["failed"]:
        sys.stderr.write(f"{test} fails without a fault in a copy of the tree; it is left out\n")
    fit: dict[str, tuple[float, list[str]]] = seen["fit"]
    return fit
