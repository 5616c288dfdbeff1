"""Checkpoints: what was evaluated already is found again by its content, and nothing is trusted that is not whole.

A state is kept under the digest of everything that it was made of: the bytes of its files, the settings and the version. So the
same command finds it, another setting or a changed file does not, and where files stand does not matter.
"""

from __future__ import annotations

import dataclasses
import os
import re
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self

from calque.base.digests import digest
from calque.base.errors import CalqueError, ContractError, Issue
from calque.base.file_stamps import mark_of
from calque.base.files import check_no_links, holds_states, open_entry, write_entry
from calque.engines import run_in_background, warn
from calque.evaluation.evaluator import Evaluator, Keep
from calque.evaluation.ledger import Ledger
from calque.evaluation.storage.input_digests import Contents
from calque.evaluation.storage.kept_ledger import KeptLedger, Standing
from calque.evaluation.storage.state import Packed, columns_start, pack, unpack_with_forms, well_formed

if TYPE_CHECKING:
    from concurrent.futures import Future

    from calque.corpus.boxes import UnitId
    from calque.evaluation.task import Task

LEFT_OVER = re.compile(r"\.[0-9a-f]{40}(-[0-9]+)?\.state\.[0-9a-f]{12}")
"""How a file is called that was being written when its process was killed."""
AN_HOUR = 3600.0
"""Nobody takes so long to write a file."""
A_MOMENT = 0.05
"""For so many seconds a state waits until the documents are let go of: their memory is at hand, and serves for the file."""


class Checkpoint:
    """A folder of finished shards. Each is kept batch by batch, and then a small state that says how many there are."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.reused = 0
        """How many batches were there already."""
        self._writing: Future[Any] | None = None
        self._turn = threading.Lock()
        """Whoever writes holds it."""
        self._closed = False
        self._told: set[str] = set()
        os.makedirs(folder, exist_ok=True)
        check_no_links(folder)
        self.holds_any = holds_states(folder)
        """Whether anything may be found. In an empty folder nobody looks, nor waits for the name that it would have."""
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            with suppress(FileNotFoundError):  # another command may be removing the same files
                if LEFT_OVER.fullmatch(name) and time.time() - os.lstat(path).st_mtime > AN_HOUR:
                    os.unlink(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Wait until everything is written, or, after a failure, what is being written: nothing is left unfinished."""
        try:
            if kind is None:
                self.finish()
        finally:
            try:
                self._close()
            except BaseException:  # a signal came while we waited
                self._close()
                raise

    def finish(self) -> None:
        """Wait until everything is written that was begun."""
        if self._writing is not None:
            self._writing.result()

    def _close(self) -> None:
        """Wait for who writes; nobody begins to any more, not even a thread that was just being started."""
        with self._turn:
            self._closed = True

    def contents(self, files: Sequence[str], begin_to_read: Callable[[str], Any]) -> Contents:
        """Files that are to be evaluated, unless they were."""
        return Contents.beforehand(files, begin_to_read) if self.holds_any else Contents.beside(files, begin_to_read)

    def evaluated(
        self, task: Task, keep: Keep, contents: Contents, evaluate: Callable[[KeptBatches | None], Evaluator]
    ) -> Evaluator:
        """What was kept of files under a task, or else what is evaluated now, batch by batch, and kept."""
        if own := task.own_code():
            # No digest covers what such code imports and reads.
            warn(f"{self.folder}: nothing is kept there, and nothing is reused: {', '.join(own)} is not part of calque")
            return evaluate(None)
        batches = KeptBatches(self, task, keep, contents)
        known = batches.whole()
        if known is None:
            known = evaluate(batches)
            batches.conclude(known)
        return known

    def begin(self, work: Callable[[], Any]) -> Future[Any]:
        """Begin to write when what is being written is, so that at most one batch waits for it."""
        self.finish()
        self._writing = run_in_background(partial(self._in_turn, work))
        return self._writing

    def follow(self, work: Callable[[], Any]) -> None:
        """Write something small when what is being written is, which nobody waits for here."""
        before = self._writing

        def after() -> Any:
            if before is not None:
                before.result()
            return self._in_turn(work)

        self._writing = run_in_background(after)

    def _in_turn(self, work: Callable[[], Any]) -> Any:
        with self._turn:
            return None if self._closed else work()

    def sound(self, path: str, load: Callable[[], Any]) -> Any:
        """What a file holds; nothing where there is none, and where it is broken, which is told once."""
        try:
            return load() if os.path.exists(path) else None
        except (CalqueError, OSError) as error:
            if path not in self._told:
                warn(not_used(path, error))
                self._told.add(path)
            return None


