"""What the numbers of detection say: one sentence with the strength and the worst weakness, and what to look at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calque.core.presentation.pictured import Finding, Phrase, Sentence
from calque.core.presentation.wording import counted, joined, percent

STRONG, WEAK = 0.9, 0.8
"""From where on a share is a strength, and below which it is a weakness."""
FEW = 3
"""So many classes are named; more are objects."""
GAIN = 0.005
"""What another score threshold must add to F1 to be worth a line."""
CUT = 0.1
"""The share of crops that must lose something at one side to be worth a line."""


def headline(numbers: Mapping[str, Any]) -> Sentence:
    """How much is found, then the worst of what is wrong: false alarms, loose or tight crops, or a stricter threshold."""
    text, block = next(iter(numbers["metrics"].items()))
    found = block["micro"]
    truths, predictions = found["tp"] + found["fn"], found["tp"] + found["fp"]
    if not truths or not predictions:
        return _nothing(text, truths, predictions)
    things = nouns(block)
    recall = _phrase(f"recall@{text}", found["recall"])
    if not found["tp"]:
        wrong = Phrase(f"fp@{text}", f"{predictions:,}", "bad")
        return ["Finds ", recall, f" of {things}: all ", wrong, " predictions are wrong."]
    return ["Finds ", recall, f" of {things}", *_weakness(text, found)]


def _nothing(text: str, truths: int, predictions: int) -> Sentence:
    missed, wrong = Phrase(f"fn@{text}", f"{truths:,}"), Phrase(f"fp@{text}", f"{predictions:,}")
    if truths:
        return ["Finds none of ", missed, f" object{'' if truths == 1 else 's'}: there are no predictions."]
    if not predictions:
        return ["There is nothing to evaluate: ", missed, " truths and ", wrong, " predictions count."]
    return ["There is nothing to find, and ", wrong, f" prediction{' is' if predictions == 1 else 's are'} wrong."]


def nouns(block: Mapping[str, Any]) -> str:
    """What is looked for: the classes that have truths where they are few, else objects.

    >>> nouns({"per_class": {"Figure": {"tp": 1, "fn": 0}, "Table": {"tp": 0, "fn": 1}}})
    'figures and tables'
    """
    there = [name for name, values in block["per_class"].items() if values["tp"] + values["fn"]]
    plain = all(name.isalpha() and name.isascii() for name in there)
    return joined([f"{name.lower()}s" for name in there]) if 0 < len(there) <= FEW and plain else "objects"


def _phrase(measure: str, share: float) -> Phrase:
    return Phrase(measure, percent(share), "good" if share >= STRONG else "bad" if share < WEAK else "")


def _weakness(text: str, found: Mapping[str, Any]) -> Sentence:
    """The worst of precision, coverage and purity, when it is below what counts as strong."""
    told = {
        "precision": lambda phrase: ["only ", phrase, " of its predictions are right"],
        "mean_coverage": lambda phrase: ["its crops hold only ", phrase, " of each"],
        "mean_purity": lambda phrase: ["only ", phrase, " of its crops is theirs"],
    }
    worst = min(told, key=lambda name: found[name])
    if found[worst] >= STRONG:
        phrase = _phrase(f"precision@{text}", found["precision"])
        return [", and ", phrase, " of its predictions are right."]
    joint = ", but " if found["recall"] >= found[worst] else ", and "
    return [joint, *told[worst](_phrase(f"{worst}@{text}", found[worst])), "."]


def findings(numbers: Mapping[str, Any]) -> list[Finding]:
    """Up to five things to look at, each with the filters that show them."""
    block = next(iter(numbers["metrics"].values()))
    found = block["micro"]
    lines = [*_missed(block), *_false_alarms(block), *_cut(numbers.get("crops")), *_scores(numbers.get("sweep"), found)]
    return [*lines, *_weakest(block)][:5]


def _missed(block: Mapping[str, Any]) -> list[Finding]:
    found = block["micro"]
    if not found["fn"]:
        return []
    whole = f"{found['tp'] + found['fn']:,} {nouns(block)}"
    return [Finding("fn", f"{found['fn']:,} of {whole} {'is' if found['fn'] == 1 else 'are'} missed", {"outcome": "fn"})]


def _false_alarms(block: Mapping[str, Any]) -> list[Finding]:
    found, empty = block["micro"], block["empty_pages"]
    count = found["fp"]
    if not count:
        return []
    told = (
        f"{count:,} of {counted(found['tp'] + count, 'prediction')} {'is a false alarm' if count == 1 else 'are false alarms'}"
    )
    if empty["fp"]:
        share = "all of them" if empty["fp"] == count else f"{empty['fp']:,} of them"
        told += ", on a page that has none" if count == 1 else f", {share} on pages that have none"
    return [Finding("fp", told, {"outcome": "fp"})]


def _cut(crops: Mapping[str, Any] | None) -> list[Finding]:
    if not crops or not crops["overall"]["pairs"]:
        return []
    cut = crops["overall"]["cut"]
    side = max(("left", "top", "right", "bottom"), key=lambda name: cut[name]["0.1"])
    if cut[side]["0.1"] < CUT:
        return []
    return [Finding("cut", f"{percent(cut[side]['0.1'])} of crops lose more than a tenth at the {side}", {"cut": side})]


def _scores(sweep: Mapping[str, Any] | None, found: Mapping[str, Any]) -> list[Finding]:
    best = sweep["overall"]["best_f1"] if sweep else None
    if not isinstance(best, Mapping) or best["f1"] - (found["f1"] or 0.0) < GAIN:
        return []
    told = f"Keeping only scores from {best['score']:.3g} on would lift F1 from {found['f1']:.3f} to {best['f1']:.3f}"
    return [Finding("score", told, {"score": f"<{best['score']!r}"})]


def _weakest(block: Mapping[str, Any]) -> list[Finding]:
    known = {name: values["f1"] for name, values in block["per_class"].items() if values["f1"] is not None}
    if len(known) < 2:
        return []
    name = min(known, key=lambda label: known[label])
    return [Finding("class", f"Weakest class: {name}, F1 {known[name]:.3f}", {"class": name})]
