"""calque's word kernels on numbers: `python calque_words_.py WORK long.npz` prints the length found, as JSON."""

import json
import sys

import numpy as np

from calque.kernels import kernels
from calque.words.alignment import LOG_LIMIT, count_matches

data = np.load(sys.argv[2])
truth, predicted, lattice = data["truth"], data["predicted"], data["lattice"]
size = int(max(truth.max(), predicted.max(), lattice.max())) + 1


def span(words: np.ndarray) -> np.ndarray:
    """Where one document begins and ends."""
    return np.array([0, len(words)], dtype=np.int64)


if sys.argv[1] == "length":
    found = int(count_matches(truth, span(truth), predicted, span(predicted), size)[0])
elif sys.argv[1] == "alignment":
    partners = kernels().lcs_partners(truth, span(truth), predicted, span(predicted), size, LOG_LIMIT, 1)
    found = int((partners >= 0).sum())
else:
    slots = len(lattice)
    source = np.repeat(np.arange(slots, dtype=np.int32), 2)
    final = np.zeros(slots + 1, dtype=np.uint8)
    final[-1] = 1
    offsets = np.arange(2 * slots + 1, dtype=np.int64)
    found, path = kernels().lattice_path(truth, source, source + 1, offsets, lattice.reshape(-1), final, size, 5_000)
    found = int(found)
print(json.dumps(found))
