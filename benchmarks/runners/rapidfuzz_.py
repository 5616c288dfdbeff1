"""rapidfuzz on the same numbers: `python rapidfuzz_.py WORK long.npz` prints the length found, as JSON."""

import json
import sys

import numpy as np
from rapidfuzz.distance import LCSseq

data = np.load(sys.argv[2])
truth, predicted = data["truth"].tolist(), data["predicted"].tolist()
if sys.argv[1] == "alignment":
    found = sum(code.src_end - code.src_start for code in LCSseq.opcodes(truth, predicted) if code.tag == "equal")
elif sys.argv[1] == "length":
    found = LCSseq.similarity(truth, predicted)
else:  # no lattices here: plain LCS with the first candidate of each slot, for the time it takes
    found = LCSseq.similarity(truth, data["lattice"][:, 0].tolist())
print(json.dumps(found))
