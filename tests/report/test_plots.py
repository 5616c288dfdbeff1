"""Plots: what each shows is the result's, vector output keeps text as text, and what a result does not have is refused."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest

from calque import Corpus, Detection, Evaluator, Result
from calque.base.errors import ConfigError
from calque.base.style import TOKENS
from calque.report.page import asset
from calque.report.plots import LINES, _parts
from calque.sample import sample
from calque.statistics.bootstrap import Resampling
from calque.statistics.comparison import compare
from tests.report.made import MADE

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def results() -> list[Result]:
    files = sample()
    return [Evaluator(Detection()).update(files["truth"], files[model]).compute() for model in ("finder", "cropper")]


def svg(figure: Any) -> str:
    out = io.BytesIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue().decode()


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("pr", ["recall", "precision", "Figure", "Table"]),
        ("errors", ["MISS", "BKG"]),
        ("crops", ["top", "bottom"]),
        ("calibration", ["confidence"]),
        ("classes", ["Figure", "Table", "F1 at IoU 0.5"]),
    ],
)
def test_plots_of_detection(results: list[Result], kind: str, words: list[str]) -> None:
    figure = results[0].plot(kind)
    drawn = svg(figure)
    for word in words:
        assert f">{word}<" in drawn
    assert svg(results[0].plot(kind)) == drawn


def test_plot_in_a_notebook_displays_itself_once(results: list[Result]) -> None:
    """IPython asks an object for ``_repr_png_``; figures that pyplot knows are shown again at the end of the cell."""
    from matplotlib import pyplot

    comparison = compare(results, resampling=Resampling(100))
    for figure in (results[0].plot(), comparison.plot()):
        assert figure._repr_png_().startswith(b"\x89PNG")
    assert pyplot.get_fignums() == []


def test_plot_into_given_axes_returns_them_and_not_a_second_picture(results: list[Result]) -> None:
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    assert results[0].plot("pr", ax=axes) is axes
    assert axes.lines
    assert compare(results, resampling=Resampling(100)).plot(ax=axes) is axes
    assert not hasattr(axes, "_repr_png_")


def test_the_curve_is_the_results(results: list[Result]) -> None:
    (axes,) = results[0].plot("pr").axes
    curves = results[0].numbers["coco"]["curves"]
    assert list(axes.lines[0].get_ydata()) == curves["precision"]["0.5"]["Figure"]
    (axes,) = results[0].plot("crops").axes
    cut = results[0].task.view().report_numbers(results[0].ledger, results[0].numbers)["crops"]["overall"]["cut"]
    assert max(bar.get_height() for bar in axes.patches) == cut["top"]["0.02"]
    (axes,) = results[0].plot("calibration").axes
    scores = {row["id"]: row["score"] for row in results[0].outcomes().rows() if row["side"] == "prediction"}
    rows = [row for row in results[0].outcomes().rows() if row["side"] == "prediction" and 0.5 <= scores[row["id"]] < 0.6]
    place = [round(x, 1) for x in axes.lines[1].get_xdata()]
    mean = sum(row["score"] for row in rows) / len(rows)
    at = next(at for at, x in enumerate(axes.lines[1].get_xdata()) if abs(x - mean) < 1e-12)
    assert axes.lines[1].get_ydata()[at] == sum(row["outcome"] == "tp" for row in rows) / len(rows), place


def test_bars_have_their_numbers_and_room(results: list[Result]) -> None:
    figure = MADE["fields"]().plot("classes")
    (axes,) = figure.axes
    numbers = MADE["fields"]().numbers["fields"]
    drawn = {tick.get_text(): bar.get_width() for tick, bar in zip(axes.get_yticklabels(), axes.patches, strict=True)}
    assert drawn == {name: row["cm_f1"] for name, row in numbers.items()}
    assert [text.get_text() for text in axes.texts] == [f"{value:.3f}" for value in drawn.values()]
    assert axes.get_xlabel() == "F1"
    assert figure.get_figheight() > results[0].plot("errors").get_figheight()


def test_many_classes_leave_room_for_the_curves() -> None:
    count = 30
    boxes = [[10 * place, 10 * place, 10 * place + 9, 10 * place + 9] for place in range(count)]
    names = [f"a rather long name of class {place:02}" for place in range(count)]
    truth = Corpus.from_arrays(boxes, names)
    found = Corpus.from_arrays(boxes[3:], names[3:], scores=[0.5] * (count - 3))
    result = Evaluator(Detection()).update(truth, found).compute()
    (axes,) = result.plot("pr").axes
    told = [text.get_text() for text in axes.get_legend().get_texts()]
    assert told[0] == "24 better classes"
    assert told[1:4] == [f"a rather long …e of class {place:02}" for place in range(3)]  # those that are never found
    assert len(told) == 7
    assert len(axes.lines) == count
    (axes,) = result.plot("classes").axes
    assert len(axes.patches) == 20
    assert axes.get_xlabel() == "F1 at IoU 0.5, the lowest 20 of 30"


@pytest.mark.parametrize("count", [3, 4])
def test_a_few_names_stand_below_the_curves_and_more_beside_them(count: int) -> None:
    boxes = [[10 * place, 0, 10 * place + 9, 9] for place in range(count)]
    names = [f"class {place:02}" for place in range(count)]
    sides = Corpus.from_arrays(boxes, names), Corpus.from_arrays(boxes, names, scores=[0.5] * count)
    (axes,) = Evaluator(Detection()).update(*sides).compute().plot("pr").axes
    axes.figure.canvas.draw()
    inside = axes.get_legend().get_window_extent().x1 <= axes.get_window_extent().x1
    assert bool(inside) is (count == 3)


def test_several_runs_are_told_apart(results: list[Result]) -> None:
    both = compare([*results, results[0]], ["a", "b", "c"], resampling=Resampling(replicates=100)).plot()
    (axes,) = both.axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["b", "c"]
    assert {line.get_marker() for line in axes.lines} >= {"o", "s"}


def ticks(axis: Any) -> list[Any]:
    """The labels of the ticks that are drawn."""
    low, high = sorted(axis.get_view_interval())
    return [label for at, label in zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=True) if low <= at <= high]


def crowded(figure: Any) -> list[str]:
    """Texts of a figure that lie on one another or reach out of it; and what else makes it hard to read."""
    figure.draw_without_rendering()
    (axes,) = figure.axes
    told = [*ticks(axes.xaxis), *ticks(axes.yaxis), axes.xaxis.label, axes.yaxis.label, *axes.texts]
    told += axes.get_legend().get_texts() if axes.get_legend() else []
    seen = [(text.get_text(), text.get_window_extent()) for text in told if text.get_text()]
    (left, low), (right, high) = figure.bbox.padded(1).get_points()
    said = [text for text, box in seen if box.x0 < left or box.x1 > right or box.y0 < low or box.y1 > high]
    for at, (text, box) in enumerate(seen):
        said += [f"{text} on {other}" for other, there in seen[at + 1 :] if box.padded(-1).overlaps(there.padded(-1))]
    return said + (["no room for the data"] if axes.get_window_extent().width < 2 * figure.dpi else [])


ODD = ("from $5 to $6", "$\\nothing$", "a\x00b\u202ec", "x" * 300, "</script>", "a rather long name of a class", "short")


@pytest.mark.filterwarnings("error")
def test_odd_names_are_written_as_they_are_and_leave_room() -> None:
    boxes = [[10 * place, 10 * place, 10 * place + 9, 10 * place + 9] for place in range(len(ODD))]
    truth = Corpus.from_arrays(boxes, list(ODD), documents=list("abcdefg"))
    found = Corpus.from_arrays(boxes[2:], list(ODD[2:]), documents=list("cdefg"), scores=[0.5] * (len(ODD) - 2))
    result = Evaluator(Detection()).update(truth, found).compute()
    for kind in ("pr", "errors", "classes", "calibration"):
        figure = result.plot(kind)
        assert crowded(figure) == [], kind
        assert kind not in ("pr", "classes") or ">from $5 to $6<" in svg(figure)
    runs = compare([result, result, result, result], ODD[:4], resampling=Resampling(replicates=100))
    assert crowded(runs.plot()) == []


def test_plots_of_every_task_are_legible(results: list[Result]) -> None:
    for task, make in MADE.items():
        assert crowded(make().plot()) == [], task
    for runs in (results, [*results, results[0]], [*results, *results]):
        made = compare(runs, [f"run {place}" for place in range(len(runs))], resampling=Resampling(replicates=100))
        figure = made.plot()
        assert crowded(figure) == []
        assert figure.get_figheight() < 8.0  # more runs do not make a page of it
    counts = compare([MADE["layout"](), MADE["layout"](better=True)], ["a", "b"], resampling=Resampling(replicates=100))
    (axes,) = counts.plot().axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["accuracy over all", "accuracy"]  # no counts among shares


def test_a_run_without_a_value_has_no_point() -> None:
    truth = Corpus.from_arrays([[0, 0, 9, 9]], ["x"], documents=["a"])
    found = Corpus.from_arrays([[0, 0, 9, 9]], ["x"], documents=["a"], scores=[0.5])
    none = Corpus.from_arrays([], [], documents=[], scores=[], all_documents=["a"], label_names=["x"])
    runs = [Evaluator(Detection()).update(truth, side).compute() for side in (found, found, none)]
    made = compare(runs, ["a", "b", "c"], resampling=Resampling(replicates=100))
    (axes,) = made.plot().axes
    shown = [text.get_text() for text in axes.get_yticklabels()]
    points = {marker: sum(line.get_marker() == marker and len(line.get_xdata()) == 1 for line in axes.lines) for marker in "os"}
    assert "precision@0.5" in shown
    without = [made.delta(name, "c").value for name in ("precision@0.5", "recall@0.5")]
    assert without == [None, -1.0]
    assert points["o"] == len(shown)
    assert 0 < points["s"] < len(shown)


def test_other_tasks_have_plots_or_say_so(results: list[Result]) -> None:
    for make in MADE.values():
        assert svg(make().plot())
    with pytest.raises(ConfigError, match=r"no plot is named 'pt' here: there are pr, errors, crops"):
        results[0].plot("pt")


def test_a_comparison_is_plotted_with_its_intervals(results: list[Result]) -> None:
    comparison = compare(results, ["finder", "cropper"], resampling=Resampling(replicates=100))
    figure = comparison.plot()
    drawn = svg(figure)
    assert "cropper against finder" in drawn
    assert ">recall@0.5<" in drawn
    (axes,) = figure.axes
    (low, high), rows = axes.get_ylim(), axes.get_yticks()
    assert rows[0] - low == pytest.approx(high - rows[-1]), "as much room above the last row as below the first"
    assert 0.5 < rows[0] - low < 1


def test_better_and_worse_are_told_without_colours(results: list[Result]) -> None:
    """Where there is no interval, too, and of what should be low."""
    runs = [MADE["words"](), MADE["words"](better=True)]
    for made, worse in ((runs, False), (runs[::-1], True)):
        (axes,) = compare(made, ["a", "b"], resampling=Resampling(replicates=100)).plot().axes
        points = [line for line in axes.lines if line.get_marker() == "o"]
        assert len(points) > 4
        assert {line.get_markerfacecolor() == "white" for line in points} == {worse}


def test_strokes_of_a_legend_are_seen_whole() -> None:
    count = 6
    boxes = [[10 * place, 0, 10 * place + 9, 9] for place in range(count)]
    names = [f"class {place:02}" for place in range(count)]
    sides = Corpus.from_arrays(boxes, names), Corpus.from_arrays(boxes, names, scores=[0.5] * count)
    (axes,) = Evaluator(Detection()).update(*sides).compute().plot("pr").axes
    handles = axes.get_legend().get_lines()
    for line, (_, stroke) in zip(handles, LINES, strict=True):
        once = 0 if isinstance(stroke, str) else sum(stroke[1]) * line.get_linewidth()  # in points, as the handle is
        assert max(line.get_xdata()) > 1.4 * once, line.get_label()


def test_a_ceiling_is_told_with_its_threshold() -> None:
    (axes,) = MADE["ceiling"]().plot("classes").axes
    assert axes.get_xlabel() == "recall at IoU 0.5"


def test_one_set_of_colours() -> None:
    """What the contract names, what the page has, and what notebooks and plots are given are the same."""
    style = asset("app.css").lower()
    full = {"fff": "ffffff"}
    named = {
        "paper": "FBFAF7/15181C", "panel": "FFFFFF/1C2025", "sunk": "F3F1EB/111417", "ink": "1B1F24/ECEAE4",
        "ink-2": "535C67/B3BAC3", "ink-3": "646D78/8F98A3", "line": "E2DED4/2D333A", "line-2": "CFCABE/434B55",
        "link": "0B5C9E/7DB7F0", "tp": "0072B2/5A89C1", "fn": "B84A00/DB7C26", "fp": "5C1668/E2B0E5",
        "wrong": "14171A/F6F7E7", "ignored": "646D78/8F98A3",
    }  # fmt: skip
    for name, pair in named.items():
        found = re.search(rf"--{name}: ?light-dark\(#(\w+), ?#(\w+)\)", style)
        assert found is not None, name
        assert [full.get(part, part) for part in found.groups()] == pair.lower().split("/"), name
        assert TOKENS[name] == tuple(f"#{part}" for part in pair.split("/")), name
    assert f"--cut: {TOKENS['cut'][0].lower()}" in style.replace("--cut:#", "--cut: #")


@pytest.mark.parametrize(("level", "told"), [("value", "recall"), ("0.5", "recall at IoU 0.5")])
def test_the_recall_of_a_ceiling_of_values_has_no_threshold(level: str, told: str) -> None:
    block = {"single": {"a": {"recall": 0.5}}, "select": {"recall": 0.75}}
    table, name, title = next(_parts({"levels": {level: block}}))
    assert (list(table), name, title) == (["a", "best selection of all"], "recall", told)
