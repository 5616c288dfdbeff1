"""Words that carry little meaning, left out of stop-word-free recall."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calque.core.columns import Flags

_LISTED = (
    "a about above after again against all also am an and any are as at be because been before being below between both but by "
    "can could did do does doing down during each few for from further had has have having he her here hers him his how i if "
    "in into is it its itself just me more most my no nor not now of off on once only or other our ours out over own same she "
    "should so some such than that the their theirs them then there these they this those through to too under until up very "
    "was we were what when where which while who whom why will with would you your yours"
)
ENGLISH = frozenset(_LISTED.split())


def content_words(vocabulary: Sequence[str], stop_words: Sequence[str]) -> Flags:
    """Which words of a vocabulary are not stop words; ``english`` stands for a built-in list. Case does not matter."""
    stopped = {word.casefold() for word in stop_words}
    if "english" in stopped:
        stopped |= ENGLISH
    return np.array([word.casefold() not in stopped for word in vocabulary], dtype=np.bool_)