class KeptBatches:
    """What the batches of one pair of files come to, by their number. Each is written while the next is being scored."""

    def __init__(self, checkpoint: Checkpoint, task: Task, keep: Keep, contents: Contents) -> None:
        self._checkpoint = checkpoint
        self._settings = {"signature": task.signature().to_dict(), "fields": dataclasses.asdict(task), "keep": keep}
        self._task = task
        self._contents = contents
        self._files = list(contents.files)
        self._outside = self._read_outside()
        self._count = 0
        self._let_go = threading.Event()
        """Set when the documents of the batch that was put last are needed no longer."""

    @cached_property
    def _key(self) -> str:
        """What the files are kept under; waits for their digests."""
        import json

        settings = json.dumps(self._settings, sort_keys=True, default=str)
        names = [used_name(path, self._task) for path in self._files]
        told = [settings, json.dumps([names, self._outside]), *(begun.result() for begun in self._contents.digests)]
        return digest("\n".join(told), 40)

    def _read_outside(self) -> list[dict[str, str]]:
        return [dict(self._task.read_outside(path)) for path in self._files]

    @property
    def _sure_key(self) -> str:
        """The same for what is written."""
        key = self._key
        self._contents.check_unchanged()
        if self._read_outside() != self._outside:
            raise CalqueError(f"{self._files[0]}: class names or images were changed meanwhile; give the same command again")
        return key

    def whole(self) -> Evaluator | None:
        """All of them, if the files were evaluated to their end and nothing is broken."""
        if not self._checkpoint.holds_any:
            return None
        known: tuple[Evaluator, int] | None = self._checkpoint.sound(self._path(self._key), self._concluded)
        if known is None:
            return None
        evaluator, count = known
        for number in range(count):
            ledger = self._known(number)
            if ledger is None:
                return None
            evaluator.add(replace(ledger, issues=()))  # what was noticed of all of them is known already
        self._checkpoint.reused += count
        return evaluator

    def _concluded(self) -> tuple[Evaluator, int]:
        """The evaluator without its documents, and the number of batches that they are in."""
        path = self._path(self._key)
        header, *_ = self._loaded(self._key)
        with well_formed(path):
            evaluator = Evaluator.of_header(header["evaluator"], (), path)
            evaluator.rename(self._renamed(header))
            return evaluator, int(header["batches"])

    def get(self, number: int, units: Callable[[], Sequence[UnitId]]) -> Ledger | None:
        """The ledger of a batch, if it was kept and is of just these documents."""
        self._count = number + 1
        self._let_go.set()
        ledger = self._known(number)
        if ledger is None or list(ledger.units) != list(units()):
            return None
        self._checkpoint.reused += 1
        return ledger

    def put(self, number: int, ledger: Ledger, issues: tuple[Issue, ...]) -> Ledger:
        """Keep the ledger of a batch, unless a file is another by now: it may be of what has no such digest."""
        self._let_go = let_go = threading.Event()

        def write() -> Standing:
            let_go.wait(A_MOMENT)
            name = f"{self._sure_key}-{number}"
            packed = Packed({**self._header(name), "issues": [issue.to_dict() for issue in issues]}, ledger)
            for overwrite in (False, True):
                # Another command may have finished the same batch, and may be reading its file: a whole one stays.
                standing = self._finished(name, ledger.units)
                if standing is None:
                    written = write_entry(self._path(name), packed, replace=overwrite)
                    standing = written and Standing(self._path(name), mark_of(written), len(packed.head), packed.forms)
                if standing is not None:
                    return standing
            raise AssertionError  # the second round replaces whatever is there

        begun = self._checkpoint.begin(write)

        def standing() -> Standing:
            let_go.set()
            return begun.result()  # type: ignore[no-any-return]  # whatever is written

        return KeptLedger.of(ledger, standing, issues)

    def conclude(self, evaluator: Evaluator) -> None:
        """Keep what was noticed of the files as a whole, and that this was all."""
        self._let_go.set()
        about = {"batches": self._count, "evaluator": evaluator.header()}

        def write() -> None:
            key = self._sure_key
            write_entry(self._path(key), pack({**self._header(key), **about}, Ledger(units=(), tables={})))

        self._checkpoint.follow(write)

    def _path(self, name: str) -> str:
        return os.path.join(self._checkpoint.folder, f"{name}.state")

    def _header(self, name: str) -> dict[str, Any]:
        return {"kept": name, "files": self._files}

    def _renamed(self, header: dict[str, Any]) -> dict[str, str]:
        """What files were called then, and are called now."""
        return dict(zip(header["files"], self._files, strict=True))

    def _known(self, number: int) -> KeptLedger | None:
        if not self._checkpoint.holds_any:
            return None
        name = f"{self._key}-{number}"

        def load() -> KeptLedger:
            header, ledger, standing = self._loaded(name)
            with well_formed(self._path(name)):
                renamed = self._renamed(header)
                issues = tuple(Issue.from_dict(issue).renamed(renamed) for issue in header["issues"])
                return KeptLedger.of(ledger, lambda: standing, issues)

        ledger: KeptLedger | None = self._checkpoint.sound(self._path(name), load)
        return ledger

    def _finished(self, name: str, units: Sequence[UnitId]) -> Standing | None:
        """Return where a batch is that another command has finished; nothing where there is none, or a broken one."""
        try:
            _, ledger, standing = self._loaded(name)
        except (CalqueError, OSError):
            return None
        return standing if ledger.units == units else None

    def _loaded(self, name: str) -> tuple[dict[str, Any], Ledger, Standing]:
        """What a state holds, if it is the one of that name: whoever renames files must not mislead anybody."""
        path = self._path(name)
        with open_entry(path) as file:
            data = file.read()
            mark = mark_of(os.fstat(file.fileno()))
        header, ledger, forms = unpack_with_forms(data, path)
        if header.get("kept") != name:
            raise ContractError.single("state-damaged", "this is the state of something else", file=path)
        return header, ledger, Standing(path, mark, columns_start(data), forms)


ROWS = (".ndjson", ".jsonl", ".parquet")
"""Formats in which every row names its document."""


def used_name(path: str, task: Task) -> str:
    """Return as much of the name of a file as decides how it is read: all of it, or only its extensions.

    >>> from calque import Detection, Words
    >>> used_name("runs/page-1.xml", Detection()), used_name("runs/part-1.ndjson.gz", Detection())
    ('page-1.xml', '.ndjson.gz')
    >>> used_name("runs/part-1.jsonl", Words())
    'part-1.jsonl'
    """
    from calque.readers.sources.compression import plain_name

    name = os.path.basename(os.path.abspath(path))
    stem, suffix = os.path.splitext(plain_name(name))
    return name[len(stem) :] if task.rows_are_named and suffix.lower() in ROWS else name


def not_used(path: str, error: CalqueError | OSError) -> str:
    """What is told of a broken file. Nobody has to do anything about it."""
    what = error.issues[0].message if isinstance(error, ContractError) else str(error).removeprefix(f"{path}: ")
    return f"{path}: is not used, and what it stands for is done again: {what}"
