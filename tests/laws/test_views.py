"""The laws hold for every view of detection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st

from calque import Corpus, Detection
from calque.corpus.boxes import BoxCorpus
from calque.detection.views.page_view import AREAS
from tests.examples import examples
from tests.laws.detection import DETECTION, corpora, without_sizes
from tests.laws.subject import Document
from tests.laws.test_laws import LAWS, Data, Law

NAME_PLACES = {"renaming documents in order changes nothing", "shuffling items without ties changes no number"}
"""Lists of the worst name documents and positions; they change with them."""


def with_metadata(documents: list[Document]) -> tuple[Corpus, Corpus]:
    truth, found = corpora(documents)
    assert isinstance(truth, BoxCorpus)
    kinds = {document.unit: ("short", "long")[len(str(document.unit)) > 1] for document in documents if document.expected}
    return replace(truth, metadata={"kind": kinds}), found


def unitless(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Without areas, which are in units."""

    def without_areas(node: Any) -> Any:
        if isinstance(node, list):
            return [without_areas(item) for item in node]
        return (
            {key: without_areas(value) for key, value in node.items() if key not in AREAS}
            if isinstance(node, Mapping)
            else node
        )

    return {**without_sizes(numbers), "page_view": without_areas(numbers["page_view"])}


VIEWS = replace(
    DETECTION,
    name="views",
    task=Detection(
        iou=(0.3, 0.5, 0.75), crops=True, confusion=True, recall_floor=0.5, precision_floor=0.3, page_view=True, by=("kind",)
    ),
    corpora=with_metadata,
    in_units=DETECTION.in_units | {("areas", name) for name in AREAS},
    unitless=unitless,
)


OF_VIEWS = [law for law in LAWS if law.title not in NAME_PLACES and all(getattr(VIEWS, need) for need in law.needs)]


@pytest.mark.no_cover
@pytest.mark.parametrize("law", [pytest.param(law, id=law.title) for law in OF_VIEWS])
@examples(20, phases=set(Phase) - {Phase.explain})
@given(data=st.data())
def test_law(law: Law, data: Data) -> None:
    law.holds(VIEWS, data.draw(VIEWS.documents), data)
