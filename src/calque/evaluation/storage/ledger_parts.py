"""The ledgers of an evaluation as they come in, in memory or, when they are long, in a temporary file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from calque.corpus.boxes import UnitId
from calque.evaluation.ledger import Ledger

if TYPE_CHECKING:
    # Few evaluations are so long that they need a file; making these classes takes two milliseconds of every command.
    from calque.evaluation.storage.long_ledger import StoredPart
    from calque.evaluation.storage.spool import Spool

MOST_BYTES = 1 << 23
"""How much of a ledger stays in memory while documents come in, where the task can measure it chunk by chunk."""

ARRAY_OVERHEAD = 128
"""What an array takes beside its values: many ledgers of one document each must count, too."""

SMALL = 1 << 16
"""Ledgers of fewer bytes are joined as they come: what an array takes beside its values is most of them."""

LONG = 1 << 22
"""Ledgers of so many bytes are moved to the file as they are; shorter ones are joined first."""


class LedgerParts:
    """The ledgers of one evaluation, in the order in which they came.

    Beyond ``most`` bytes they are moved to the file of a spool, or of one that is made then; without one they stay in memory.
    """

    def __init__(self, spool: Spool | Callable[[], Spool] | None = None, most: int = 0) -> None:
        self._spool = spool
        self._most = most
        self._stored: list[StoredPart] = []
        self._recent: list[Ledger] = []
        self._bytes = 0

    def __bool__(self) -> bool:
        return bool(self._stored or self._recent)

    def units(self) -> Iterator[tuple[UnitId, ...]]:
        """The documents of each part."""
        return chain((part.units for part in self._stored), (ledger.units for ledger in self._recent))

    def add(self, ledger: Ledger) -> None:
        """Take in one more."""
        self._recent.append(ledger)
        self._bytes += size_of(ledger)
        self._join_small()
        # A long one that is alone took its room when it was made: to let go of it would only cost time.
        alone = not self._stored and len(self._recent) == 1 and self._bytes >= LONG
        most = min(self._most, MOST_BYTES) if self._stored else self._most
        if self._spool is not None and self._bytes > most and not alone:
            self._store(self._file())

    def _file(self) -> Spool:
        if callable(self._spool):
            self._spool = self._spool()
        if self._spool is not None:
            return self._spool
        from calque.evaluation.storage.spool import Spool

        return next((part.shelf for part in self._stored if isinstance(part.shelf, Spool)), None) or Spool()

    def _join_small(self) -> None:
        """Join the last two while neither is longer than the one before: as in a binary counter, few small ones are left."""
        while len(self._recent) > 1:
            before, last = self._recent[-2:]
            sizes = size_of(before), size_of(last)
            if len(before.units) > len(last.units) or max(sizes) >= SMALL:
                return
            joined = Ledger.concat([before, last])
            self._recent[-2:] = [joined]
            self._bytes += size_of(joined) - sum(sizes)

    def held(self) -> int:
        """How many ledgers are in memory."""
        return len(self._recent)

    def extend(self, other: LedgerParts) -> None:
        """Take in all that another one holds."""
        self._stored += (part if self._spool is None else part.within(self._file()) for part in other._stored)
        for ledger in other._recent:
            self.add(ledger)

    def _store(self, spool: Spool) -> None:
        from calque.evaluation.storage.kept_ledger import KeptLedger
        from calque.evaluation.storage.long_ledger import StoredPart

        long = [ledger for ledger in self._recent if size_of(ledger) >= LONG]
        short = [ledger for ledger in self._recent if size_of(ledger) < LONG]
        joined = [Ledger.concat(short)] if short else []
        for ledger in (*long, *joined):
            self._stored.append(ledger.written() if isinstance(ledger, KeptLedger) else StoredPart.of(ledger, spool))
        self._recent, self._bytes = [], 0

    def ledger(self) -> Ledger:
        """One ledger of everything; there must be something."""
        if self._stored:
            from calque.evaluation.storage.long_ledger import StoredLedger

            self._store(self._file())
            return StoredLedger.of(tuple(self._stored))
        self._recent = [Ledger.concat(self._recent)]
        return self._recent[0]


def size_of(ledger: Ledger) -> int:
    """About how many bytes a ledger takes."""
    return sum(column.nbytes + ARRAY_OVERHEAD for table in ledger.tables.values() for column in table.columns.values())
