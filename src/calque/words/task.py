"""The words task: its settings, and where each of its steps lives."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from calque.core.errors import ConfigError
from calque.core.signature import Signature
from calque.core.task import PartsBeside, Task, setting, spell

if TYPE_CHECKING:
    from calque.core.columns import Table
    from calque.core.corpus import Corpus
    from calque.core.ledger import Ledger
    from calque.core.measures import MeasureName
    from calque.core.word_corpus import WordCorpus
    from calque.words.cleaning import Cleaning


@dataclass(frozen=True, kw_only=True)
class Words(PartsBeside, Task):
    """Aligns predicted words with true ones in order, and counts how many are there.

    >>> from calque import Evaluator
    >>> result = Evaluator(Words()).update({"d1": "the cat sat"}, {"d1": "the big cat sot"}).compute()
    >>> result["recall"], result["precision"], result["naive_recall"]
    (0.6666666666666666, 0.5, 0.3333333333333333)
    """

    name: ClassVar[str] = "words"
    fixed: ClassVar[Mapping[str, str]] = {"match": "lcs"}

    tokenizer: str = setting(
        "whitespace",
        kind="choice",
        choices=("whitespace", "words-and-punctuation", "uax29"),
        key="tokenizer",
        always=True,
        help="How text becomes words, on both sides.",
    )
    unicode: str = setting(
        "NFC",
        kind="choice",
        choices=("NFC", "NFD", "NFKC", "NFKD", "none"),
        key="unicode",
        always=True,
        help="Unicode normal form of both sides (NFKC changes meaning: x² becomes x2).",
    )
    fold: tuple[str, ...] = setting(
        (),
        kind="words",
        key="fold",
        flag="--fold-characters",
        help="Make characters plain on both sides: ligatures,long_s,dashes,quotes.",
    )
    drop_soft_hyphen: bool = setting(False, kind="switch", key="soft-hyphen-dropped", help="Drop soft hyphens on both sides.")
    drop_zero_width: bool = setting(
        False, kind="switch", key="zero-width-dropped", help="Drop zero-width characters on both sides."
    )
    dehyphenate: Literal["none", "lines"] = setting(
        "none",
        kind="choice",
        choices=("none", "lines"),
        key="dehyphenate",
        help="lines: join words split by hyphen and line break.",
    )
    drop: tuple[str, ...] = setting(
        (), kind="words", key="drop", help="Leave parts of the truth out: figure,table,references,caption."
    )
    keep_lang: tuple[str, ...] = setting(
        (), kind="words", key="keep-lang", help="Keep only truth paragraphs in these languages (en,de)."
    )
    min_block_recall: float | None = setting(
        None, kind="number", key="min-block-recall", help="Leave out truth blocks of which less than this share is on the page."
    )
    drop_empty_parens: bool = setting(
        False, kind="switch", key="empty-parens-dropped", help="Leave out truth parentheses emptied by citations."
    )
    stop_words: tuple[str, ...] = setting(
        (), kind="words", key="stop-words", help="Also give recall without these words (A,B; or: english)."
    )
    level: Literal["region", "line", "word"] = setting(
        "region", kind="choice", choices=("region", "line", "word"), key="level", help="Which text of PAGE XML is read."
    )
    characters: bool = setting(False, kind="switch", key="characters", flag="--cer", help="Also compare characters (CER).")
    keep_unknown: bool = True
    """With ``keep_lang``, whether paragraphs of unknown language stay."""
    holdout: tuple[str, ...] | None = None
    """The documents of the test; ``None`` for all, or for one of the two rules below."""
    holdout_fraction: float | None = None
    holdout_fold: str = ""
    """``i/K``, from 0."""
    seed: int = 0
    lattice: Literal["none", "given", "built"] = "none"
    """Whether an oracle is computed, and where its lattices come from."""
    errors: int = 0
    """How many of the most frequent confusions are listed with the numbers."""

    def __post_init__(self) -> None:
        made = self.cleaning()
        for name in ("fold", "drop", "keep_lang", "tokenizer"):
            object.__setattr__(self, name, getattr(made, name))
        object.__setattr__(self, "stop_words", tuple(sorted(set(self.stop_words))))
        if self.holdout is not None:
            object.__setattr__(self, "holdout", tuple(sorted({str(unit) for unit in self.holdout})))
        self._check_holdout()

    def _check_holdout(self) -> None:
        from calque.words.holdout import parse_fold

        rules = {"holdout": self.holdout, "holdout_fraction": self.holdout_fraction, "fold": self.holdout_fold or None}
        given = [name for name, value in rules.items() if value is not None]
        if len(given) > 1:
            raise ConfigError(f"{' and '.join(given)} both say which documents are held out; give one")
        if self.holdout_fraction is not None and not (math.isfinite(self.holdout_fraction) and 0 < self.holdout_fraction <= 1):
            raise ConfigError(f"holdout_fraction must be above 0 and at most 1, not {self.holdout_fraction}")
        if self.holdout_fold:
            parse_fold(self.holdout_fold)

    def cleaning(self) -> Cleaning:
        """The clean-up of the truth; of its steps, those for characters are applied to predictions too."""
        from calque.words.cleaning import Cleaning

        names = Cleaning.__dataclass_fields__
        return Cleaning(**{name: getattr(self, name) for name in names})

    def signature(self) -> Signature:
        """Every setting that can change a number, with the rule of the hold-out."""
        plain = super().signature()
        extra = {"keep-unknown": spell(self.keep_unknown), "holdout": self._holdout_rule(), "lattice": self.lattice}
        quiet = {name for name, value in extra.items() if value in ("yes", "all", "none")}
        return Signature(self.name, {**plain.settings, **extra}, plain.quiet | quiet)

    def _holdout_rule(self) -> str:
        from calque.words.holdout import digest

        if self.holdout is not None:
            return f"{len(self.holdout)} listed ({digest(self.holdout)})"
        if self.holdout_fraction is not None:
            return f"{self.holdout_fraction!r} by seed {self.seed}"
        return f"fold {self.holdout_fold} by seed {self.seed}" if self.holdout_fold else "all"

    def batches(self, expected: Any, found: Any, *, jobs: int = 1) -> Iterator[tuple[Corpus, Corpus]]:  # noqa: ARG002  # a text a time
        """The two sides as words, cleaned and split alike."""
        from calque.words.reading import read_sides

        yield read_sides(self, expected, found)

    def score(self, expected: WordCorpus, found: WordCorpus, *, jobs: int = 1) -> Ledger:
        """The outcome of every word."""
        from calque.words.scoring import score

        return score(self, expected, found, jobs=jobs)

    def measure(self, ledger: Ledger, *, jobs: int = 1) -> dict[str, Any]:  # noqa: ARG002  # sums of a few columns
        """Recall and what stands beside it, over all words, as a mean of documents, and for each document."""
        from calque.words.numbers import measure

        return measure(self, ledger)

    def address(self, name: MeasureName) -> tuple[str, ...]:
        """Where a measure stands in the JSON."""
        if name.label is not None:
            return "documents", name.label, name.name
        if name.name in ("oracle_recall", "repairable"):
            return "oracle", name.name.removeprefix("oracle_")
        scope = {"": "micro", "macro_documents": "macro"}.get(name.scope, name.scope)
        return scope, name.name

    def outcomes(self, ledger: Ledger, *, threshold: float | None = None) -> Table:  # noqa: ARG002  # words match or do not
        """One row for each word of both sides."""
        from calque.words.outcomes import outcomes

        return outcomes(ledger)
