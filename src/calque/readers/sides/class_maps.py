"""Class maps at work on a corpus, and what to say when the labels of the two sides do not meet."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from calque.base.columns import Ints
from calque.base.errors import Issue, Severity, closest
from calque.corpus.boxes import BoxCorpus, Flaw
from calque.corpus.class_map import Pairs, target_of

NAMED = 12
"""How many labels a message names."""


def mapped(corpus: BoxCorpus, pairs: Pairs) -> BoxCorpus:
    """The corpus with its labels renamed. Labels that the map does not name keep their names, and are listed in a note."""
    if not pairs:
        return corpus
    targets = [target_of(label, pairs) for label in corpus.labels]
    names = [label if target is None else target for label, target in zip(corpus.labels, targets, strict=True)]
    kept = list(dict.fromkeys(name for name in names if name))
    code = {name: position for position, name in enumerate(kept)}
    # The last entry serves objects without a known label: index -1 stays -1.
    table = np.array([*(code.get(name, -1) for name in names), -1], dtype=np.int32)
    dropped = np.array([*(name == "" for name in names), False], dtype=np.bool_)[corpus.label]
    flaws = corpus.flaws
    if dropped.any():
        flaws = np.zeros(len(corpus), dtype=np.uint8) if flaws is None else flaws.copy()
        # A broken box stays one; all else that is dropped, on unknown pages too, has no label left to be counted under.
        flaws[dropped & (flaws != Flaw.BAD_BOX)] = Flaw.DROPPED
    new = dict(zip(corpus.labels, names, strict=True))
    label_map = {key: new.get(name, name) for key, name in (corpus.label_map or {}).items()}
    return dataclasses.replace(
        corpus,
        labels=tuple(kept),
        label=table[corpus.label],
        label_map=None if corpus.label_map is None else {key: name for key, name in label_map.items() if name},
        flaws=flaws,
        issues=(*corpus.issues, *map_notes(corpus.source, corpus.labels, label_counts(corpus), pairs)),
    )


def label_counts(corpus: BoxCorpus) -> Ints:
    """How many objects each label has."""
    return np.bincount(corpus.label[corpus.label >= 0], minlength=len(corpus.labels))


def map_notes(file: str, labels: Sequence[str], counts: Ints, pairs: Pairs) -> Iterable[Issue]:
    """What there is to say of a class map and the labels of a file: which it does not name, drops, or names in vain."""
    if not pairs:
        return
    counted = [(label, target_of(label, pairs), count) for label, count in zip(labels, counts.tolist(), strict=True)]
    unmapped = [(label, count) for label, target, count in counted if target is None]
    dropped = [(label, count) for label, target, count in counted if target == ""]
    if unmapped:
        as_is, them = ("it is", "it") if len(unmapped) == 1 else ("they are", "them")
        text = f"{_labels(len(unmapped))} not in the class map and kept as {as_is}: {_listed(unmapped)}"
        help = f"add {them} to the map, or drop {them}"
        yield Issue("label-not-mapped", text, file, help=help, severity=Severity.NOTE)
    if dropped:
        text = f"{_labels(len(dropped))} dropped by the class map: {_listed(dropped)}"
        yield Issue("label-dropped", text, file, severity=Severity.NOTE)
    unused = [label for label, _ in pairs if "*" not in label and label not in labels]
    if unused:
        text = f"the class map names {_some([repr(label) for label in unused])}, which the file does not have"
        close = _nearest(unused[0], labels)
        help = f"did you mean {close!r}?" if close else ""
        yield Issue("label-unused", text, file, help=help, severity=Severity.NOTE)


def _labels(count: int) -> str:
    return "1 label is" if count == 1 else f"{count} labels are"


def _listed(counted: Sequence[tuple[str, int]]) -> str:
    return _some([f"{label!r} ({count:,})" for label, count in sorted(counted, key=lambda item: (-item[1], item[0]))])


def _some(parts: Sequence[str]) -> str:
    more = f" and {len(parts) - NAMED:,} more" if len(parts) > NAMED else ""
    return ", ".join(parts[:NAMED]) + more


def label_notes(truth: Iterable[str], found: Iterable[str], file: str) -> tuple[Issue, ...]:
    """A note when the two sides have no label in common, or one side has labels that look like the other's."""
    mine, theirs = set(truth), set(found)
    if not mine or not theirs or mine == theirs:
        return ()
    if not mine & theirs:
        text = (
            f"the two sides have no label in common: truth has {_some(sorted(map(repr, mine)))}; "
            f"predictions have {_some(sorted(map(repr, theirs)))}"
        )
        return (Issue("labels-do-not-meet", text, file, help=proposal(mine, theirs), severity=Severity.NOTE),)
    only = sorted(theirs - mine)
    if not only:
        return ()
    text = f"labels that only the predictions have: {_some(list(map(repr, only)))}"
    guess = [(label, close) for label in only if (close := _nearest(label, sorted(mine - theirs)))]
    help = f"did you mean {', '.join(f'{a!r} → {b!r}' for a, b in guess[:3])}? write a class map" if guess else ""
    return (Issue("label-one-sided", text, file, help=help, severity=Severity.NOTE),)


def proposal(mine: Iterable[str], theirs: Iterable[str]) -> str:
    """What a class map for the predictions could begin with."""
    known = sorted(mine)
    lines = [f"{label}: {_nearest(label, known) or known[0] + '?'}" for label in sorted(theirs)[:4]]
    return "write a class map and pass --class-map-pred FILE: { " + ", ".join(lines) + ", ... }"


def _plain(label: str) -> str:
    return "".join(letter for letter in label.casefold() if letter.isalnum())


def _nearest(label: str, known: Sequence[str]) -> str | None:
    """Return the label that is spelled most like this one, case and punctuation aside."""
    return next(iter(closest(label, reversed(known), key=_plain)), None)
