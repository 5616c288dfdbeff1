"""What comparisons say of differences made by hand: verdicts, corrections, notes of intervals, and sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calque import ConfigError, Corpus, Detection, Evaluator, MergeError, Result
from calque.evaluation.document_sums import Support
from calque.evaluation.item_outcomes import FalsePositives, RunOutcomes, TruthOutcomes
from calque.report.comparison import _pair, change_columns, rows_of
from calque.statistics.bootstrap import Resampling
from calque.statistics.changes import Changed, Changes, Documents, changes
from calque.statistics.comparison import Compared, Comparison, _corrected, compare, run_names
from calque.statistics.intervals import Delta, Interval, difference, interval
from calque.statistics.presentation import headline, interval_addition, rows, sections, title, tree
from tests.report.counting import Counting
from tests.report.empty import EMPTY, both
from tests.report.made import FEW, MADE

FINE = [[0, 0, 10, 10]] * 3
LABELS, NAMES = ["Table"] * 3, ["a", "b", "c"]


def result(found: int = 3) -> Result:
    truth = Corpus.from_arrays(FINE, LABELS, documents=NAMES)
    side = Corpus.from_arrays(FINE[:found], LABELS[:found], documents=NAMES[:found], scores=[0.9] * found)
    return Evaluator(Detection()).update(truth, side).compute()


def delta(before: float, after: float, **parts: Any) -> Delta:
    usual = {"low": None, "high": None, "se": 0.1, "p": 0.5, "documents": 12}
    return Delta(after - before, **{**usual, **parts})


def compared(name: str, before: float, after: float, *, primary: bool = False, lower: bool = False, **parts: Any) -> Compared:
    runs = {"old": Interval(before, 0.25, 1.0, 0.1, 12), "new": Interval(after, None, None, 0.1, 12)}
    return Compared(name, runs, {"new": delta(before, after, **parts)}, primary, lower)


def comparison(*measures: Compared, fixed: int = 0, broken: int = 0, told: bool = True) -> Comparison:
    changed = [Changed("new", "a", 0, n, "Table", "fixed", "fn", "tp") for n in range(fixed)]
    changed += [Changed("new", "a", 0, n, "Table", "broken", "tp", "fn") for n in range(broken)]
    one = Changes(tuple(changed), 1, 2000, Documents(1, 2, 3, ()))
    known = {measure.name: measure for measure in measures}
    return Comparison({"old": result(2), "new": result()}, Resampling(), known, ("a", "b", "c"), {"new": one} if told else {})


def said(told: Comparison) -> str:
    return "".join(part if isinstance(part, str) else part.text for part in headline(told, "new"))


RECALL = compared("recall@0.5", 0.5, 0.75)


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (comparison(), "gets the same right."),
        (comparison(told=False), "differs."),
        (comparison(fixed=1200), "finds 1,200 more and loses 0."),
        (comparison(RECALL, broken=2), "finds 0 more and loses 2: recall rises from 50 % to 75 %."),
        (comparison(compared("AP", 0.5, 0.4)), "gets the same right: AP falls from 50 % to 40 %."),
        (comparison(compared("AP", 0.501, 0.502)), "gets the same right: AP rises from 0.501 to 0.502."),
        # What the table calls a difference of 0.000 is none, whatever both round to.
        (comparison(compared("AP", 0.5014, 0.5016)), "gets the same right: AP stays at 50 %."),
        (comparison(compared("AP", 0.5049, 0.5051)), "gets the same right: AP stays at 51 %."),
        (comparison(compared("AP", 0.5, 0.5)), "gets the same right: AP stays at 50 %."),
        (comparison(compared("pairs", 0.5, 0.5)), "gets the same right: pairs stay at 50 %."),
        (comparison(compared("pairs", 0.5, 0.4)), "gets the same right: pairs fall from 50 % to 40 %."),
        (comparison(compared("AP", 0.4, 0.5), RECALL), "gets the same right: recall rises from 50 % to 75 %."),
        (
            comparison(compared("f1@0.5", 0.4, 0.5), compared("AP", 0.1, 0.2, primary=True)),
            "gets the same right: AP rises from 10 % to 20 %.",
        ),
        (
            comparison(RECALL, compared("AP", 0.5, 0.48), compared("f1@0.5", 0.5, 0.47)),
            "gets the same right: recall rises from 50 % to 75 %, but F1 falls from 50 % to 47 %.",
        ),
        # No threshold is named, so all that is told has the same.
        (
            comparison(RECALL, compared("precision@0.75", 0.5, 0.1), compared("precision@0.5", 0.6, 0.4)),
            "gets the same right: recall rises from 50 % to 75 %, but precision falls from 60 % to 40 %.",
        ),
        (comparison(RECALL, compared("mean_coverage@0.75", 0.5, 0.1)), "gets the same right: recall rises from 50 % to 75 %."),
        (comparison(RECALL, compared("AP", 0.5, 0.481)), "gets the same right: recall rises from 50 % to 75 %."),
        (
            comparison(RECALL, compared("AP", 0.5, 0.1), compared("mean_coverage@0.5", 0.5, 0.4)),
            "gets the same right: recall rises from 50 % to 75 %, but its crops hold 40 % instead of 50 %.",
        ),
        (comparison(RECALL, compared("fp@0.5", 3, 9, lower=True)), "gets the same right: recall rises from 50 % to 75 %."),
        (comparison(compared("recall@0.5/Table", 0.5, 0.4)), "gets the same right."),
        # Percents that are the same do not rise.
        (comparison(compared("AP", 0.948, 0.949)), "gets the same right: AP rises from 0.948 to 0.949."),
        (comparison(compared("AP", 0.9481, 0.9482)), "gets the same right: AP stays at 95 %."),
        (
            comparison(RECALL, compared("mean_coverage@0.5", 0.5249, 0.5049)),
            "gets the same right: recall rises from 50 % to 75 %, but its crops hold 50 % instead of 52 %.",
        ),
    ],
)
def test_a_comparison_in_one_sentence(made: Comparison, sentence: str) -> None:
    assert said(made) == f"Against old, new {sentence}"


def test_a_count_is_no_share() -> None:
    assert (
        said(comparison(compared("cases", 0, 1), compared("AP", 0.5, 0.5)))
        == "Against old, new gets the same right: AP stays at 50 %."
    )


@pytest.mark.parametrize("name", EMPTY)
def test_nothing_and_nothing_cannot_be_compared(name: str) -> None:
    told = "".join(part if isinstance(part, str) else part.text for part in headline(both(name), "new"))
    assert told == "There is nothing to compare: nothing of old and new could be evaluated."


@pytest.mark.parametrize(
    ("after", "lower", "tone"), [(0.6, False, "good"), (0.4, False, "bad"), (0.4, True, "good"), (0.5, False, "")]
)
def test_good_and_bad_news_have_a_tone(after: float, lower: bool, tone: str) -> None:
    phrase = next(
        part for part in reversed(headline(comparison(compared("AP", 0.5, after, lower=lower)), "new")) if part != "."
    )
    assert not isinstance(phrase, str)
    assert (phrase.measure, phrase.tone, phrase.run) == ("AP", tone, 1)


def test_tests_are_corrected_for_each_other() -> None:
    made = [
        compared("a", 0.5, 0.6, primary=True, p=0.02),
        compared("b", 0.5, 0.4, primary=True, p=0.01),
        compared("c", 0.5, 0.4, primary=True, lower=True, p=0.001),
        compared("d", 0.5, 0.6, primary=True, p=0.6),
        compared("e", 0.5, 0.6, p=0.0),
        compared("f", 0.5, 0.5, primary=True, se=0.0, p=1.0),
        compared("g", 0.5, 0.6, primary=True, p=None),
    ]
    done = _corrected({one.name: one for one in made}, 0.05)
    told = {name: (one.deltas["new"].p_adjusted, one.deltas["new"].verdict) for name, one in done.items()}
    assert told == {
        "a": (pytest.approx(0.06), "undecided"),
        "b": (pytest.approx(0.04), "worse"),
        "c": (pytest.approx(0.005), "better"),
        "d": (1.0, "undecided"),
        "e": (None, None),
        "f": (1.0, "equal"),
        "g": (None, "undecided"),
    }
    at_the_level = _corrected({"a": compared("a", 0.5, 0.6, primary=True, p=0.05)}, 0.05)["a"]
    assert at_the_level.deltas["new"].verdict == "undecided"


def test_runs_need_names_of_their_own() -> None:
    one = result()
    assert list(run_names([one, one])) == ["run 1", "run 2"]
    for runs, names in (([one], []), ([one, one], ["a"]), ([one, one], ["a", "a"])):
        with pytest.raises(ConfigError, match=r"needs|there are 2 runs and 1 names"):
            run_names(runs, names)


def test_few_documents_and_undefined_replicates_are_told() -> None:
    replicates = np.linspace(0.3, 0.7, 100)

    def made(documents: int, undefined: int = 0, **classes: int) -> Interval:
        drawn = replicates.copy()
        drawn[:undefined] = np.nan
        flags = {name: np.arange(20) < count for name, count in classes.items()}
        return interval(0.5, drawn, Support(np.arange(20) < documents, flags))

    assert [made(count).note for count in (1, 4, 5, 9, 10)] == [
        "1 document: too few for an interval",
        "4 documents: too few for an interval",
        "5 documents: unreliable",
        "9 documents: unreliable",
        "",
    ]
    assert [made(count).low is None for count in (4, 5)] == [True, False]
    assert [made(count).unreliable for count in (9, 10)] == [True, False]
    assert [made(12, undefined=count).note for count in (5, 6)] == ["", "undefined in 6 of 100 replicates"]
    assert made(12, Table=4, Figure=5, None_=0).note == "in fewer than 5 documents: Table"
    assert made(4).se == pytest.approx(np.std(replicates, ddof=1))
    nothing = Support(np.ones(20, np.bool_))
    assert interval(None, replicates, nothing).note == ""
    assert interval(0.5, replicates[:1], nothing).note == "no replicate has a value"
    assert interval(0.5, replicates[:2], nothing).low is not None


def test_intervals_are_widened_and_freed_of_bias() -> None:
    """Against SciPy: percentiles at shares that Student's t, so many documents, and the replicates below the value give."""
    stats = pytest.importorskip("scipy.stats")
    dice = np.random.default_rng(7)
    drawn = np.append(dice.normal(0.5, 0.1, 199), [0.5, 0.5 + 1e-13])
    made = interval(0.5, drawn, Support(np.arange(30) < 12), 0.9)
    below = np.count_nonzero(drawn[:-2] < 0.5) + 0.5 * 2
    bias = stats.norm.ppf((below + 0.5) / (len(drawn) + 1))
    z = stats.t.ppf(0.95, 11) * np.sqrt(12 / 11)
    expected = np.quantile(drawn, stats.norm.cdf([2 * bias - z, 2 * bias + z]))
    assert [made.low, made.high] == pytest.approx(expected.tolist())


