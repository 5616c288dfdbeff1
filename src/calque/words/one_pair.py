"""Compare two texts without files: recall, precision, F1, WER and CER with their counts, and the aligned words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calque.base.short_repr import one_line
from calque.evaluation.evaluator import Evaluator
from calque.evaluation.result import strict_json
from calque.words.task import Words
from calque.words.views import texts_of

DOCUMENT = "document"
COUNTS = ("word_edits", "chars_ref", "chars_pred", "char_edits")


@dataclass(frozen=True)
class Compared:
    """The metrics of two texts, and their words side by side."""

    numbers: Mapping[str, Any]
    truth: tuple[str, ...]
    """The words of the ground truth, after clean-up."""
    predictions: tuple[str, ...]
    """The predicted words, after clean-up."""
    pairs: tuple[tuple[int, int], ...]
    """The places of matched words in ``truth`` and ``predictions``, ascending."""

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value}" for name, value in self.numbers.items())
        return one_line(f"<Compared words: {values}>")

    def __str__(self) -> str:
        return strict_json(self.numbers)

    def __getitem__(self, name: str) -> Any:
        return self.numbers[name]

    @property
    def aligned(self) -> list[tuple[str | None, str | None]]:
        """The words of both sides in order; ``None`` stands where one side has no matching word."""
        rows: list[tuple[str | None, str | None]] = []
        ours = theirs = 0
        for first, second in (*self.pairs, (len(self.truth), len(self.predictions))):
            rows += [(word, None) for word in self.truth[ours:first]]
            rows += [(None, word) for word in self.predictions[theirs:second]]
            rows += [(word, word) for word in self.truth[first : first + 1]]
            ours, theirs = first + 1, second + 1
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as JSON shows them; undefined ones are ``None``."""
        return dict(self.numbers)


def compare(truth: str | Sequence[str], predictions: str | Sequence[str], **settings: Any) -> Compared:
    """Compare two texts and compute every metric of the pair.

    Args:
        truth: The ground truth: a text, or a list of words.
        predictions: What was read: a text, or a list of words.
        settings: Settings of `Words`, such as ``tokenizer="uax29"`` or ``fold=["quotes"]``.

    Returns:
        The metrics of the pair and its aligned words. Index it by name (``"recall"``, ``"precision"``, ``"f1"``, ``"wer"``,
        ``"cer"``; the counts ``"matches"``, ``"n_ref"``, ``"n_pred"``, ``"word_edits"``, ``"chars_ref"``, ``"chars_pred"``,
        ``"char_edits"``), or call ``to_dict()``. ``"wer"`` is ``word_edits / n_ref``, ``"cer"`` is ``char_edits / chars_ref``.

    Raises:
        TypeError: A side is neither a text nor a list of words, or a setting does not exist.
        ConfigError: A setting has an unknown value.

    >>> comparison = compare("the cat sat", "the big cat sot")
    >>> comparison["recall"], comparison["precision"], comparison["wer"], comparison["cer"]
    (0.6666666666666666, 0.5, 0.6666666666666666, 0.45454545454545453)
    >>> comparison.aligned
    [('the', 'the'), (None, 'big'), ('cat', 'cat'), ('sat', None), (None, 'sot')]
    """
    for side, given in (("truth", truth), ("predictions", predictions)):
        listed = isinstance(given, Sequence) and all(isinstance(word, str) for word in given)
        if not isinstance(given, str) and not listed:
            raise TypeError(f"{side} must be a text or a list of words, got {type(given).__name__}")
    task = Words(**{"characters": "code-points", **settings})
    ledger = Evaluator(task).update({DOCUMENT: truth}, {DOCUMENT: predictions}).ledger()
    numbers = task.measure(ledger)["documents"][DOCUMENT]
    documents = ledger.table("documents")
    shown = COUNTS if "cer" in numbers else COUNTS[:1]
    counts = {name: int(documents.array(name)[0]) for name in shown}
    defined = {name: value for name, value in numbers.items() if name != "missing_pred"}
    ours, theirs, pairs = texts_of(ledger, DOCUMENT)
    return Compared(_plain(defined) | counts, tuple(ours), tuple(theirs), tuple(pairs))


def _plain(numbers: Mapping[str, Any]) -> dict[str, Any]:
    from calque.evaluation.measures import Undefined

    return {name: None if isinstance(value, Undefined) else value for name, value in numbers.items()}
