"""The parts of a task that are in modules of its package: imported at first use."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calque.evaluation.document_sums import Resampled
    from calque.evaluation.item_outcomes import Standing
    from calque.evaluation.ledger import Ledger
    from calque.evaluation.measures import Measure
    from calque.evaluation.presentation.report_data import Finding, Pictured, Sentence
    from calque.evaluation.presentation.sections import Section


class PresentationBeside:
    """A task whose package has a module ``presentation``; everything else about its numbers follows from its metric table.

    The module has ``headline``, ``findings``, ``brief``, ``sections``, ``COLUMNS`` and ``pictured``, which is what a report
    draws.
    """

    @classmethod
    def _beside(cls, module: str) -> Any:
        return importlib.import_module(f"{cls.__module__.rpartition('.')[0]}.{module}")

    @classmethod
    def columns(cls) -> Mapping[str, str]:
        """Explain the columns of the task's tables that are not metrics."""
        known: Mapping[str, str] = cls._beside("presentation").COLUMNS
        return known

    def sections(self, numbers: Mapping[str, Any]) -> list[Section]:
        """Return the tables that the terminal and Markdown print."""
        shown: list[Section] = self._beside("presentation").sections(numbers)
        return shown

    def brief_sections(self, numbers: Mapping[str, Any]) -> list[Section]:
        """Return the few numbers that ``--brief`` prints."""
        shown: list[Section] = self._beside("presentation").brief(numbers)
        return shown

    def headline(self, numbers: Mapping[str, Any]) -> Sentence:
        """Return the main finding in one sentence, with the metrics in it."""
        made: Sentence = self._beside("presentation").headline(numbers)
        return made

    def sentence(self, numbers: Mapping[str, Any]) -> str:
        """Return the headline as plain text."""
        from calque.evaluation.presentation.report_data import spoken

        return spoken(self.headline(numbers))

    def findings(self, numbers: Mapping[str, Any]) -> list[Finding]:
        """Return up to five things to look at."""
        lines: list[Finding] = self._beside("presentation").findings(numbers)
        return lines

    def pictured(self, ledger: Ledger, numbers: Mapping[str, Any]) -> Pictured | None:
        """Return what a report draws beside the tables."""
        drawn: Pictured | None = self._beside("presentation").pictured(self, ledger, numbers)
        return drawn


class PartsBeside(PresentationBeside):
    """A task of a package of its own, whose parts stand in modules beside it and are imported when somebody asks for them.

    ``numbers`` has ``MEASURES``; ``presentation`` has ``sentence``, ``brief``, ``sections``, ``flat``, ``result_schema`` and
    ``COLUMNS``, and for reports perhaps ``headline`` and ``findings``; ``compared`` has ``standing`` and ``resampled``, which
    comparisons rest on. What a report draws may stand beside them: ``pictured`` has ``pictured`` and perhaps ``viewed`` and
    ``on_pages``.
    """

    @classmethod
    def _perhaps_beside(cls, module: str, name: str) -> Any:
        """A function of a module that a task need not have."""
        import importlib.util

        there = importlib.util.find_spec(f"{cls.__module__.rpartition('.')[0]}.{module}")
        return None if there is None else getattr(cls._beside(module), name, None)

    @classmethod
    def measures(cls) -> tuple[Measure, ...]:
        """What `calque explain` knows of this task."""
        known: tuple[Measure, ...] = cls._beside("numbers").MEASURES
        return known

    @classmethod
    def result_schema(cls) -> dict[str, Any]:
        """The JSON Schema of what a result of this task looks like as JSON."""
        schema: dict[str, Any] = cls._beside("presentation").result_schema()
        return schema

    def sentence(self, numbers: Mapping[str, Any]) -> str:
        """The main thing that the numbers say, in one plain sentence."""
        told: str = self._beside("presentation").sentence(numbers)
        return told

    def flat(self, numbers: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The numbers as rows of one table, for spreadsheets."""
        rows: list[dict[str, Any]] = self._beside("presentation").flat(numbers)
        return rows

    def resampled(self, ledger: Ledger) -> tuple[Resampled, ...]:
        """Quick ways to the numbers of weighted documents."""
        ways: tuple[Resampled, ...] = self._beside("compared").resampled(self, ledger)
        return ways

    def standing(self, ledger: Ledger) -> Standing:
        """What became of each truth, and how well each document went."""
        told: Standing = self._beside("compared").standing(self, ledger)
        return told

    def headline(self, numbers: Mapping[str, Any]) -> Sentence:
        """What a report begins with."""
        made = self._perhaps_beside("presentation", "headline")
        told: Sentence = [self.sentence(numbers)] if made is None else made(numbers)
        return told

    def findings(self, numbers: Mapping[str, Any]) -> list[Finding]:
        """Up to five things to look at."""
        made = self._perhaps_beside("presentation", "findings")
        lines: list[Finding] = [] if made is None else made(numbers)
        return lines

    def viewed(self, ledger: Ledger, numbers: Mapping[str, Any]) -> Mapping[str, Any]:
        """The numbers with every view that a report shows."""
        made = self._perhaps_beside("pictured", "viewed")
        whole: Mapping[str, Any] = numbers if made is None else made(self, ledger, numbers)
        return whole

    def pictured(self, ledger: Ledger, numbers: Mapping[str, Any]) -> Pictured | None:
        """What a report draws beside the tables."""
        made = self._perhaps_beside("pictured", "pictured")
        drawn: Pictured | None = None if made is None else made(self, ledger, numbers)
        return drawn

    def on_pages(self, ledger: Ledger) -> Ledger:
        """The ledger with a table of pages, where it can be drawn on some."""
        made = self._perhaps_beside("pictured", "on_pages")
        drawn: Ledger = ledger if made is None else made(ledger)
        return drawn