def test_differences_against_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    drawn = np.random.default_rng(3).normal(0.1, 0.05, 300)
    made = difference((0.5, 0.6), drawn, 12, 0.9, 0.02)
    se = np.std(drawn, ddof=1)
    t, power = stats.t.ppf(0.95, 11), stats.t.ppf(0.8, 11)
    assert made.value == pytest.approx(0.1)
    assert [made.low, made.high] == pytest.approx([0.1 - t * se, 0.1 + t * se])
    assert made.p == pytest.approx(2 * stats.t.cdf(-0.1 / se, 11))
    assert made.effect == pytest.approx(0.1 / (se * np.sqrt(12)))
    assert made.detectable == pytest.approx((t + power) * se)
    assert made.documents_needed == int(np.ceil(12 * ((t + power) * se / 0.02) ** 2))
    assert made.monte_carlo == pytest.approx(t * se / np.sqrt(2 * 299))
    same = difference((0.5, 0.5), np.zeros(10), 12)
    assert (same.p, same.effect, same.se) == (1.0, None, 0.0)
    assert difference((0.5, 0.6), drawn, 4).note == "4 documents: too few for an interval"
    assert difference((0.5, 0.6), drawn[:1], 12).note == "no replicate has a value"
    assert difference((0.5, None), drawn, 12).value is None
    assert difference((0.5, 0.6), drawn, 12) == difference((0.5, 0.6), drawn, 12, 0.95, 0.01)
    assert difference((0.5, 0.6), drawn, 12).to_dict().keys() == difference((None, 1), drawn, 1).to_dict().keys()


