"""States whose boxes are measured in pixels and in shares of the page: they are told apart when they meet."""

from __future__ import annotations

import pytest

from calque import Detection, Evaluator, Layout, MergeError, Task, read

PIXELS = [{"doc": "a", "category": "Figure", "bbox": [10, 10, 50, 50], "score": 0.5}]
SHARES = [{"doc": "b", "category": "Figure", "bbox": [0.1, 0.1, 0.5, 0.5], "score": 0.5}]


@pytest.mark.parametrize("kind", [Detection, Layout])
@pytest.mark.parametrize("stored", [False, True])
def test_they_are_refused_by_name_and_nothing_is_added(kind: type[Task], stored: bool) -> None:
    mine = Evaluator(kind()).update(*(read(PIXELS, side=side) for side in ("ground_truth", "prediction")))
    shares = [read(SHARES, side=side, units="normalized") for side in ("ground_truth", "prediction")]
    theirs = Evaluator(kind()).update(*shares)
    before = mine.compute().to_json()
    other = Evaluator.from_state(theirs.state()) if stored else theirs
    with pytest.raises(MergeError, match="in pixels on one side and in shares of the page on the other"):
        mine.merge(other)
    with pytest.raises(MergeError, match="in pixels on one side"):
        mine.update(*shares)
    assert mine.compute().to_json() == before
