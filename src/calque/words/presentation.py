"""Word numbers for people and for other tools: tables, two texts side by side, and the JSON Schema of a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from calque.base.wording import counted, laid_over, percent
from calque.evaluation.presentation.report_data import Finding, Phrase, Sentence
from calque.evaluation.presentation.result_schema import (
    GATE,
    TEXT,
    Schema,
    map_of,
    object_of,
)
from calque.evaluation.presentation.sections import Section, pad, printable, width
from calque.evaluation.slices import SliceView
from calque.words.metrics import TABLE

TITLES = {
    "recall": "recall", "precision": "precision", "f1": "F1", "naive_recall": "naive", "bag_recall": "bag recall",
    "bag_precision": "bag precision", "wer": "WER", "cer": "CER", "content_recall": "content recall",
}  # fmt: skip
COLUMNS = {
    "scope": "All words of all documents together (micro), or the mean of the documents' numbers (macro).",
    "naive": "Naive recall: the share of true words with the same word at the same place.",
    "document": "The document.",
    "prediction": "The prediction that was evaluated.",
    "page": "The page of a document.",
    "region": "The kind of block that the true words stand in.",
    "true words": "How many words the truth has.",
    "predicted": "How many words were predicted; among confusions, what was read.",
    "matches": "How many words the longest common subsequence of truth and prediction has.",
    "path": "The best path through the lattice, or what one source reads alone.",
    "step": "A step of the clean-up of the truth.",
    "times": "How often the step took something out.",
    "words or characters": "How much the step took out.",
    "truth": "What the truth has.",
    "count": "How often.",
    "source": "Who read a candidate of the lattice.",
    "taken": "Slots with a choice in which the best path takes what the source read.",
    "only it": "Slots in which the best path takes what no other source read.",
    "gain": "Words that match only because of what this source alone read.",
    "word": "A word of the truth.",
    "kind": "What a confusion differs in: a way of writing the same letters, case, accents, spaces, punctuation, letters.",
    "documents": "How many documents are evaluated.",
    "without prediction": "Documents that the prediction lacks; all words there count as missed.",
    "ignored words": "Predicted words of documents outside the test.",
    "slot": "The place in the lattice, counted from 0.",
    "best path": "What the best path takes there.",
    "instead of": "What else was read there, and by whom.",
}
LISTED = 10
"""How many documents the table shows; the JSON has them all."""
WIDEST = 60
"""Terminal cells of one column of the diff."""
NARROWEST, BETWEEN = 10, 4
"""Terminal cells that a column keeps on any terminal, and those between the two."""


def sentence(numbers: Mapping[str, Any]) -> str:
    """How many of the true words were read in order, and how many of those that were read are right."""
    counts, micro = numbers["counts"], numbers["micro"]
    words, read, matches = counts["words"], counts["predicted_words"], counts["matches"]
    if not words:
        return f"There is nothing to read: the truth has no words, and {counted(read, 'word')} {_were(read)} predicted."
    if not matches:
        none = "not even the only word" if words == 1 else f"none of {words:,} words"
        return f"Reads {none} right, with {counted(read, 'predicted word')}."
    whole = "the only word" if words == 1 else f"all {words:,} words in order"
    found = whole if matches == words else f"{percent(matches / words)} of {words:,} words in order"
    extra = "nothing else" if matches == read else f"{counted(read - matches, 'word')} that {_were(read - matches)} not there"
    rate = "" if micro["wer"] is None else f" (WER {micro['wer']:.4f})"
    return f"Reads {found}, and {extra}{rate}."


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def brief(numbers: Mapping[str, Any]) -> list[Section]:
    """All words together, and the mean of documents."""
    return [replace(_totals(numbers), title=laid_over("Words", numbers))]


SLICES = SliceView(("micro", "macro", "counts"), ("micro",), TITLES)
"""What a slice shows."""


def sections(numbers: Mapping[str, Any]) -> list[Section]:
    """The sections of a result's JSON form."""
    shown = [_overview(numbers), _totals(numbers), _documents(numbers)]
    for make, key in ((_pages, "pages"), (_regions, "regions"), (_oracle, "oracle"), (_cleanup, "cleanup")):
        if numbers.get(key):
            shown.append(make(numbers[key]))
    shown += [*(_story(numbers["oracle"]) if numbers.get("oracle") else []), *errors_of(numbers.get("errors") or {})]
    shown += SLICES.sections(numbers)
    return [section for section in shown if section.rows or section.notes]


