"""Both sides of a comparison, read and turned into words the same way."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from calque.base.errors import Issue, Severity, all_read
from calque.corpus.boxes import UnitId
from calque.corpus.words import Lattice, TextCorpus, WordCorpus
from calque.readers.text.texts import is_single, read_texts
from calque.words.attached import lattices_of, page_texts
from calque.words.lattice.lattices import build_lattice
from calque.words.text.cleaning import Cleaning
from calque.words.text.prepare import PageWords, tokens_of, words_of

if TYPE_CHECKING:
    from calque.words.task import Words


def read_sides(task: Words, expected: Any, found: Any) -> tuple[WordCorpus, WordCorpus]:
    """Truth and one prediction, with lattices beside it where the task asks for them."""
    truth, (prediction,) = read_all(task, expected, [found])
    if prediction.lattices:
        return truth, prediction
    name = os.fspath(found) if isinstance(found, str | os.PathLike) else prediction.model or "prediction"
    return truth, with_lattices(task, prediction, lattices_for(task, truth, {name: prediction}))


def read_all(task: Words, expected: Any, found: Sequence[Any]) -> tuple[WordCorpus, list[WordCorpus]]:
    """Truth and several predictions; every issue of all of them in one error.

    One truth serves all: what the page shows, for ``min_block_recall``, is the task's page text or all predictions together.
    """
    truth, *others = _read(expected, found, task)
    others = [_renamed(task, truth, expected, other, source) for other, source in zip(others, found, strict=True)]
    cleaning = task.cleaning().of_characters()
    texts = task.characters != "none" and (task.tokenizer not in ("whitespace", "none") or task.separators == "lines")
    words = [words_of(other, cleaning, texts=texts) for other in others]
    shown = None
    if task.min_block_recall is not None:
        shown = _page_words([words_of(_page_texts(task, truth, expected), cleaning)] if task.page_text else words)
    made = words_of(truth, task.cleaning(), shown, texts=texts)
    return made, words


def _page_texts(task: Words, truth: TextCorpus | WordCorpus, expected: Any) -> TextCorpus:
    units = truth.units()
    return page_texts(task.page_text, units[0] if is_single(expected, task.reading(truth=True)) and len(units) == 1 else None)


def _read(expected: Any, found: Sequence[Any], task: Words) -> list[TextCorpus | WordCorpus]:
    sources = [(expected, True), *((source, False) for source in found)]
    return all_read(partial(read_texts, source, task.reading(truth=is_truth)) for source, is_truth in sources)


def _renamed(
    task: Words, truth: TextCorpus | WordCorpus, expected: Any, other: TextCorpus | WordCorpus, source: Any
) -> TextCorpus | WordCorpus:
    """Two single files are two readings of one document, whatever they are called."""
    single = is_single(expected, task.reading(truth=True)) and is_single(source, task.reading(truth=False))
    if not single or len(truth.units()) != 1 or len(other.units()) != 1:
        return other
    if isinstance(other, WordCorpus):
        return replace(other, documents=truth.units())
    return replace(other, texts={truth.units()[0]: blocks for blocks in other.texts.values()})


def _page_words(corpora: Sequence[WordCorpus]) -> PageWords:
    """Everything that is read on a document's pages, one reading after the other."""
    shown: dict[UnitId, list[str]] = {}
    for corpus in corpora:
        for unit, words in corpus.by_document():
            shown.setdefault(unit, []).extend(words)
    return shown


def lattices_for(task: Words, truth: WordCorpus, predictions: Mapping[str, WordCorpus]) -> dict[UnitId, Lattice]:
    """The lattices that the task asks for: its own, or made from all predictions; none where they come with the data."""
    if task.lattice.startswith("built"):
        return built_lattices(predictions)
    if task.lattice in ("none", "given"):
        return {}
    return lattices_of(task.lattice, truth.documents[0] if len(truth.documents) == 1 else None)


def with_lattices(task: Words, found: WordCorpus, lattices: Mapping[UnitId, Lattice]) -> WordCorpus:
    """The predictions with lattices beside them, their words cleaned and split like all others."""
    if not lattices:
        return found
    cleaning = replace(task.cleaning().of_characters(), dehyphenate="none")
    made = {unit: _cleaned(lattice, cleaning) for unit, lattice in lattices.items()}
    return replace(found, lattices=made, issues=(*found.issues, *_gaps(made)))


def _gaps(lattices: Mapping[UnitId, Lattice]) -> list[Issue]:
    """A note when no source of a lattice has a candidate in every slot: what it reads alone then leaves places out."""
    partly = sum(
        bool(lattice.sources) and lattice.slots is not None and not any(map(lattice.covered_by, lattice.sources))
        for lattice in lattices.values()
    )
    text = "in a lattice no source has a candidate in every slot: alone, each leaves places out"
    help = "check --source-separator, if a candidate of several sources was taken for one of its own"
    return [Issue("source-gaps", text, help=help, severity=Severity.NOTE, count=partly)] if partly else []


def _cleaned(lattice: Lattice, cleaning: Cleaning) -> Lattice:
    def words(given: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(token for word in given for token in tokens_of(word, cleaning))

    return replace(lattice, edges=tuple(replace(edge, words=words(edge.words)) for edge in lattice.edges))


def built_lattices(predictions: Mapping[str, WordCorpus]) -> dict[UnitId, Lattice]:
    """For each document the lattice of what all predictions read; one that a prediction lacks is empty there."""
    read = {name: dict(corpus.by_document()) for name, corpus in predictions.items()}
    units = {unit for words in read.values() for unit in words}
    return {unit: build_lattice({name: words.get(unit, []) for name, words in read.items()}) for unit in units}
