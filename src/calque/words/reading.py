"""Both sides of a comparison, read and turned into words the same way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from calque.core.corpus import UnitId
from calque.core.errors import ContractError, Issue, Severity
from calque.core.word_corpus import Lattice, TextCorpus, WordCorpus
from calque.readers.text.texts import is_single, read_texts
from calque.words.cleaning import Cleaning
from calque.words.lattices import build_lattice
from calque.words.prepare import PageWords, tokens_of, words_of

if TYPE_CHECKING:
    from calque.words.task import Words


def read_sides(task: Words, expected: Any, found: Any) -> tuple[WordCorpus, WordCorpus]:
    """Truth and one prediction."""
    truth, predictions = read_all(task, expected, [found])
    return truth, predictions[0]


def read_all(task: Words, expected: Any, found: Sequence[Any], page_text: Any = None) -> tuple[WordCorpus, list[WordCorpus]]:
    """Truth and several predictions; every issue of all of them in one error.

    One truth serves all: what the page shows, for ``min_block_recall``, is ``page_text`` or all predictions together.
    """
    truth, *others = _read([expected, *found, *([] if page_text is None else [page_text])], task)
    others = [_renamed(truth, expected, other, source) for other, source in zip(others, [*found, page_text], strict=False)]
    words = [words_of(other, task.cleaning().of_characters()) for other in others]
    shown = _page_words(words[len(found) :] or words) if task.min_block_recall is not None else None
    made = words_of(truth, task.cleaning(), shown)
    predictions = [_noted(made, corpus) for corpus in words[: len(found)]]
    return made, predictions


def _read(sources: Sequence[Any], task: Words) -> list[TextCorpus | WordCorpus]:
    corpora: list[TextCorpus | WordCorpus] = []
    errors: list[ContractError] = []
    for source in sources:
        try:
            corpora.append(read_texts(source, level=task.level))
        except ContractError as error:
            errors.append(error)
    if errors:
        raise ContractError([issue for error in errors for issue in error.issues], total=sum(error.total for error in errors))
    return corpora


def _renamed(
    truth: TextCorpus | WordCorpus, expected: Any, other: TextCorpus | WordCorpus, source: Any
) -> TextCorpus | WordCorpus:
    """Two single files are two readings of one document, whatever they are called."""
    if not (is_single(expected) and is_single(source) and isinstance(other, TextCorpus)) or len(truth.units()) != 1:
        return other
    return replace(other, texts={truth.units()[0]: blocks for blocks in other.texts.values()})


def _page_words(corpora: Sequence[WordCorpus]) -> PageWords:
    """Everything that is read on a document's pages, one reading after the other."""
    shown: dict[UnitId, list[str]] = {}
    for corpus in corpora:
        for unit, words in corpus.by_document():
            shown.setdefault(unit, []).extend(words)
    return shown


def _noted(truth: WordCorpus, found: WordCorpus) -> WordCorpus:
    """A note when the two sides have no document in common: then the names do not line up."""
    if not truth.documents or not found.documents or set(truth.documents) & set(found.documents):
        return found
    text = f"no document is on both sides: {found.documents[0]!r} here, {truth.documents[0]!r} in {truth.source or 'the truth'}"
    note = Issue("no-common-document", text, found.source, "", "files pair by their stem", Severity.NOTE)
    return replace(found, issues=(*found.issues, note))


def with_lattices(task: Words, found: WordCorpus, lattices: Mapping[UnitId, Lattice]) -> WordCorpus:
    """The predictions with lattices beside them, their words cleaned and split like all others."""
    cleaning = replace(task.cleaning().of_characters(), dehyphenate="none")
    return replace(found, lattices={unit: _cleaned(lattice, cleaning) for unit, lattice in lattices.items()})


def _cleaned(lattice: Lattice, cleaning: Cleaning) -> Lattice:
    def words(given: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(token for word in given for token in tokens_of(word, cleaning))

    return replace(lattice, edges=tuple(replace(edge, words=words(edge.words)) for edge in lattice.edges))


def built_lattices(predictions: Mapping[str, WordCorpus]) -> dict[UnitId, Lattice]:
    """For each document the lattice of what all predictions read; one that a prediction lacks is empty there."""
    read = {name: dict(corpus.by_document()) for name, corpus in predictions.items()}
    units = {unit for words in read.values() for unit in words}
    return {unit: build_lattice({name: words.get(unit, []) for name, words in read.items()}) for unit in units}
