"""Word sequences and lattices in plain Python: big integers as rows of the LCS table, tuples as lattice values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from calque.base.columns import Bytes, Codes, Ints

Documents = tuple[Codes, Ints]


def lcs_partners(
    reference: Codes,
    reference_offsets: Ints,
    predicted: Codes,
    predicted_offsets: Ints,
    vocabulary: int,  # noqa: ARG001  # as above
    log_limit: int,  # noqa: ARG001  # the native kernel bounds its memory
    jobs: int,  # noqa: ARG001  # as above
) -> Codes:
    """For each reference word the position of its partner in the predicted document, or -1.

    A common beginning and a common end are paired first. Between them, from the end: the last place where the table's
    row still rises takes the earliest predicted word that made it rise there.
    """
    pairs = _documents((reference, reference_offsets), (predicted, predicted_offsets))
    partners = [partner for ours, theirs in pairs for partner in _partners(ours, theirs)]
    return np.array(partners, dtype=np.int32)


def split_words(texts: list[bytes]) -> tuple[Codes, Ints, Bytes, Ints]:
    """Words of UTF-8 texts, split at white space: codes, where each text's begin, and the vocabulary with its offsets.

    >>> codes, offsets, data, ends = split_words([b"to be or not", b"to  be"])
    >>> codes.tolist(), offsets.tolist(), data.tobytes(), ends.tolist()
    ([0, 1, 2, 3, 0, 1], [0, 4, 6], b'tobeornot', [0, 2, 4, 6, 9])
    """
    known: dict[str, int] = {}
    codes: list[int] = []
    offsets = [0]
    for text in texts:
        codes += [known.setdefault(word, len(known)) for word in text.decode("utf-8", "surrogatepass").split()]
        offsets.append(len(codes))
    encoded = [word.encode("utf-8", "surrogatepass") for word in known]
    ends = np.concatenate([[0], np.cumsum([len(word) for word in encoded], dtype=np.int64)]).astype(np.int64)
    data = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    return np.array(codes, dtype=np.int32), np.array(offsets, dtype=np.int64), data, ends


def lattice_path(
    reference: Codes,
    edge_from: Codes,
    edge_to: Codes,
    word_offsets: Ints,
    words: Codes,
    final_nodes: Bytes,
    vocabulary: int,  # noqa: ARG001  # as above
    row_limit: int,  # noqa: ARG001  # the native kernel bounds its memory
) -> tuple[int, Codes]:
    """The most matches of a path, and the edges of the best: most matches, fewest words, lowest edges from the start on.

    Edges lead from lower to higher nodes; node 0 is the start. ``rest[node][i]`` is the best that a path from the node
    can still add against ``reference[i:]``, as (matches, minus words).
    """
    ours = reference.tolist()
    edges = [
        (source, target, words[begin:end].tolist())
        for source, target, (begin, end) in zip(
            edge_from.tolist(), edge_to.tolist(), pairwise(word_offsets.tolist()), strict=True
        )
    ]
    nothing = [(-1, 0)] * (len(ours) + 1)
    rest = [[(0, 0)] * (len(ours) + 1) if final else nothing for final in final_nodes.tolist()]
    for source, target, spelled in sorted(edges, key=lambda edge: -edge[0]):
        through = rest[target]
        for word in reversed(spelled):
            through = _with_word_before(ours, word, through)
        rest[source] = [max(pair) for pair in zip(rest[source], through, strict=True)]
    best = rest[0][0]
    return best[0], np.array(_lowest_path(ours, edges, final_nodes.tolist(), rest, best), dtype=np.int32)


Value = tuple[int, int]
Edge = tuple[int, int, list[int]]


def _with_word_before(ours: list[int], word: int, after: list[Value]) -> list[Value]:
    """The values of a rest of a path with one more word in front of it."""
    size = len(ours)
    values = [(0, 0)] * (size + 1)
    values[size] = (after[size][0], after[size][1] - 1)
    for i in range(size - 1, -1, -1):
        best = max(values[i + 1], (after[i][0], after[i][1] - 1))
        if ours[i] == word and after[i + 1][0] >= 0:
            best = max(best, (after[i + 1][0] + 1, after[i + 1][1] - 1))
        values[i] = best
    return values


def _lowest_path(ours: list[int], edges: list[Edge], final: Sequence[int], rest: list[list[Value]], best: Value) -> list[int]:
    """Edge by edge the lowest one after which the best is still within reach."""
    path: list[int] = []
    node, used = 0, 0
    matched = [0] * (len(ours) + 1)  # how much of reference[:i] the path so far matches
    while not (final[node] and (matched[-1], -used) == best):
        for number, (source, target, spelled) in enumerate(edges):
            if source != node:
                continue
            row = matched
            for word in spelled:
                row = _next_row(ours, word, row)
            total = max((m + more[0], more[1] - used - len(spelled)) for m, more in zip(row, rest[target], strict=True))
            if total == best:
                node, used, matched = target, used + len(spelled), row
                path.append(number)
                break
    return path


def _next_row(ours: list[int], word: int, row: list[int]) -> list[int]:
    new = [0]
    for i, mine in enumerate(ours):
        new.append(max(new[i], row[i + 1], row[i] + 1 if mine == word else 0))
    return new


def _documents(*sides: Documents) -> Iterator[tuple[list[int], list[int]]]:
    (ours, our_offsets), (theirs, their_offsets) = sides
    for (a, b), (c, d) in zip(pairwise(our_offsets.tolist()), pairwise(their_offsets.tolist()), strict=True):
        yield ours[a:b].tolist(), theirs[c:d].tolist()


def _masks(ours: Sequence[int]) -> dict[int, int]:
    masks: dict[int, int] = {}
    for i, word in enumerate(ours):
        masks[word] = masks.get(word, 0) | 1 << i
    return masks


def _rows(ours: Sequence[int], theirs: Sequence[int]) -> list[int]:
    """The rows of the table: bit i of row j is 0 where the row rises from reference word i to the next."""
    masks = _masks(ours)
    full = (1 << len(ours)) - 1
    rows = [full]
    for word in theirs:
        row = rows[-1]
        used = row & masks.get(word, 0)
        rows.append((row + used | row - used) & full)
    return rows


def _partners(ours: Sequence[int], theirs: Sequence[int]) -> list[int]:
    prefix, suffix = _shared_ends(ours, theirs)
    partners = [-1] * len(ours)
    partners[:prefix] = range(prefix)
    if suffix:
        partners[len(ours) - suffix :] = range(len(theirs) - suffix, len(theirs))
    middle = ours[prefix : len(ours) - suffix]
    rows = _rows(middle, theirs[prefix : len(theirs) - suffix])
    below = (1 << len(middle)) - 1
    j = len(rows) - 1
    while j and (risen := ~rows[j] & below):
        place = risen.bit_length() - 1
        while j and not rows[j] >> place & 1:
            j -= 1
        partners[prefix + place] = prefix + j
        below = (1 << place) - 1
    return partners


def _shared_ends(ours: Sequence[int], theirs: Sequence[int]) -> tuple[int, int]:
    shorter = min(len(ours), len(theirs))
    prefix = next((i for i in range(shorter) if ours[i] != theirs[i]), shorter)
    left = shorter - prefix
    return prefix, next((i for i in range(left) if ours[-1 - i] != theirs[-1 - i]), left)
