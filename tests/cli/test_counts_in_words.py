"""What summaries say about counts: lists that are cut, singular and plural, and reasons for undefined numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from calque import Detection, Evaluator, Words
from calque.evaluation.presentation.report_data import Sentence
from tests.conftest import Run

Command = Callable[..., Run]


def written(folder: Path, **texts: str) -> str:
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text)
    return folder.name


def spoken(headline: Sentence) -> str:
    return "".join(part if isinstance(part, str) else part.text for part in headline)


def suspects(folder: Path, count: int) -> tuple[str, ...]:
    """Write a ground truth in which two systems find none of the objects."""
    boxes = [[20 * number, 0, 20 * number + 9, 9] for number in range(count)]
    for name, listed in (("truth", boxes), ("one", [[0, 500, 9, 509]]), ("two", [[50, 500, 59, 509]])):
        row: dict[str, Any] = {"doc_id": "d", "boxes": listed, "labels": ["t"] * len(listed)}
        row |= {} if name == "truth" else {"scores": [0.5]}
        (folder / f"{name}.ndjson").write_text(json.dumps(row) + "\n")
    return "truth.ndjson", "one.ndjson", "two.ndjson"


def test_ceiling_with_more_suspects_than_json_lists_counts_all_of_them(tmp_path: Path, calque: Command) -> None:
    files = suspects(tmp_path, 1300)
    shown = calque("ceiling", *files, "--iou", "0.5", "--suspects", "20").out
    (line,) = re.findall(r"and ([0-9,]+) more \(--suspects ([0-9]+)", shown)
    assert line == ("1,280", "1300")
    listed = calque("ceiling", *files, "--iou", "0.5", "--suspects", line[1], "--format", "json").json
    assert len(listed["levels"]["0.5"]["suspects"]["listed"]) == 1300


def test_words_with_documents_of_equal_recall_claim_no_order(tmp_path: Path, calque: Command) -> None:
    truth = written(tmp_path / "truth", **{f"d{number:02}": "one" for number in range(15)})
    predictions = written(tmp_path / "pred", **{f"d{number:02}": "two" for number in range(15)})
    out = calque("words", truth, predictions).out
    assert "higher" not in out
    assert re.search(r"and [0-9]+ more documents?\n", out)


def test_order_with_documents_of_equal_pairs_claims_no_order(tmp_path: Path, calque: Command) -> None:
    for name, order in (("truth", ["a", "b"]), ("pred", ["b", "a"])):
        lines = (json.dumps({"doc_id": f"d{number}", "order": order}) for number in range(11))
        (tmp_path / f"{name}.ndjson").write_text("\n".join(lines) + "\n")
    out = calque("order", "truth.ndjson", "pred.ndjson").out
    assert "higher" not in out
    assert "and 1 more document\n" in out


@pytest.mark.parametrize(("predicted", "verb"), [("a", "1 word was"), ("a b", "2 words were"), ("", "0 words were")])
def test_headline_of_words_without_truth_agrees_in_number(predicted: str, verb: str) -> None:
    result = Evaluator(Words()).update({"d": ""}, {"d": predicted}).compute()
    assert verb in spoken(result.task.view().headline(result.numbers))


@pytest.mark.parametrize(
    ("labels", "nouns"),
    [(["Box", "Glossary"], "boxes and glossaries"), (["Tables"], "of tables,"), (["Key", "Address"], "addresses and keys")],
)
def test_headline_of_detection_uses_english_plurals(labels: list[str], nouns: str) -> None:
    boxes = [[20 * place, 0, 20 * place + 9, 9] for place in range(len(labels))]
    truth = [{"doc_id": "d", "bbox": box, "label": label} for box, label in zip(boxes, labels, strict=True)]
    result = Evaluator(Detection()).update(truth, [{**each, "score": 0.5} for each in truth]).compute()
    assert nouns in spoken(result.task.view().headline(result.to_dict()))


def test_headline_of_detection_with_one_wrong_prediction_agrees_in_number() -> None:
    truth = [{"doc_id": "d", "bbox": [0, 0, 9, 9], "label": "t"}]
    result = Evaluator(Detection()).update(truth, [{**truth[0], "bbox": [50, 50, 59, 59], "score": 0.5}]).compute()
    assert "1 predictions" not in spoken(result.task.view().headline(result.to_dict()))


def undefined_in(tree: Any, path: str = "") -> set[str]:
    """Return the paths of all nulls."""
    if isinstance(tree, dict):
        return {found for key, value in tree.items() for found in undefined_in(value, f"{path}.{key}" if path else key)}
    return {path} if tree is None else set()


@pytest.mark.parametrize(
    ("truth", "predictions", "names"),
    [
        ("one two", ("one two", "one too"), {"oracle.repairable"}),
        ("", ("one", "two"), {"oracle.recall", "oracle.repairable", "oracle.best_source_recall"}),
        ("one two", ("one", "too"), set()),
    ],
)
def test_oracle_of_several_predictions_keeps_reasons_of_its_nulls(
    tmp_path: Path, calque: Command, truth: str, predictions: tuple[str, str], names: set[str]
) -> None:
    (tmp_path / "truth.txt").write_text(truth)
    for name, text in zip("ab", predictions, strict=True):
        (tmp_path / f"{name}.txt").write_text(text)
    found = calque("words", "truth.txt", "a.txt", "b.txt", "--build-lattice", "--format", "json").json
    nulls = undefined_in(found["oracle"], "oracle")
    assert names <= nulls
    assert {path for path in nulls if ".documents" not in path} <= found["undefined"].keys()
    assert not any(path.startswith("oracle") for run in found["runs"].values() for path in run["undefined"])
    assert all(path in nulls for path in found["undefined"])
