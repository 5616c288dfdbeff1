"""The words task: its settings, and where each of its steps lives."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from calque.base.arguments import renamed_arguments
from calque.base.errors import ConfigError
from calque.evaluation.signature import Signature
from calque.evaluation.task import Task, normalize_settings, setting, spell

if TYPE_CHECKING:
    from calque.base.columns import Table
    from calque.base.errors import Issue
    from calque.corpus.boxes import Corpus
    from calque.corpus.words import WordCorpus
    from calque.evaluation.document_sums import WeightedMetrics
    from calque.evaluation.item_outcomes import RunOutcomes
    from calque.evaluation.ledger import Ledger
    from calque.evaluation.metrics import MetricTable
    from calque.evaluation.nothing_evaluated import DocumentCoverage
    from calque.evaluation.view import TaskView
    from calque.readers.text.text_files import TextReading
    from calque.words.text.cleaning import Cleaning

FORMATS = ("auto", "text", "words", "table", "json", "html", "hocr", "alto", "page", "tesseract")


@dataclass(frozen=True, repr=False, kw_only=True)
class Words(Task):
    """Aligns predicted words with true ones in order, and counts how many are there.

    >>> from calque import Evaluator
    >>> result = Evaluator(Words()).update({"d1": "the cat sat"}, {"d1": "the big cat sot"}).compute()
    >>> result["recall"], result["precision"], result["naive_recall"]
    (0.6666666666666666, 0.5, 0.3333333333333333)
    """

    name: ClassVar[str] = "words"
    streams: ClassVar[bool] = True
    fixed: ClassVar[Mapping[str, str]] = {"match": "lcs"}
    naming: ClassVar[str] = "name documents alike on both sides (files pair by their stem)"

    lattice: Any = setting(  # a field, as all of them; it takes many forms and keeps text
        "none",
        kind="path",
        key="lattice",
        words=("none", "given", "built"),
        metavar="FILE",
        help="Lattice of candidates: TSV, JSON or a folder.",
    )
    build_lattice: bool = setting(False, kind="switch", spells=True, help="Build the lattice from all predictions.")
    holdout: Any = setting(  # a field, as all of them; it takes a file or a list and keeps a list
        None, kind="path", key="holdout", metavar="FILE", help="File with the ids of test documents, one per line."
    )
    holdout_fraction: float | None = setting(
        None,
        kind="number",
        key="holdout-fraction",
        metavar="SHARE",
        help="Fraction of documents to test, chosen by a hash of the ids.",
    )
    holdout_fold: str = setting(
        "", kind="word", key="holdout-fold", flag="--fold", metavar="I/K", help="Test fold I of K (from 0)."
    )
    seed: int = setting(0, kind="count", key="seed", help="Seed of --holdout-fraction and --fold.")
    clean: tuple[str, ...] = setting(
        (),
        kind="uses",
        spells=True,
        metavar="NAME[=VALUE]",
        help="Clean-up step: drop=table,figure or drop_zero_width. Repeatable.",
    )
    page_text: Any = setting(  # a field, as all of them; it takes many forms and keeps text
        "", kind="path", key="page-text", help="Text on the pages, for --min-block-recall."
    )
    tokenizer: str = setting(
        "whitespace",
        kind="choice",
        choices=("whitespace", "words-and-punctuation", "uax29", "uax29-words", "none"),
        key="tokenizer",
        always=True,
        help="Tokenizer of both sides; none: words as given by lists and tables.",
    )
    unicode: str = setting(
        "NFC",
        kind="choice",
        choices=("NFC", "NFD", "NFKC", "NFKD", "none"),
        key="unicode",
        always=True,
        help="Unicode normalization of both sides (NFKC turns x² into x2).",
    )
    fold: tuple[str, ...] = setting(
        (),
        kind="words",
        key="fold",
        flag="--fold-characters",
        help="Characters to fold on both sides: ligatures,long_s,dashes,quotes.",
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
        help="Join words that a hyphen and a line break split (lines).",
    )
    drop: tuple[str, ...] = setting(
        (), kind="words", key="drop", help="Parts of the ground truth to skip: figure,table,references,caption."
    )
    keep_lang: tuple[str, ...] = setting(
        (), kind="words", key="keep-lang", help="Languages of ground-truth paragraphs to keep (en,de)."
    )
    min_block_recall: float | None = setting(
        None, kind="number", key="min-block-recall", help="Skip ground-truth blocks with a smaller fraction on the page."
    )
    drop_empty_parens: bool = setting(
        False, kind="switch", key="empty-parens-dropped", help="Skip ground-truth parentheses that citations left empty."
    )
    ignore: tuple[str, ...] = setting((), kind="words", key="ignore", help="Differences to ignore: case,punctuation.")
    substitute: Any = setting(  # a field, as all of them; it takes a file or pairs and keeps pairs
        (), kind="path", key="substitute", help="File with substitutions for both sides: tab-separated, one per line."
    )
    stop_words: tuple[str, ...] = setting(
        (), kind="words", key="stop-words", help="Add recall without these words (A,B; or english, german)."
    )
    from_truth: str = setting("auto", kind="choice", choices=FORMATS, key="from-truth", help="Format of the ground truth.")
    from_pred: str = setting("auto", kind="choice", choices=FORMATS, key="from-pred", help="Format of the predictions.")
    table_columns: tuple[str, ...] = setting(
        (), kind="words", key="columns", flag="--columns", help="Columns of tables without a header: docid,wordid,word."
    )
    stem_pattern: str = setting(
        "",
        kind="word",
        key="stem-pattern",
        metavar="PATTERN",
        help="Files to read in folders: *.gt.txt, or *.gt.txt=*.ocr.txt for both sides.",
    )
    source_separator: str = setting(
        "auto",
        kind="word",
        key="source-separator",
        metavar="TEXT",
        help="Separator of a candidate's sources: |, letters (CT: C and T), or none.",
    )
    level: Literal["region", "line", "word"] = setting(
        "region", kind="choice", choices=("region", "line", "word"), key="level", help="Level of PAGE XML to read."
    )
    page_regions: Literal["all", "ordered"] = setting(
        "all",
        kind="choice",
        choices=("all", "ordered"),
        key="page-regions",
        help="PAGE regions to read: those in reading order, or all.",
    )
    alto_hyphens: Literal["joined", "printed"] = setting(
        "joined",
        kind="choice",
        choices=("joined", "printed"),
        key="alto-hyphens",
        help="Reading of words that ALTO splits at a line end.",
    )
    cer: bool = setting(False, kind="switch", spells=True, help="Add the character error rate (CER).")
    characters: Any = setting(  # a field, as all of them; yes and no are short for two of its values
        "none",
        kind="choice",
        choices=("none", "code-points", "graphemes"),
        key="characters",
        help="Unit of CER: code points or grapheme clusters.",
    )
    separators: Literal["space", "lines"] = setting(
        "space",
        kind="choice",
        choices=("space", "lines"),
        key="separators",
        help="White space in CER: one space, or line breaks count.",
    )
    profile: str = setting(
        "none",
        kind="choice",
        choices=("none", "dinglehopper"),
        spells=True,
        help="Settings that reproduce another tool.",
    )
    errors: int = setting(0, kind="count", view=True, bare=20, metavar="[N]", help="List the N most frequent confusions.")
    keep_unknown: bool = True
    """With ``keep_lang``, whether paragraphs of unknown language stay."""

    def __post_init__(self) -> None:
        if self.profile != "none":
            from calque.words.profiles import apply

            apply(self)
        self._take_in_other_spellings()
        normalize_settings(self)
        self._take_in_files()
        if self.clean:
            from calque.words.text.cleaning import steps

            for name, value in {**steps(self.clean), "clean": ()}.items():
                object.__setattr__(self, name, value)
        made = self.cleaning()
        for name in ("fold", "drop", "keep_lang", "tokenizer", "ignore"):
            object.__setattr__(self, name, getattr(made, name))
        if self.stop_words:
            from calque.words.text.languages import stop_word_lists

            object.__setattr__(self, "stop_words", stop_word_lists(self.stop_words))
        self._check_columns()
        self._check_holdout()

    def _take_in_other_spellings(self) -> None:
        """``cer`` and yes are code points, no and nothing compare none; tokenizers have more than one name."""
        known = {True: "code-points", False: "none"}
        unit = known[self.characters] if isinstance(self.characters, bool) else self.characters
        if self.cer is True:
            unit = "code-points" if unit == "none" else unit
            object.__setattr__(self, "cer", False)
        object.__setattr__(self, "characters", unit)
        if isinstance(self.tokenizer, str) and self.tokenizer != "whitespace":
            from calque.words.text.tokenizers import tokenizer_name

            object.__setattr__(self, "tokenizer", tokenizer_name(self.tokenizer))

    def _check_columns(self) -> None:
        if not self.table_columns:
            return
        known = [name for name in self.table_columns if name in ("docid", "wordid", "word")]
        if "word" not in known or len(set(known)) < len(known):
            raise ConfigError("columns must name word once, and may name docid and wordid, as in docid,wordid,word")

    def _take_in_files(self) -> None:
        """Keep the content of lists, lattices and page texts, and not where they stood."""
        from calque.words import attached

        if self.build_lattice and not (isinstance(self.lattice, str) and self.lattice.startswith(("none", "built"))):
            raise ConfigError("--lattice and --build-lattice both give a lattice; use one")
        if self.build_lattice and self.lattice == "none":
            object.__setattr__(self, "lattice", "built")
        built = isinstance(self.lattice, str) and self.lattice.startswith("built")
        object.__setattr__(self, "build_lattice", built)
        if not built and self.lattice not in ("none", "given"):
            object.__setattr__(self, "lattice", attached.lattice_text(self.lattice, self.source_separator))
        if self.page_text != "":
            object.__setattr__(self, "page_text", attached.page_text(self.page_text, self.reading(truth=False)))
        object.__setattr__(self, "substitute", attached.substitutions(self.substitute))
        if self.holdout is not None:
            object.__setattr__(self, "holdout", tuple(sorted(set(attached.listed(self.holdout)))))

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

    def reading(self, *, truth: bool) -> TextReading:
        """How the files of one side are read."""
        from calque.readers.text.text_files import Stems, TextReading

        ours, mark, theirs = self.stem_pattern.partition("=")
        return TextReading(
            format=self.from_truth if truth else self.from_pred,
            level=self.level,
            columns=self.table_columns,
            stems=Stems(ours if truth or not mark else theirs),
            truth=truth,
            alto_hyphens=self.alto_hyphens,
            lines=self.separators == "lines",
            unordered=self.page_regions == "all",
        )

    def cleaning(self) -> Cleaning:
        """The clean-up of the truth; of its steps, those for characters are applied to predictions too."""
        from calque.words.text.cleaning import Cleaning

        names = Cleaning.__dataclass_fields__
        return Cleaning(**{name: getattr(self, name) for name in names})

    def signature(self) -> Signature:
        """Every setting that can change a number, with the rule of the hold-out as one."""
        plain = super().signature()
        rule = self._holdout_rule()
        last = {
            "keep-unknown": spell(self.keep_unknown),
            "holdout": rule,
            "lattice": plain.settings["lattice"],
            "page-text": plain.settings["page-text"],
        }
        quiet = {"holdout-fraction", "holdout-fold", *(name for name, value in last.items() if value in ("yes", "all", "none"))}
        quiet |= {"seed"} if "seed" in rule else set()
        shown = {key: value for key, value in plain.settings.items() if key not in last}
        return Signature(self.name, {**shown, **last}, (plain.quiet - {"holdout"}) | quiet)

    def spelled(self, name: str) -> str:
        """A setting's value in the signature: long content by its digest."""
        value = getattr(self, name)
        if name == "substitute" and value:
            from calque.base.digests import digest

            return f"{len(value)} pair{'' if len(value) == 1 else 's'} ({digest(repr(value))})"
        if name not in ("lattice", "page_text") or not value.startswith("{"):
            return super().spelled(name)
        from calque.base.digests import digest

        return f"given ({digest(value)})"

    def _holdout_rule(self) -> str:
        from calque.words.holdout import digest

        if self.holdout is not None:
            return f"{len(self.holdout)} listed ({digest(self.holdout)})"
        if self.holdout_fraction is not None:
            return f"{self.holdout_fraction!r} by seed {self.seed}"
        return f"fold {self.holdout_fold} by seed {self.seed}" if self.holdout_fold else "all"

    @renamed_arguments(expected="truth", found="predictions")
    def batches(self, truth: Any, predictions: Any, *, jobs: int = 1) -> Iterator[tuple[Corpus, Corpus]]:  # noqa: ARG002  # a text a time
        """The two sides as words, cleaned and split alike, with lattices where they are asked for."""
        from calque.words.reading import read_sides

        yield read_sides(self, truth, predictions)

    def worth_processes(self) -> int:
        """Lattices and characters are Python's own work; words are aligned by threads of a kernel."""
        return 200 if self.lattice != "none" or self.characters != "none" else 0

    @renamed_arguments(expected="truth", found="predictions")
    def score(self, truth: WordCorpus, predictions: WordCorpus, *, jobs: int = 1) -> Ledger:
        """The outcome of every word."""
        from calque.words.scoring import score

        return score(self, truth, predictions, jobs=jobs)

    def issues(self, ledger: Ledger, numbers: Mapping[str, Any], known: tuple[Issue, ...]) -> tuple[Issue, ...]:  # noqa: ARG002  # other tasks need them
        """Report ids of the hold-out list that no document has."""
        from calque.words.scoring import remarks

        return (*known, *remarks(self, ledger))

    def coverage(self, ledger: Ledger) -> DocumentCoverage:
        """Which documents the two sides are about, whether any is held out, and whether any word is there to be found."""
        from calque.words.scoring import coverage

        return coverage(self, ledger)

    @classmethod
    def metric_table(cls) -> MetricTable:
        """The declared metrics."""
        from calque.words.metrics import TABLE

        return TABLE

    def primary(self) -> tuple[str, ...]:
        """Recall, the headline of the protocol."""
        return ("recall",)

    def outcomes(self, ledger: Ledger, *, threshold: float | None = None) -> Table:  # noqa: ARG002  # words match or do not
        """One row for each word of both sides."""
        from calque.words.views import outcomes

        return outcomes(ledger)

    def resampled(self, ledger: Ledger) -> tuple[WeightedMetrics, ...]:
        """Return quick ways to the numbers of weighted documents."""
        from calque.words.metrics import weighted_oracle

        return (*super().resampled(ledger), *(() if self.lattice == "none" else (weighted_oracle(ledger),)))

    def run_outcomes(self, ledger: Ledger) -> RunOutcomes:
        """Return the outcome of each ground-truth item and the score of each document, for comparisons."""
        from calque.words.scoring import run_outcomes

        return run_outcomes(self, ledger)

    def view(self) -> TaskView:
        """Return the functions that show results of this task."""
        from calque.evaluation.view import TaskView
        from calque.words import presentation, report_data

        return TaskView(
            columns=presentation.COLUMNS,
            schema=presentation.result_schema,
            sentence=presentation.sentence,
            sections=presentation.sections,
            brief=presentation.brief,
            rows=presentation.flat,
            slices=presentation.SLICES,
            headline=presentation.headline,
            findings=presentation.findings,
            report_data=partial(report_data.report_data, self),
        )