def test_the_table_of_a_comparison() -> None:
    made = comparison(
        compared("AP", 0.5, 0.25, primary=True, low=-0.5, high=0.004, p=0.01, p_adjusted=0.0004, verdict="worse",
                 detectable=0.3, documents_needed=1200),
        compared("recall@0.5", 0.5, 0.75),
        compared("recall@0.5/Table", 0.5, 0.75),
        fixed=1,
    )  # fmt: skip
    head, table, line = sections(made)
    assert head.title == "Compare: new against old, 3 documents, 2,000 resamples of documents"
    assert list(head.notes) == []
    assert table.rows == [
        ("AP *", "0.500 [.25, 1.00]", "0.250", "−0.250 [−0.50, +0.00]", "<0.001", "worse"),
        ("recall@0.5", "0.500", "0.750", "+0.250", "", ""),
    ]
    assert list(table.notes) == [
        "0 truths broken, 1 fixed, 1 false alarm new, 2,000 gone · by document 1 better, 2 equal, 3 worse",
        "A difference of 0.300 in AP would show on this corpus; 0.01 would need about 1,200 documents.",
        "* tested, corrected for 1 test; the others are shown, not tested",
    ]
    assert line.notes == [str(made.signature)]
    assert [row[0] for row in sections(made, brief=True)[1].rows] == ["AP *"]
    (few, bare, _) = sections(comparison(compared("AP", 0.5, 0.5, primary=True, documents=9), told=False))
    assert list(few.notes) == ["9 documents are few: intervals are unreliable"]
    assert list(bare.notes) == ["* tested, corrected for 1 test; the others are shown, not tested"]
    assert bare.rows[0][4] == "–"
    lone = sections(comparison(compared("AP", 0.5, 0.5, primary=True, documents=1)))[0]
    assert list(lone.notes) == ["1 document is few: intervals are unreliable"]
    assert "no measure is tested" in sections(comparison(RECALL))[1].notes
    assert title(made, "macro.unknown@0.5") == "macro.unknown@0.5"


