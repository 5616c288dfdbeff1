"""Ledgers that also stand in a state which stays: one that grows too long for memory need not be written again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calque.base.file_stamps import FileMark
from calque.evaluation.ledger import Ledger

if TYPE_CHECKING:
    from calque.base.errors import Issue
    from calque.evaluation.storage.forms import Form
    from calque.evaluation.storage.long_ledger import StoredPart


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the columns of a ledger stand."""

    path: str
    mark: FileMark
    """What the file was when it was written, or checked: another one is not trusted."""
    start: int
    forms: Sequence[Form]


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class KeptLedger(Ledger):
    """A ledger that is also in a file which stays, or will be when its writing has ended."""

    standing: Callable[[], Standing]
    """Where; waits until it is written."""

    @classmethod
    def of(cls, ledger: Ledger, standing: Callable[[], Standing], issues: tuple[Issue, ...]) -> KeptLedger:
        """A ledger with what was noticed."""
        tables, names, details = ledger.tables, ledger.names, ledger.details
        return cls(units=ledger.units, tables=tables, names=names, details=details, issues=issues, standing=standing)

    def __post_init__(self) -> None:
        """It was checked when it was made: to do so again would take milliseconds."""

    def written(self) -> StoredPart:
        """The same in the file."""
        from calque.evaluation.storage.long_ledger import StoredPart  # two milliseconds that only long ledgers need
        from calque.evaluation.storage.spool import KeptFile

        standing = self.standing()
        return StoredPart.kept(self, KeptFile(standing.path, standing.mark), standing.start, standing.forms)