def _overview(numbers: Mapping[str, Any]) -> Section:
    counts = numbers["counts"]
    words = f"{counted(counts['words'], 'true word')}, {counts['predicted_words']:,} predicted"
    notes = [f"{counted(counts['documents'], 'document')}, {words}"]
    if counts["missing_predictions"]:
        notes.append(
            f"without prediction: {counted(counts['missing_predictions'], 'document')}; all words there count as missed"
        )
    if counts["listed_without_truth"]:
        notes.append(f"held out but not in the truth: {counted(counts['listed_without_truth'], 'document')}")
    if counts["ignored_predictions"]:
        ignored = counted(counts["ignored_predictions"], "document")
        notes.append(f"ignored: {ignored} outside the test, {counted(counts['ignored_words'], 'predicted word')}")
    return Section(title=laid_over("Words", numbers), notes=notes)


def _totals(numbers: Mapping[str, Any]) -> Section:
    names = list(numbers["micro"])
    rows = [(label, *(numbers[scope][name] for name in names)) for scope, label in SCOPES.items()]
    return Section(title="", head=("scope", *(TITLES[name] for name in names)), rows=rows)


SCOPES = {"micro": "all words (micro)", "macro": "mean of documents"}


def _documents(numbers: Mapping[str, Any]) -> Section:
    documents = sorted(numbers["documents"].items(), key=lambda item: (_lowest_first(item[1]["recall"]), str(item[0])))
    rows = [
        (str(unit), block["n_ref"], block["n_pred"], block["matches"], block["recall"], block["precision"])
        for unit, block in documents[:LISTED]
    ]
    more = len(documents) - LISTED
    notes = [f"and {counted(more, 'more document')}"] if more > 0 else []
    head = ("document", "true words", "predicted", "matches", "recall", "precision")
    return Section(title="Documents, lowest recall first", head=head, rows=rows, notes=notes)


def _lowest_first(value: Any) -> tuple[bool, float]:
    """What has no value comes last."""
    return (False, value) if isinstance(value, int | float) else (True, 0.0)


def _pages(pages: Mapping[Any, Mapping[str, Any]]) -> Section:
    listed = [(f"{unit}, page {page}", block) for unit, blocks in pages.items() for page, block in blocks.items()]
    listed.sort(key=lambda item: _lowest_first(item[1]["recall"]))
    rows = [(label, block["n_ref"], block["matches"], block["recall"]) for label, block in listed[:LISTED]]
    return Section(title="Pages, lowest recall first", head=("page", "true words", "matches", "recall"), rows=rows)


def _regions(regions: Mapping[str, Mapping[str, Any]]) -> Section:
    rows = [(name, block["n_ref"], block["matches"], block["recall"]) for name, block in regions.items()]
    return Section(title="Kinds of blocks", head=("region", "true words", "matches", "recall"), rows=rows)


def _oracle(oracle: Mapping[str, Any]) -> Section:
    rows: list[Sequence[Any]] = [("best path (oracle)", oracle["recall"])]
    rows += [(f"{name} alone", value) for name, value in oracle["sources"].items()]
    notes = [
        f"{oracle['slots']:,} slots, 10^{oracle['log10_paths']:.1f} paths",
        f"no path can have more than {oracle['flat_bound']:,} matches",
    ]
    if isinstance(oracle["repairable"], float):
        notes.append(f"choosing well would repair {percent(oracle['repairable'])} of the errors of the best source")
    if oracle["missing_lattices"]:
        notes.append(f"without lattice: {counted(oracle['missing_lattices'], 'document')}; all words there count as missed")
    return Section(title="Lattice", head=("path", "recall"), rows=rows, notes=notes)


def _story(oracle: Mapping[str, Any]) -> list[Section]:
    """Who the best path owes its words to, and which words nobody read."""
    shown = []
    if oracle["taken"]:
        rows = [(name, block["slots"], block["alone"], block["gain"]) for name, block in oracle["taken"].items()]
        shown.append(Section(title="What the best path takes", head=("source", "taken", "only it", "gain"), rows=rows))
    lost = oracle["irreducible"]
    if lost["words"]:
        listed = lost.get("listed", [])
        shown.append(
            Section(
                title=f"In no candidate: {counted(lost['words'], 'true word')}",
                head=("word", "count") if listed else (),
                rows=[(entry["word"], entry["count"]) for entry in listed[:LISTED]],
                notes=[] if len(listed) <= LISTED else [f"and {len(listed) - LISTED:,} more in the JSON"],
            )
        )
    return shown


def _cleanup(cleanup: Mapping[str, Mapping[str, int]]) -> Section:
    rows = [(step, block["times"], block["amount"]) for step, block in cleanup.items()]
    return Section(title="Clean-up of the truth", head=("step", "times", "words or characters"), rows=rows)


