"""Many evaluations in one process leave nothing behind: no handles, no threads, no objects that grow in number, no memory."""

from __future__ import annotations

import itertools
import random

from tests.soak import Held, rounds

WARM, MORE = 40, 40
"""Commands after which everything is imported and remembered that will be, and as many again."""


def test_nothing_grows() -> None:
    for _ in itertools.islice(rounds(random.Random(1)), WARM):
        pass
    before = Held.now()
    for _ in itertools.islice(rounds(random.Random(1)), MORE):  # the same again: what they needed is there
        pass
    after = Held.now()
    assert after.handles <= before.handles
    assert after.threads <= before.threads
    assert after.objects < before.objects + MORE, "not one for every command"
    assert after.memory <= before.memory * 1.2 + 30_000
