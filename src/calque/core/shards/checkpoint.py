"""Checkpoints: what was evaluated already is found again by its content, and nothing is trusted that is not whole.

A state is kept under the digest of everything that it was made of: the bytes of its files, the settings and the version. So the
same command finds it, another setting or a changed file does not, and where files stand does not matter.
"""

from __future__ import annotations

import dataclasses
import os
import re
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from calque.core.errors import CalqueError, Issue
from calque.core.evaluator import Evaluator, Keep
from calque.core.storage.files import write_whole
from calque.core.storage.state import pack, unpack, well_formed
from calque.engines import begin, remark

if TYPE_CHECKING:
    from calque.core.corpus import UnitId
    from calque.core.ledger import Ledger
    from calque.core.task import Task
    from calque.engines import Begun

LEFT_OVER = re.compile(r"\.[0-9a-f]{40}(-[0-9]+)?\.state\.[0-9a-f]{12}")
"""How a file is called that was being written when its process was killed."""
AN_HOUR = 3600.0
"""Nobody takes so long to write a file."""


class Checkpoint:
    """A folder of finished shards."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.reused = 0
        """How many shards were there already."""
        os.makedirs(folder, exist_ok=True)
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if LEFT_OVER.fullmatch(name) and time.time() - os.stat(path).st_mtime > AN_HOUR:
                os.unlink(path)

    def key(self, task: Task, keep: Keep, *files: str) -> str:
        """The name of what these files come to under a task."""
        import hashlib
        import json

        settings = {"signature": task.signature().to_dict(), "fields": dataclasses.asdict(task), "keep": keep}
        told = [json.dumps(settings, sort_keys=True, default=str), *map(content_digest, files)]
        return hashlib.sha256("\n".join(told).encode("utf-8", "surrogatepass")).hexdigest()[:40]

    def evaluated(self, key: str, evaluate: Callable[[], Evaluator]) -> Evaluator:
        """The evaluator that was kept under that name, or else one that is evaluated now, and kept."""
        path = os.path.join(self.folder, f"{key}.state")
        known: Evaluator | None = self._sound(path, lambda: Evaluator.load(path))
        if known is not None:
            self.reused += 1
            return known
        made = evaluate()
        made.save(path)
        return made

    def batches(self, key: str) -> KeptBatches:
        """What the batches of one pair of files come to."""
        return KeptBatches(self, key)

    def _sound(self, path: str, load: Callable[[], Any]) -> Any:
        """What a file holds; nothing where there is none, and where it is broken, which is told."""
        try:
            return load() if os.path.exists(path) else None
        except (CalqueError, OSError) as error:
            reason = str(error).removeprefix(f"{path}: ")
            remark(f"{path}: is not used, and what it stands for is done again: {reason}")
            return None


class KeptBatches:
    """The ledgers of batches, by their number. Each is written while the next batch is being scored."""

    def __init__(self, checkpoint: Checkpoint, key: str) -> None:
        self._checkpoint = checkpoint
        self._key = key
        self._writing: Begun[None] | None = None

    def _path(self, number: int) -> str:
        return os.path.join(self._checkpoint.folder, f"{self._key}-{number}.state")

    def get(self, number: int, units: Sequence[UnitId]) -> Ledger | None:
        """The ledger of a batch, if it was kept and is of just these documents."""
        path = self._path(number)
        ledger: Ledger | None = self._checkpoint._sound(path, lambda: _loaded(path))
        if ledger is None or list(ledger.units) != list(units):
            return None
        self._checkpoint.reused += 1
        return ledger

    def put(self, number: int, ledger: Ledger) -> None:
        """Keep the ledger of a batch."""
        self.end()
        issues = [issue.to_dict() for issue in ledger.issues]
        self._writing = begin(lambda: write_whole(self._path(number), pack({"issues": issues}, ledger)))

    def end(self) -> None:
        """Wait until everything is written."""
        if self._writing is not None:
            writing, self._writing = self._writing, None
            writing.result()


def _loaded(path: str) -> Ledger:
    with open(path, "rb") as file:
        header, ledger = unpack(file.read(), path)
    with well_formed(path):
        return dataclasses.replace(ledger, issues=tuple(Issue.from_dict(issue) for issue in header["issues"]))


def content_digest(path: str) -> str:
    """The content of a file, or of all files of a folder with their names."""
    import hashlib

    if not os.path.isdir(path):
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    digest = hashlib.sha256()
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names):
            whole = os.path.join(folder, name)
            digest.update(f"{os.path.relpath(whole, path)}\n{content_digest(whole)}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
