"""What ``min_area`` ignores and ``min_score`` leaves out, as docs/adr/0008-small-objects.md decides."""

from calque import Corpus, Detection, Evaluator, Result

TRUTH = [0, 0, 10, 10]


def evaluate(task: Detection, truth: list[list[float]], found: list[list[float]], scores: list[float]) -> Result:
    expected = Corpus.from_arrays(truth, ["Table"] * len(truth))
    predictions = Corpus.from_arrays(found, ["Table"] * len(found), scores=scores)
    return Evaluator(task).update(expected, predictions).compute()


def counts(result: Result) -> tuple[float | None, ...]:
    return result["tp@0.5"], result["fp@0.5"], result["fn@0.5"]


def outcomes(result: Result) -> list[tuple[str, str]]:
    return [(row["outcome"], row["reason"]) for row in result.outcomes().rows()]


def test_a_small_prediction_may_find_a_truth_that_counts() -> None:
    result = evaluate(Detection(min_area=95), [TRUTH], [[0, 0, 10, 9]], [0.9])
    assert counts(result) == (1, 0, 0)


def test_a_small_prediction_without_a_partner_is_ignored() -> None:
    result = evaluate(Detection(min_area=95), [TRUTH], [[50, 0, 60, 9]], [0.9])
    assert counts(result) == (0, 0, 1)
    assert outcomes(result) == [("fn", ""), ("ignored", "small")]


def test_a_small_truth_is_no_target_and_excuses_what_lies_on_it() -> None:
    result = evaluate(Detection(min_area=95), [[0, 0, 10, 9]], [[0, 0, 10, 10], [0, 30, 10, 40]], [0.9, 0.8])
    assert counts(result) == (0, 1, 0)
    assert outcomes(result) == [("ignored", "small"), ("ignored", ""), ("fp", "")]


def test_a_small_prediction_with_a_low_score_takes_no_part() -> None:
    result = evaluate(Detection(min_area=95, min_score=0.5), [TRUTH], [[0, 0, 10, 9]], [0.1])
    assert counts(result) == (0, 0, 1)
    assert outcomes(result) == [("fn", ""), ("excluded", "low_score")]
