"""Checkpoints: a folder of finished batches, each a state under the digest of everything that it was made of.

The digest covers the bytes of the input files, the settings and the version. The same command finds its states again. A
changed file or setting has another digest. A damaged state is never used.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from xxhash import xxh3_128

from calque.base.digests import digest
from calque.base.errors import CalqueError, ContractError, Issue
from calque.base.files import FileStamp, check_no_links, file_stamp, write_entry
from calque.engines import warn
from calque.evaluation.evaluator import Evaluator, Keep
from calque.evaluation.ledger import Ledger
from calque.evaluation.storage.partitioned import Part
from calque.evaluation.storage.state import MAPPED_BYTES, Packed, StateFile, StoredTables, open_state, pack, well_formed
from calque.readers.boxes import dota, yolo
from calque.readers.sources.compression import plain_name

if TYPE_CHECKING:
    from calque.corpus.boxes import UnitId
    from calque.evaluation.task import Task

LEFT_OVER = re.compile(r"\.[0-9a-f]{40}(-[0-9]+)?\.state\.[0-9a-f]{12}")
"""Names of unfinished files that killed processes leave behind."""
AN_HOUR = 3600.0
"""Unfinished files are removed at this age, in seconds: no process writes for so long."""
HASHED_BYTES = 1 << 18
"""How many bytes of an input file are hashed at a time."""
ROWS = (".ndjson", ".jsonl", ".parquet")
"""Formats in which every row names its document."""


class Checkpoint:
    """A folder of finished shards: a state for each batch, and a small one that gives the number of batches."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.reused = 0
        """The number of batches that were found in the folder."""
        self._reported: set[str] = set()
        os.makedirs(folder, exist_ok=True)
        check_no_links(folder)
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            with suppress(FileNotFoundError):  # another command may be removing the same files
                if LEFT_OVER.fullmatch(name) and time.time() - os.lstat(path).st_mtime > AN_HOUR:
                    os.unlink(path)

    def evaluated(
        self, task: Task, keep: Keep, files: Sequence[str], evaluate: Callable[[KeptBatches | None], Evaluator]
    ) -> Evaluator:
        """Return the evaluator of files under a task: from the folder, or evaluated now and kept batch by batch."""
        if own := task.own_code():
            # No digest covers what such code imports and reads.
            warn(f"{self.folder}: nothing is kept there, and nothing is reused: {', '.join(own)} is not part of calque")
            return evaluate(None)
        batches = KeptBatches(self, task, keep, files)
        known = batches.whole()
        if known is None:
            known = evaluate(batches)
            batches.conclude(known)
        return known

    def report(self, path: str, error: CalqueError | OSError) -> None:
        """Warn once that a state cannot be used."""
        if path not in self._reported:
            warn(not_used(path, error))
            self._reported.add(path)


