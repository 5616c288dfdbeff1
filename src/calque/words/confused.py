"""What was read for what: words and characters that two sides differ in, and in what way they do."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from calque.base.arguments import check_words, renamed_arguments
from calque.base.text_normalization import FOLDS
from calque.evaluation.ledger import Ledger
from calque.words.alignment import align

LONGEST = 4
"""Words of a gap that still count as one confusion (a word split in two, two joined); longer ones are missed, or extra."""

Gap = tuple[list[str], list[str]]


def gaps(ref: Sequence[str], pred: Sequence[str], pairs: Sequence[tuple[int, int]]) -> Iterator[Gap]:
    """What stands between two matches on each side, where it is not nothing on both.

    >>> list(gaps("a b c".split(), "a x y c z".split(), [(0, 0), (2, 3)]))
    [(['b'], ['x', 'y']), ([], ['z'])]
    """
    i = j = 0
    for end_i, end_j in [*pairs, (len(ref), len(pred))]:
        if i < end_i or j < end_j:
            yield list(ref[i:end_i]), list(pred[j:end_j])
        i, j = end_i + 1, end_j + 1


def word_pairs(gap: Gap) -> Iterator[tuple[str, str]]:
    """What a gap says was read for what; an empty string for words that are missed or extra.

    >>> list(word_pairs((["cat", "sat"], ["cot", "sot"]))), list(word_pairs((["is", "here"], ["ishere"])))
    ([('cat', 'cot'), ('sat', 'sot')], [('is here', 'ishere')])
    """
    ours, theirs = gap
    if len(ours) == len(theirs):
        yield from zip(ours, theirs, strict=True)
    elif ours and theirs and max(len(ours), len(theirs)) <= LONGEST:
        yield " ".join(ours), " ".join(theirs)
    else:
        yield from ((word, "") for word in ours)
        yield from (("", word) for word in theirs)


def character_pairs(ours: str, theirs: str) -> Iterator[tuple[str, str]]:
    """The edits that turn one word into the other, as pairs of characters; an empty string for nothing.

    >>> list(character_pairs("cat", "cots"))
    [('a', 'o'), ('', 's')]
    """
    from rapidfuzz.distance import Levenshtein

    for edit in Levenshtein.editops(ours, theirs):
        gone = ours[edit.src_pos] if edit.tag != "insert" else ""
        yield gone, theirs[edit.dest_pos] if edit.tag != "delete" else ""


@renamed_arguments(ref="truth", pred="predictions")
def confusions(truth: Sequence[str], predictions: Sequence[str]) -> Counter[tuple[str, str]]:
    """Count how often each word of the ground truth was read as another word.

    Args:
        truth: The words of the ground truth, in order.
        predictions: The words that were read, in order.

    Returns:
        The count of each pair of ground-truth text and predicted text. The text is empty on the side that has no word.

    Raises:
        TypeError: A side is one string. Split it into words first, for example with `clean`.

    >>> confusions("the cat sat".split(), "the cot sat".split())
    Counter({('cat', 'cot'): 1})
    """
    check_words("confusions", truth=truth, predictions=predictions)
    return Counter(pair for gap in gaps(truth, predictions, align(truth, predictions).pairs) for pair in word_pairs(gap))


def error_lists(ledger: Ledger, size: int) -> dict[str, Any]:
    """The most frequent confusions of words and of characters, ties in the order of the alphabet.

    Beside them what kinds there are, and how many edits there are in all, so that nothing is left unsaid.
    """
    words: Counter[tuple[str, str]] = Counter()
    missed = extra = 0
    for gap in (gap for piece in ledger.pieces() for gap in _ledger_gaps(piece.ledger)):
        words.update(word_pairs(gap))
        missed, extra = missed + len(gap[0]), extra + len(gap[1])
    characters: Counter[tuple[str, str]] = Counter()
    kinds: Counter[str] = Counter()
    for (ours, theirs), count in words.items():
        kinds[kind_of(ours, theirs)] += count
        if ours and theirs:
            for pair in character_pairs(ours, theirs):
                characters[pair] += count
    ranked = sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
    return {
        "words": _top(words, size),
        "characters": _top(characters, size),
        "kinds": [{"kind": kind, "count": count, "encoding": kind in ENCODINGS} for kind, count in ranked],
        "totals": {
            "words": words.total(),
            "missed_words": missed,
            "extra_words": extra,
            "characters": characters.total(),
            "characters_of_missing_words": sum(len(ours) * count for (ours, theirs), count in words.items() if not theirs),
            "characters_of_extra_words": sum(len(theirs) * count for (ours, theirs), count in words.items() if not ours),
        },
    }


def _translated(table: Mapping[int, str]) -> Callable[[str], str]:
    return lambda text: text.translate(table)


ENCODINGS: dict[str, Callable[[str], str]] = {
    "normal form": lambda text: unicodedata.normalize("NFC", text),
    "e above": lambda text: unicodedata.normalize("NFC", text.replace("\u0364", "\u0308")),
    **{name.replace("_", " "): _translated(table) for name, table in FOLDS.items()},
}
"""Ways to write the same letters; what differs in one of them alone is no misreading."""
_LOOKS: dict[str, Callable[[str], str]] = {
    "case": str.lower,
    "accents": lambda text: "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn"),
    "spaces": lambda text: text.replace(" ", ""),
    "punctuation": lambda text: "".join(c for c in text if unicodedata.category(c)[0] != "P"),
}


def kind_of(ours: str, theirs: str) -> str:
    """What two readings differ in: a way of writing, case, accents, spaces, punctuation, or letters.

    >>> kind_of("ſein", "sein"), kind_of("is here", "ishere"), kind_of("cat", "cot"), kind_of("cat", "")
    ('long s', 'spaces', 'letters', 'missing')
    """
    if not ours or not theirs:
        return "missing" if ours else "extra"
    for kind, plain in (*ENCODINGS.items(), *_LOOKS.items()):
        if plain(ours) == plain(theirs):
            return kind
    mine, other = ours, theirs
    for plain in ENCODINGS.values():
        mine, other = plain(mine), plain(other)
    return "several ways of writing" if mine == other else "letters"


def _ledger_gaps(ledger: Ledger) -> Iterator[Gap]:
    vocabulary = ledger.names["word"]
    truth, found = ledger.table("truth"), ledger.table("found")
    ours, theirs = ledger.offsets("truth").tolist(), ledger.offsets("found").tolist()
    for row in range(len(ledger.units)):
        mine, other = slice(ours[row], ours[row + 1]), slice(theirs[row], theirs[row + 1])
        ref = [vocabulary[code] for code in truth.array("word")[mine].tolist()]
        pred = [vocabulary[code] for code in found.array("word")[other].tolist()]
        pairs = [(i, j) for i, j in enumerate(truth.array("match")[mine].tolist()) if j >= 0]
        yield from gaps(ref, pred, pairs)


def _top(counted: Counter[tuple[str, str]], size: int) -> list[dict[str, Any]]:
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return [{"truth": ours, "predicted": theirs, "count": count} for (ours, theirs), count in ranked[:size]]
