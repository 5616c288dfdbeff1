"""Texts for the word benchmarks, made from fixed seeds: words as frequent as in natural text, errors as engines make them.

    python benchmarks/word_data.py SET --cache FOLDER

Prints the files of the set as JSON.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

VOCABULARY = 30_000
LETTERS = np.array(list("etaoinshrdlcumwfgypbvk"))
PAGES, WORDS_OF_A_PAGE = 10_000, 600


def frequencies() -> np.ndarray:
    """Zipf's law: the word of rank r occurs in proportion to 1 / (r + 2.7)."""
    weights = 1 / (np.arange(1, VOCABULARY + 1) + 2.7)
    return weights / weights.sum()


def long_texts(folder: Path) -> dict[str, str]:
    """100,000 true words and about 180,000 predicted ones, as numbers; and a lattice of two candidates a slot."""
    random = np.random.default_rng(1)
    truth = random.choice(VOCABULARY, 100_000, p=frequencies()).astype(np.int32)
    kept = np.where(random.random(len(truth)) < 0.07, random.integers(0, VOCABULARY, len(truth)), truth)
    extra = random.geometric(0.54, len(truth)) - 1
    noise = random.choice(VOCABULARY, int(extra.sum()), p=frequencies())
    predicted = np.insert(kept, np.repeat(np.arange(len(truth)), extra), noise).astype(np.int32)
    right = np.where(random.random(len(truth)) < 0.9, truth, random.integers(0, VOCABULARY, len(truth)))
    wrong = random.integers(0, VOCABULARY, len(truth))
    first = random.random(len(truth)) < 0.5
    lattice = np.stack([np.where(first, right, wrong), np.where(first, wrong, right)], axis=1).astype(np.int32)
    path = folder / "long.npz"
    np.savez(path, truth=truth, predicted=predicted[:180_000], lattice=lattice)
    return {"long.npz": str(path)}


def pages(folder: Path) -> dict[str, str]:
    """Folders ``truth`` and ``predicted`` with one text file a page: 3 % of words lost, 5 % misread, 3 % made up."""
    random = np.random.default_rng(2)
    spelled = ["".join(random.choice(LETTERS, random.integers(2, 10))) for _ in range(VOCABULARY)]
    for side in ("truth", "predicted"):
        (folder / side).mkdir(parents=True, exist_ok=True)
    for number in range(PAGES):
        truth = [spelled[code] for code in random.choice(VOCABULARY, WORDS_OF_A_PAGE, p=frequencies())]
        read = [
            words for word, chance in zip(truth, random.random(len(truth)), strict=True) if (words := misread(word, chance))
        ]
        for side, words in (("truth", truth), ("predicted", read)):
            lines = [" ".join(words[at : at + 12]) for at in range(0, len(words), 12)]
            (folder / side / f"page{number:05}.txt").write_text("\n".join(lines))
    manifest = folder / "pages.json"
    manifest.write_text(json.dumps({"truth": str(folder / "truth"), "predicted": str(folder / "predicted")}))
    return {"pages.json": str(manifest)}


def misread(word: str, chance: float) -> str:
    """What an engine makes of a word."""
    if chance < 0.03:
        return ""
    if chance < 0.08:
        return word[:-1] + "x"
    return f"{word} l" if chance > 0.97 else word


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=("long", "pages"))
    parser.add_argument("--cache", type=Path, required=True)
    arguments = parser.parse_args()
    folder = arguments.cache / "words" / arguments.name
    done = folder / "files.json"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        done.write_text(json.dumps((long_texts if arguments.name == "long" else pages)(folder)))
    print(done.read_text())


if __name__ == "__main__":
    main()