@pytest.mark.parametrize(("p", "shown"), [(0.0004, "<0.001"), (0.0005, "0.001"), (0.0494, "0.049")])
def test_small_chances_are_not_called_nothing(p: float, shown: str) -> None:
    (row,) = sections(comparison(compared("AP", 0.5, 0.6, primary=True, p_adjusted=p)))[1].rows
    assert row[4] == shown


def test_the_tree_and_the_rows_of_a_comparison() -> None:
    made = comparison(compared("AP", 0.5, 0.25, primary=True), RECALL, broken=1)
    told = tree(made)
    assert told["resampling"] == {"replicates": 2000, "seed": 0, "confidence": 0.95, "documents": 3}
    assert told["measures"]["AP"]["delta"] == told["measures"]["AP"]["new"]["delta"]
    assert [key in told["measures"][name]["delta"] for name in ("AP", "recall@0.5") for key in ("verdict", "p")] == [
        False, True, False, True,
    ]  # fmt: skip
    assert told["changed"] == [
        {"run": "new", "document": "a", "page": 0, "id": 0, "label": "Table", "change": "broken", "from": "tp", "to": "fn"}
    ]
    assert told["false_alarms"] == {"new": {"new": 1, "gone": 2000}}
    assert [(row["measure"], row["run"], "delta_value" in row) for row in rows(made)] == [
        ("AP", "old", False), ("AP", "new", True), ("recall@0.5", "old", False), ("recall@0.5", "new", True),
    ]  # fmt: skip
    nothing = Compared(
        "AP", {"old": Interval(None, None, None, None, 0), "new": Interval(1.0, None, None, None, 0)}, {}, False, False
    )
    assert tree(comparison(nothing))["undefined"] == {"measures.AP.old.value": "not in this run"}


def test_intervals_beside_a_result() -> None:
    measures = {
        "AP": Interval(0.5, 0.25, 0.75, 0.1, 9),
        "recall@0.5": Interval(0.5, None, None, 0.1, 4),
        "f1@0.5": Interval(0.5, 0.25, 0.75, 0.1, 10),
        "recall@0.5/Table": Interval(0.5, None, None, 0.1, 4),
    }
    (section,) = interval_addition(result(), Resampling(replicates=1000, confidence=0.9), measures).sections
    assert section.title == "Intervals of 90 % (1,000 resamples of documents)"
    assert [row[0] for row in section.rows] == ["AP", "recall@0.5", "f1@0.5"]
    assert list(section.notes) == [
        "unreliable, in fewer than 10 documents: AP",
        "no interval, in fewer than 5 documents: recall@0.5",
        "1 more, of classes and other means, are in JSON and CSV",
    ]


def standing(
    alarms: FalsePositives, scores: list[float], rights: tuple[bool, ...] = (), kinds: tuple[str, ...] = ()
) -> RunOutcomes:
    size = len(rights)
    places = tuple(range(size))
    truths = TruthOutcomes((0,) * size, places, (0,) * size, places, ("Table",) * size, kinds, rights)
    return RunOutcomes(truths, alarms, np.array(scores))