class KeptBatches:
    """The batches of one set of input files, by number."""

    def __init__(self, checkpoint: Checkpoint, task: Task, keep: Keep, files: Sequence[str]) -> None:
        self._checkpoint = checkpoint
        self._task = task
        self._files = list(files)
        self._stamps = _stamps(files)
        self._outside = self._read_outside()
        self._count = 0
        settings = {"signature": task.signature().to_dict(), "fields": dataclasses.asdict(task), "keep": keep}
        names = [used_name(path, task) for path in files]
        described = [json.dumps(settings, sort_keys=True, default=str), json.dumps([names, self._outside])]
        self._key = digest("\n".join([*described, *map(content_digest, files)]), 40)

    def _read_outside(self) -> list[dict[str, str]]:
        """Return the class names and image sizes that folders of labels take from other folders."""
        if not self._task.long_columns:
            return []
        return [{**yolo.read_outside(path), **dota.read_outside(path)} for path in self._files]

    def _check_unchanged(self) -> None:
        """Refuse input files that changed since they were hashed: the digest would not be that of the evaluated bytes."""
        now = _stamps(self._files)
        changed = [path for path in {**self._stamps, **now} if self._stamps.get(path) != now.get(path)]
        if changed:
            raise CalqueError(f"{changed[0]}: was changed while it was being evaluated; give the same command again")
        if self._read_outside() != self._outside:
            raise CalqueError(f"{self._files[0]}: class names or images were changed meanwhile; give the same command again")

    def whole(self) -> Evaluator | None:
        """Return the evaluator of all batches if the files were evaluated completely and no state is damaged."""
        path = self._path(self._key)
        known = self._sound(self._key)
        if known is None:
            return None
        header, _ = known
        batches: list[Ledger | Part] = []
        try:
            with well_formed(path):
                for number in range(int(header["batches"])):
                    found = self._sound(f"{self._key}-{number}")
                    if found is None:
                        return None
                    batches.append(dataclasses.replace(found[1], issues=()))  # the header has the issues of all batches
                evaluator = Evaluator.of_header(header["evaluator"], batches, path)
                evaluator.rename(self._renamed(header))
        except (CalqueError, OSError) as error:
            self._checkpoint.report(path, error)
            return None
        self._checkpoint.reused += len(batches)
        return evaluator

    def get(self, number: int, units: Callable[[], Sequence[UnitId]]) -> Ledger | Part | None:
        """Return the batch with that number if it was kept and has exactly these documents."""
        self._count = number + 1
        known = self._sound(f"{self._key}-{number}")
        if known is None or list(known[1].units) != list(units()):
            return None
        self._checkpoint.reused += 1
        return known[1]

    def put(self, number: int, ledger: Ledger) -> Ledger | Part:
        """Keep the ledger of a batch, unless an input file has changed."""
        self._check_unchanged()
        name = f"{self._key}-{number}"
        packed = Packed({**self._about(name), "issues": [issue.to_dict() for issue in ledger.issues]}, ledger)
        written = write_entry(self._path(name), packed, replace=False)
        if written is None:  # another command has finished the same batch and may be reading its file, or it is damaged
            with suppress(CalqueError, OSError):
                known = self._load(name)
                if known is not None and known[1].units == ledger.units:
                    return known[1]
            written = write_entry(self._path(name), packed)
        if written is None or packed.size < MAPPED_BYTES:
            return ledger
        file = StateFile(self._path(name), file_stamp(written))
        return Part.of(ledger, StoredTables(file, len(packed.head), packed.layout))

    def conclude(self, evaluator: Evaluator) -> None:
        """Keep the header of the evaluator and the number of batches."""
        self._check_unchanged()
        about = {"batches": self._count, "evaluator": evaluator.header()}
        write_entry(self._path(self._key), pack({**self._about(self._key), **about}, Ledger(units=(), tables={})))

    def _path(self, name: str) -> str:
        return os.path.join(self._checkpoint.folder, f"{name}.state")

    def _about(self, name: str) -> dict[str, Any]:
        return {"kept": name, "files": self._files}

    def _renamed(self, header: dict[str, Any]) -> dict[str, str]:
        """Return the present name of each file by the name that it had then."""
        return dict(zip(header["files"], self._files, strict=True))

    def _sound(self, name: str) -> tuple[dict[str, Any], Ledger | Part] | None:
        """Return the header and the batch of a state; ``None`` if there is none, or if it is damaged, with a warning."""
        try:
            return self._load(name)
        except (CalqueError, OSError) as error:
            self._checkpoint.report(self._path(name), error)
            return None

    def _load(self, name: str) -> tuple[dict[str, Any], Ledger | Part] | None:
        """Return the header and the batch of a state; ``None`` if there is none. The state must have its own name in it."""
        path = self._path(name)
        if not os.path.exists(path):
            return None
        header, ledger, stored = open_state(path)
        with well_formed(path):
            if header["kept"] != name:
                raise ContractError.single("state-damaged", "this is the state of something else", file=path)
            renamed = self._renamed(header)
            issues = tuple(Issue.from_dict(issue).renamed(renamed) for issue in header.get("issues", ()))
            return header, dataclasses.replace(ledger if stored is None else Part.of(ledger, stored), issues=issues)


def _stamps(files: Sequence[str]) -> dict[str, FileStamp]:
    """Return the stamps of files and of all files in folders."""
    inside = (os.path.join(path, name) for path in files for name in files_below(path))
    return {path: file_stamp(os.stat(path)) for path in (*files, *inside)}


def files_below(folder: str) -> Iterator[str]:
    """Yield the relative paths of all files below a folder, in order. Links are followed."""
    seen: set[str] = set()  # links may lead back to a folder
    for place, inner, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(place)
        if real in seen:
            inner.clear()
            continue
        seen.add(real)
        inner.sort()
        paths = (os.path.join(place, name) for name in sorted(names))
        yield from (os.path.relpath(path, folder) for path in paths if os.path.isfile(path))


def content_digest(path: str) -> str:
    """Return a digest of the bytes of a file, or of all files of a folder with their names.

    It is as fast as reading. It detects changes, not forgeries.
    """
    content = xxh3_128()
    if os.path.isdir(path):
        for name in files_below(path):
            entry = f"{name}\n{content_digest(os.path.join(path, name))}\n"
            content.update(entry.encode("utf-8", "surrogateescape"))
        return content.hexdigest()
    buffer = memoryview(bytearray(HASHED_BYTES))
    with open(path, "rb", buffering=0) as file:
        while count := file.readinto(buffer):
            content.update(buffer[:count])
    return content.hexdigest()


def used_name(path: str, task: Task) -> str:
    """Return as much of a file's name as decides how it is read: all of it, or only its extensions.

    >>> from calque import Detection, Words
    >>> used_name("runs/page-1.xml", Detection()), used_name("runs/part-1.ndjson.gz", Detection())
    ('page-1.xml', '.ndjson.gz')
    >>> used_name("runs/part-1.jsonl", Words())
    'part-1.jsonl'
    """
    name = os.path.basename(os.path.abspath(path))
    stem, suffix = os.path.splitext(plain_name(name))
    return name[len(stem) :] if task.rows_are_named and suffix.lower() in ROWS else name


def not_used(path: str, error: CalqueError | OSError) -> str:
    """Return the warning for a damaged state: its work is done again."""
    reason = error.issues[0].message if isinstance(error, ContractError) else str(error).removeprefix(f"{path}: ")
    return f"{path}: is not used, and what it stands for is done again: {reason}"
