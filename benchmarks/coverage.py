"""Do 95 % intervals hold the true value 95 times in 100? Corpora with a known truth, evaluated and counted.

    python benchmarks/coverage.py [--corpora 400] [--replicates 1000] [--documents 20,50,200] [--markdown FILE]

A model has a quality of its own on every document, drawn anew for each corpus; what it would score on endless documents is
computed once from a very large corpus. A corpus is right when the interval of its number holds that. Next to calque's
intervals stand those of resampling that forgets duplicates: a document that is drawn twice counts once.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from calque import Corpus, Detection, Evaluator, Fields, Result, Words, resample
from calque.statistics.bootstrap import Resampling
from calque.statistics.intervals import intervals

ENDLESS = 20_000
"""Documents of the corpus that stands for all there could be."""
BEGIN, END = "<!-- coverage -->", "<!-- end of coverage -->"


@dataclass(frozen=True)
class World:
    """How documents come about, and the measures whose intervals are tried on them."""

    make: Callable[[np.random.Generator, int], Result]
    measures: tuple[tuple[str, str], ...]
    """Names, and what they are called in the table."""


def detection(rng: np.random.Generator, documents: int) -> Result:
    """Boxes in two classes. Documents differ in how many there are, and in how well the model does on them."""
    truth: list[Any] = []
    found: list[Any] = []
    for document in range(documents):
        skill = rng.beta(6, 2)
        for place in range(1 + rng.poisson(6)):
            label = "Figure" if rng.random() < 0.6 else "Table"
            box = (0.0, 20.0 * place, 10.0, 20.0 * place + 10.0)
            truth.append((document, label, box))
            if rng.random() < skill:
                shift = abs(rng.normal(0, 1.6))
                found.append((document, label, (shift, box[1], 10.0 + shift, box[3]), rng.beta(5, 2)))
        made_up = range(rng.poisson(2 * (1 - skill)))
        found += [(document, "Figure", (50.0, 20.0 * at, 60.0, 20.0 * at + 10.0), rng.beta(2, 4)) for at in made_up]
    names = [entry[0] for entry in truth], [entry[0] for entry in found]
    expected = Corpus.from_arrays([entry[2] for entry in truth], [entry[1] for entry in truth], documents=names[0])
    predicted = Corpus.from_arrays(
        [entry[2] for entry in found],
        [entry[1] for entry in found],
        documents=names[1],
        scores=[entry[3] for entry in found],
        label_names=("Figure", "Table"),
    )
    return Evaluator(Detection(errors="none"), keep="numbers").update(expected, predicted).compute()


def fields(rng: np.random.Generator, documents: int) -> Result:
    """Records whose values are right or wrong, with confidences that tell a little."""
    schema = {"fields": {f"f{number}": {"type": "str", "comparator": "exact", "threshold": 1.0} for number in range(5)}}
    truth, found = [], []
    for document in range(documents):
        skill = rng.beta(4, 2)
        truth.append({"doc_id": str(document), **dict.fromkeys(schema["fields"], "x")})
        values: dict[str, Any] = {"doc_id": str(document)}
        for name in schema["fields"]:
            right = rng.random() < skill
            values[name] = {"_value": "x" if right else "y", "_confidence": round(float(rng.beta(4 if right else 2.5, 2)), 6)}
        found.append(values)
    return Evaluator(Fields(schema=schema), keep="numbers").update(truth, found).compute()


def words(rng: np.random.Generator, documents: int) -> Result:
    """Texts of any length, some of which are hard to read."""
    truth, found = {}, {}
    for document in range(documents):
        hard = rng.beta(1.5, 8)
        text = [f"w{rng.integers(60)}" for _ in range(5 + int(rng.gamma(2, 12)))]
        truth[str(document)] = " ".join(text)
        found[str(document)] = " ".join(f"{word}x" if rng.random() < hard else word for word in text)
    return Evaluator(Words(), keep="numbers").update(truth, found).compute()


WORLDS = (
    World(detection, (("recall@0.5", "recall"), ("f1@0.5", "F1"), ("AP", "AP"))),
    World(fields, (("auroc", "AUROC"),)),
    World(words, (("wer", "WER"),)),
)


def coverage(
    world: World, documents: int, corpora: int, replicates: int, *, seed: int = 1, endless: int = ENDLESS
) -> dict[str, tuple[float, float]]:
    """For each measure how often its interval held the truth, and how often that of forgotten duplicates did."""
    truth = world.make(np.random.default_rng(seed), endless)
    held = {name: [0, 0] for name, _ in world.measures}
    for corpus in range(corpora):
        result = world.make(np.random.default_rng((seed, documents, corpus)), documents)
        found = intervals(result, Resampling(replicates=replicates, seed=corpus), list(held))
        forgetful = _forgetful(result, list(held), replicates, corpus)
        for name, counts in held.items():
            value, one = truth[name], found[name]
            if value is not None and one.low is not None and one.high is not None:
                counts[0] += one.low <= value <= one.high
                counts[1] += forgetful[name][0] <= value <= forgetful[name][1]
    return {name: (own / corpora, other / corpora) for name, (own, other) in held.items()}


def _forgetful(result: Result, names: Sequence[str], replicates: int, seed: int) -> dict[str, tuple[float, float]]:
    """Percentiles over documents drawn with replacement, of which each counts once however often it was drawn."""
    units = len(result.ledger.units)
    drawn = np.random.default_rng(seed).integers(0, units, (replicates, units))
    weights = np.zeros((replicates, units), np.int64)
    weights[np.arange(replicates)[:, None], drawn] = 1
    values = resample(result, weights, names)
    return {name: tuple(np.nanquantile(values[name], [0.025, 0.975]).tolist()) for name in names}


def rows(sizes: Sequence[int], corpora: int, replicates: int) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """For each measure its coverage at every size."""
    for world in WORLDS:
        by_size = [coverage(world, size, corpora, replicates) for size in sizes]
        for name, title in world.measures:
            yield title, [one[name] for one in by_size]


def table(sizes: Sequence[int], corpora: int, replicates: int) -> str:
    """The table as Markdown."""
    heads = [f"{size} documents" for size in sizes]
    lines = ["| measure | " + " | ".join([*heads, *(f"duplicates forgotten, {head}" for head in heads)]) + " |"]
    lines.append("|---|" + "---:|" * (2 * len(sizes)))
    for title, shares in rows(sizes, corpora, replicates):
        cells = [f"{100 * own:.1f} %" for own, _ in shares] + [f"{100 * other:.1f} %" for _, other in shares]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    error = 100 * math.sqrt(0.95 * 0.05 / corpora)
    lines += [
        "",
        f"{corpora:,} corpora each, {replicates:,} replicates; 95 % would be known to ± {error:.1f} % (a standard error).",
    ]
    return "\n".join(lines)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=int, default=400)
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--documents", default="20,50,200")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="put the table between the file's markers")
    given = parser.parse_args()
    made = table([int(size) for size in given.documents.split(",")], given.corpora, given.replicates)
    if given.markdown:
        text = given.markdown.read_text("utf-8")
        before, _, rest = text.partition(BEGIN)
        given.markdown.write_text(f"{before}{BEGIN}\n{made}\n{END}{rest.partition(END)[2]}", "utf-8")
    else:
        print(made)


if __name__ == "__main__":
    main()