def errors_of(errors: Mapping[str, Any]) -> list[Section]:
    """The most frequent confusions, what kinds they are of, and how many are not listed."""
    if not errors:
        return []
    totals = errors["totals"]
    shown = []
    for kind in ("words", "characters"):
        rows = [(_shown(entry["truth"]), _shown(entry["predicted"]), entry["count"]) for entry in errors[kind]]
        rest = totals[kind] - sum(count for *_, count in rows)
        notes = [f"and {rest:,} more, each as rare as the last or rarer"] if rest else []
        shown.append(
            Section(title=f"Most frequent confusions of {kind}", head=("truth", "predicted", "count"), rows=rows, notes=notes)
        )
    if errors["kinds"]:
        same = sum(entry["count"] for entry in errors["kinds"] if entry["encoding"])
        notes = [f"{same:,} of {totals['words']:,} are the same letters, written in another way"] if same else []
        counts = [(entry["kind"], entry["count"]) for entry in errors["kinds"]]
        shown.append(Section(title="Kinds of confusions", head=("kind", "count"), rows=counts, notes=notes))
    return shown


def _shown(text: str) -> str:
    return {"": "(nothing)", " ": "(space)"}.get(text, text)


def flat(numbers: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row for each total, document, page and kind of block, with the JSON's own names; then lattice and confusions."""
    names = list(numbers["micro"])
    rows = [{"scope": scope, "document": "", **{name: numbers[scope][name] for name in names}} for scope in SCOPES]
    rows[0] |= {"n_ref": numbers["counts"]["words"], "n_pred": numbers["counts"]["predicted_words"]}
    rows[0] |= {key: value for key, value in numbers["counts"].items() if key not in ("words", "predicted_words")}
    sizes = ("n_ref", "n_pred", "matches")
    rows += [
        {"scope": "document", "document": unit, **{name: block[name] for name in (*names, *sizes)}}
        for unit, block in numbers["documents"].items()
    ]
    rows += [
        {"scope": "page", "document": unit, "part": page, **{name: block[name] for name in ("recall", "n_ref", "matches")}}
        for unit, pages in numbers["pages"].items()
        for page, block in pages.items()
    ]
    rows += [
        {"scope": "region", "document": "", "part": region, **{name: block[name] for name in ("recall", "n_ref", "matches")}}
        for region, block in numbers["regions"].items()
    ]
    return [*rows, *_flat_oracle(numbers.get("oracle")), *_flat_errors(numbers.get("errors") or {})]


def _flat_oracle(oracle: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    if not isinstance(oracle, Mapping):
        return []
    told = {name: oracle[name] for name in ("recall", "precision", "n_ref", "matches", "repairable")}
    return [
        {"scope": "oracle", "document": "", **told},
        *({"scope": "source", "document": "", "part": name, "recall": value} for name, value in oracle["sources"].items()),
    ]


def _flat_errors(errors: Mapping[str, Any]) -> list[dict[str, Any]]:
    listed = [
        {"scope": f"confusion of {kind}", "document": "", **entry}
        for kind in ("words", "characters")
        for entry in errors.get(kind, ())
    ]
    kinds = errors.get("kinds", ())
    return [
        *listed,
        *({"scope": "kind of confusion", "document": "", "part": each["kind"], "count": each["count"]} for each in kinds),
    ]


def side_by_side(
    ref: Sequence[str],
    pred: Sequence[str],
    pairs: Sequence[tuple[int, int]],
    *,
    columns: int | None = None,
    context: int | None = None,
) -> Iterator[str]:
    r"""Two texts in two columns: shared words together, what differs marked with ``-``, ``+`` or ``|`` between them.

    ``columns`` is how wide the terminal is. With ``context``, only so many shared lines before and after a difference are
    shown.

    >>> print(*side_by_side("a b c".split(), "a x c d".split(), [(0, 0), (2, 2)]), sep="\n")
    a    a
    b  | x
    c    c
       + d
    """
    widest = WIDEST if columns is None else max(NARROWEST, min(WIDEST, (columns - BETWEEN) // 2))
    rows = list(_diff_rows(ref, pred, pairs, widest))
    size = min(widest, max((width(ours) for ours, _, _ in rows), default=0))
    for ours, mark, theirs in rows if context is None else _differing(rows, context):
        yield f"{pad(ours, size, left=True)}  {mark} {theirs}".rstrip()


DiffRow = tuple[str, str, str]


def _differing(rows: Sequence[DiffRow], context: int) -> Iterator[DiffRow]:
    """Rows that differ and those around them; a row of dots stands for what is left out."""
    near = {
        place
        for centre, (_, mark, _) in enumerate(rows)
        if mark != " "
        for place in range(centre - context, centre + context + 1)
    }
    gap = False
    for place, row in enumerate(rows):
        if place in near:
            yield row
        elif not gap:
            yield "…", " ", "…"
        gap = place not in near


def _diff_rows(ref: Sequence[str], pred: Sequence[str], pairs: Sequence[tuple[int, int]], widest: int) -> Iterator[DiffRow]:
    shared: list[str] = []
    i = j = 0
    for end_i, end_j in [*pairs, (len(ref), len(pred))]:
        if i < end_i or j < end_j:
            yield from _same_rows(shared, widest)
            shared = []
            yield from _gap_rows(ref[i:end_i], pred[j:end_j], widest)
        if end_i < len(ref) and end_j < len(pred):
            shared.append(ref[end_i])
        i, j = end_i + 1, end_j + 1
    yield from _same_rows(shared, widest)


def _same_rows(words: Sequence[str], widest: int) -> Iterator[DiffRow]:
    for line in _wrapped(words, widest):
        yield line, " ", line


def _gap_rows(ours: Sequence[str], theirs: Sequence[str], widest: int) -> Iterator[DiffRow]:
    left, right = _wrapped(ours, widest), _wrapped(theirs, widest)
    mark = "|" if left and right else "-" if left else "+"
    for row in range(max(len(left), len(right))):
        yield left[row] if row < len(left) else "", mark, right[row] if row < len(right) else ""


def _wrapped(words: Sequence[str], widest: int) -> list[str]:
    """Words in lines of at most so many cells; a longer word has a line of its own."""
    lines: list[str] = []
    size = widest
    for word in map(printable, words):
        space = width(word) + 1
        if size + space > widest:
            lines.append(word)
            size = space - 1
        else:
            lines[-1] += f" {word}"
            size += space
    return lines


def result_schema() -> Schema:
    """The schema of what ``calque words --format json`` prints: numbers, or with several predictions ``runs`` of them."""
    single = SLICES.added_to(TABLE.schema())
    head = ("task", "version", "signature", "settings")
    own = {key: value for key, value in single["properties"].items() if key not in ("task", "version")}
    run = {"type": "object", "properties": own, "required": [key for key in single["required"] if key in own]}
    beside = {"oracle": single["properties"]["oracle"], "gate": GATE, "undefined": map_of(TEXT)}
    runs = object_of({key: single["properties"][key] for key in head} | {"runs": map_of(run)}, beside)
    about = {key: single.pop(key) for key in ("$schema", "title")}
    return {**about, "if": {"required": ["runs"]}, "then": runs, "else": single}


STRONG, WEAK = 0.9, 0.8
"""From where on a share is a strength, and below which it is a weakness."""


def headline(numbers: Mapping[str, Any]) -> Sentence:
    """How many of the true words were read in order, and how many of those that were read are there."""
    counts, micro = numbers["counts"], numbers["micro"]
    if not counts["words"]:
        return [sentence(numbers)]
    recall = _phrase("recall", micro["recall"])
    opening: list[str | Phrase] = ["Reads ", recall, f" of {counted(counts['words'], 'word')} in order"]
    if micro["precision"] is None:
        return [*opening, ": nothing was predicted."]
    joint = ", and " if micro["precision"] >= STRONG else ", but only "
    return [*opening, joint, _phrase("precision", micro["precision"]), " of what it reads is there."]


def _phrase(name: str, share: float) -> Phrase:
    return Phrase(name, percent(share), "good" if share >= STRONG else "bad" if share < WEAK else "")


def findings(numbers: Mapping[str, Any]) -> list[Finding]:
    """Words that were not read, words that are not there, the worst document, and what a lattice could repair."""
    counts = numbers["counts"]
    missed, extra = counts["words"] - counts["matches"], counts["predicted_words"] - counts["matches"]
    lines = []
    if missed:
        told = f"{missed:,} of {counted(counts['words'], 'word')} {'is' if missed == 1 else 'are'} missing"
        lines.append(Finding("fn", told, {"outcome": "fn"}, missed))
    if extra:
        lines.append(
            Finding("fp", f"{counted(extra, 'word')} that {'is' if extra == 1 else 'are'} not there", {"outcome": "fp"}, extra)
        )
    recalls = {name: entry["recall"] for name, entry in numbers["documents"].items() if entry["recall"] is not None}
    if len(recalls) > 1:
        worst = min(recalls, key=lambda name: recalls[name])
        lines.append(Finding("class", f"Worst document: {worst}, {percent(recalls[worst])} of its words", {"doc": str(worst)}))
    oracle = numbers.get("oracle", {})
    if oracle.get("recall") is not None:
        lines.append(Finding("note", f"The best path through the lattice has {percent(oracle['recall'])} of the words", {}))
    return lines