def test_what_one_run_does_otherwise() -> None:
    boxes = np.array([[0, 0, 10, 10], [0, 0, 10, 5], [50, 0, 60, 10.0]])
    old = FalsePositives((0, 0), (0, 0), ("Table", "Figure"), boxes[[0, 2]])
    new = FalsePositives((0, 0, 1), (0, 0, 0), ("Table", "Table", "Figure"), boxes[[1, 2, 2]])  # half a box is the same place
    before = standing(old, [0.5, 0.25, np.nan], (True, False, False, True), ("tp", "fn", "loc", "tp"))
    after = standing(new, [0.5, 0.75, 0.0], (False, True, False, True), ("fn", "tp", "cls", "tp"))
    made = changes("new", (result(), before), (result(), after))
    assert [one.change for one in made.changed] == ["broken", "fixed", "changed"]
    assert (made.new_alarms, made.gone_alarms) == (2, 1)
    assert (made.documents.better, made.documents.equal, made.documents.worse) == (1, 1, 1)
    assert made.documents.listed == (
        {"document": "c", "change": "worse", "from": None, "to": 0.0},
        {"document": "b", "change": "better", "from": 0.25, "to": 0.75},
    )


def test_alarms_without_boxes_are_known_by_their_labels() -> None:
    old, new = FalsePositives((0, 0), (0, 0), ("a", "a")), FalsePositives((0, 0, 1), (0, 0, 0), ("a", "b", "a"))
    made = changes("new", (result(), standing(old, [1, 1, 1])), (result(), standing(new, [1, 1, 1])))
    assert (made.new_alarms, made.gone_alarms) == (2, 1)


@pytest.mark.parametrize("task", ["layout", "words", "fields"])
def test_what_was_let_go_of_leaves_the_scores_of_documents(task: str) -> None:
    made = MADE[task]()
    whole, slim = (made.task.run_outcomes(ledger) for ledger in (made.ledger, made.ledger.without_details()))
    assert whole is not None
    assert slim is not None
    assert slim.scores.tolist() == whole.scores.tolist()
    assert len(whole.alarms.unit) > 0 or task == "fields"
    assert tuple(map(list, (slim.alarms.unit, slim.alarms.page, slim.alarms.label))) == ([], [], [])
    known = {"layout": whole.truths.label, "words": [""] * len(whole.truths.label), "fields": []}
    assert list(slim.truths.label) == list(known[task])
    assert list(slim.truths.right) == ([] if task == "fields" else list(whole.truths.right))


def test_tasks_that_tell_nothing_of_their_truths_have_no_changes() -> None:
    sides = {"a": 1, "b": 2}, {"a": 1, "b": 3}
    runs = [Evaluator(Counting()).update(sides[0], found).compute() for found in sides[::-1]]
    made = compare(runs, ["old", "new"], resampling=FEW)
    told = {"run": "new", "headline": ["so"], "counts": [0, 0, 0, 0], "documents": [0, 0, 0]}
    assert _pair(made, "new", ["so"]) == told
    assert change_columns(made, [{}, {}]) == {}
    layout = compare([MADE["layout"](), MADE["layout"](better=True)], ["old", "new"], resampling=FEW)
    assert _pair(layout, "new", ["so"]) == {**told, "counts": [0, 0, 1, 1], "documents": [0, 3, 0]}
    first = layout.results["old"]
    standing = first.task.run_outcomes(first.ledger)
    assert standing is not None
    assert rows_of(first, standing.truths, {}).tolist() == [-1] * len(standing.truths.unit)  # nothing is drawn of them


@pytest.mark.parametrize("names", [NAMES, ["x", "y", "z"]])
def test_runs_of_other_settings_are_refused_before_their_documents_are_looked_at(names: list[str]) -> None:
    def run(level: float, names: list[str]) -> Result:
        sides = (Corpus.from_arrays(FINE, LABELS, documents=names, **more) for more in ({}, {"scores": [0.9] * 3}))
        return Evaluator(Detection(iou=(level,))).update(*sides).compute()

    with pytest.raises(MergeError, match=r"run 1 and run 2 were made with different settings: iou: 0\.5"):
        compare([run(0.5, NAMES), run(0.6, names)], shared_documents=True)
