"""Which pages are named as the worst: those with the fewest right steps, among pages with a wrong one."""

from __future__ import annotations

from typing import Any

from calque import Evaluator, Order
from calque.order.presentation import sections

LINE = ["a", "b", "c", "d"]
READ = {"same": LINE, "back": ["d", "c", "b", "a"], "one": ["a", "b", "d", "c"], "open": [{"unordered": LINE}]}


def pages(*names: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    rows = ([{"doc_id": "d", "page_index": at, "order": LINE} for at, _ in enumerate(names)],)
    return *rows, [{"doc_id": "d", "page_index": at, "order": READ[name]} for at, name in enumerate(names)]


def numbers(*names: str) -> dict[str, Any]:
    return Evaluator(Order()).update(*pages(*names)).compute().to_dict()


def test_the_fewest_right_steps_come_first() -> None:
    worst = numbers("same", "one", "back", "open", "one")["worst_pages"]
    assert [(page["page"], page["successors"]) for page in worst] == [(2, 0.0), (1, 1 / 3), (4, 1 / 3)]
    assert [page["breaks"] for page in worst] == [{"back": 3}, {"skip": 1, "back": 1}, {"skip": 1, "back": 1}]


def test_five_at_most_and_equal_ones_as_they_come() -> None:
    assert [page["page"] for page in numbers(*["one"] * 7)["worst_pages"]] == [0, 1, 2, 3, 4]


def test_three_are_named_where_there_are_several() -> None:
    def notes(*names: str) -> str:
        return "\n".join(note for section in sections(numbers(*names)) for note in section.notes)

    assert "worst pages: d page 1, successors 0.00, 3 back; d page 0, successors 0.33, 1 skip, 1 back" in notes("one", "back")
    assert notes(*["one"] * 5).count("successors") == 3
    assert "worst pages" not in notes("back") + notes("same", "same")


def test_shards_name_the_same() -> None:
    truth, found = pages("one", "back", "same")
    halves = [Evaluator(Order()) for _ in range(2)]
    for at, half in enumerate(halves):
        side = [[{**row, "doc_id": f"d{row['page_index'] % 2}"} for row in rows] for rows in (truth, found)]
        half.update(*([row for row in rows if row["doc_id"] == f"d{at}"] for rows in side))
    whole = [[{**row, "doc_id": f"d{row['page_index'] % 2}"} for row in rows] for rows in (truth, found)]
    expected = Evaluator(Order()).update(*whole).compute().to_dict()["worst_pages"]
    assert halves[1].merge(halves[0]).compute().to_dict()["worst_pages"] == expected
