"""Mistakes in calls of the public API: each raises an error that names the argument and the way out."""

from __future__ import annotations

import subprocess
import sys

import pytest

import calque
from calque import Corpus, Detection, Evaluator, Fields, MergeError, Result, Words

BOXES = Corpus.from_arrays([[0, 0, 9, 9]], ["Table"], scores=[0.5])


@pytest.fixture(scope="module")
def words() -> Result:
    return Evaluator(Words()).update({"a": "b c"}, {"a": "b d"}).compute()


@pytest.fixture(scope="module")
def boxes() -> Result:
    return Evaluator(Detection()).update(BOXES, BOXES).compute()


def test_task_with_a_positional_setting_asks_for_its_name() -> None:
    with pytest.raises(TypeError, match=r"Detection takes keyword arguments only, got 0\.5"):
        Detection(0.5)  # type: ignore[call-arg, misc]  # that is the mistake


def test_task_with_a_misspelled_setting_suggests_the_right_one() -> None:
    with pytest.raises(TypeError, match="did you mean 'iou'"):
        Detection(iuo=0.5)  # type: ignore[call-arg]  # that is the mistake


def test_evaluator_of_a_task_class_asks_for_an_instance() -> None:
    with pytest.raises(TypeError, match=r"Detection\(\)"):
        Evaluator(Detection)  # type: ignore[arg-type]  # that is the mistake


@pytest.mark.parametrize(("truth", "predictions", "side"), [(3, BOXES, "truth"), (BOXES, 3, "predictions")])
def test_update_with_an_unreadable_side_names_the_argument(truth: object, predictions: object, side: str) -> None:
    with pytest.raises(TypeError, match=f"^{side}: "):
        Evaluator(Detection()).update(truth, predictions)


def test_update_of_fields_with_boxes_says_what_records_are() -> None:
    for sides in ([{"a": 1}], BOXES), (BOXES, [{"a": 1}]):
        with pytest.raises(TypeError, match="records"):
            Evaluator(Fields()).update(*sides)


def test_merge_with_a_result_asks_for_an_evaluator(words: Result) -> None:
    with pytest.raises(TypeError, match="must be an Evaluator"):
        Evaluator(Words()).merge(words)  # type: ignore[arg-type]  # that is the mistake


def test_merge_of_two_tasks_names_the_tasks_alone(words: Result, boxes: Result) -> None:
    with pytest.raises(MergeError, match=r"task: detection and words$"):
        Evaluator(boxes.task).merge(Evaluator(words.task))
    with pytest.raises(MergeError, match=r"task: words and detection$"):
        calque.compare([words, boxes])


@pytest.mark.parametrize(("key", "suggestion"), [("recal", "recall"), ("bag_recal", "bag_recall")])
def test_result_with_a_misspelled_metric_suggests_one(words: Result, key: str, suggestion: str) -> None:
    with pytest.raises(KeyError, match=f"did you mean '{suggestion}'"):
        words[key]


def test_result_with_an_unknown_threshold_or_class_suggests_one(boxes: Result) -> None:
    with pytest.raises(KeyError, match=r"did you mean 'recall@0\.5'"):
        boxes["recall@0.6"]
    with pytest.raises(KeyError, match=r"recall@0\.5/Table"):
        boxes["Tables", "recall@0.5"]


@pytest.mark.parametrize("key", [0, None, ("Table", "recall", "0.5"), ("Table", 1)])
def test_result_indexed_by_other_things_than_names_is_a_type_error(boxes: Result, key: object) -> None:
    with pytest.raises(TypeError, match="name of a metric"):
        boxes[key]  # type: ignore[index]  # that is the mistake


def test_compare_of_a_single_result_asks_for_a_list(words: Result) -> None:
    for results in (words, [words, 3]):
        with pytest.raises(TypeError, match="results must be a list of Result objects"):
            calque.compare(results)  # type: ignore[arg-type]  # that is the mistake


def test_clean_with_a_misspelled_option_suggests_the_right_one() -> None:
    with pytest.raises(TypeError, match="did you mean 'drop'"):
        calque.words.clean("a", dropp=["table"])


def test_module_with_a_misspelled_name_lists_the_names_that_python_suggests() -> None:
    for module, name, right in ((calque, "Evaluatr", "Evaluator"), (calque.words, "aling", "align")):
        with pytest.raises(AttributeError):
            getattr(module, name)
        assert right in dir(module)


@pytest.mark.parametrize(
    "name", ["ceiling", "checks", "coco", "comparators", "detection", "fields", "layout", "order", "tables", "words"]
)
def test_packages_are_attributes_of_calque_without_an_import_of_their_own(name: str) -> None:
    code = f"import calque; print(calque.{name}.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"calque.{name}"
