"""Plots of results for notebooks and papers, with the colours and marks of the report. Needs matplotlib."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from calque.base.errors import ConfigError, MissingExtra, did_you_mean
from calque.base.style import on_paper
from calque.base.wording import brief, counted
from calque.evaluation.presentation.sections import printable

if TYPE_CHECKING:
    from calque.evaluation.result import Result
    from calque.statistics.comparison import Compared, Comparison

FOUND, MISSED, ALARM, INK, SOFT, CUT, AMBER = map(on_paper, ("tp", "fn", "fp", "ink", "ink-3", "cut", "cut-line"))
LINES = (
    (FOUND, "-"), (MISSED, (0, (5, 2))), (ALARM, (0, (1.4, 2))), (INK, (0, (7, 2, 1.4, 2))), (SOFT, (0, (10, 2))),
    (AMBER, (0, (7, 2, 1.4, 2, 1.4, 2))),
)  # fmt: skip
"""Lines are told apart by their strokes, too."""
FAINT = on_paper("line-2")
LONGEST, SHORT, MOST_BARS, FEW = 28, 12, 20, 3
HANDLE = 3.6
"""How long a line of a legend is: so long that every stroke is seen twice."""
MARKERS = "osD^Pv"
"""What several runs are told apart by."""
STYLE: Any = {
    "font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": SOFT,
    "axes.labelcolor": INK, "xtick.color": SOFT, "ytick.color": SOFT, "text.color": INK, "legend.frameon": False,
    "svg.fonttype": "none", "pdf.fonttype": 42, "figure.constrained_layout.use": True, "svg.hashsalt": "calque",
    "text.parse_math": False,
}  # fmt: skip
"""Text stays text in vector output, so that a paper can be searched and set in its own type. Dollars make no formula."""


EAST_ASIAN = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans CJK KR", "Source Han Sans SC", "Source Han Sans", "PingFang SC",
    "Hiragino Sans", "Apple SD Gothic Neo", "Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "WenQuanYi Zen Hei", "IPAGothic",
    "Droid Sans Fallback",
)  # fmt: skip
"""Fonts of usual systems that have what matplotlib's own font lacks."""


def families(installed: Iterable[str]) -> list[str]:
    """The fonts that text is set in: after the usual ones those for Chinese, Japanese and Korean that are there.

    >>> families(["DejaVu Sans", "Yu Gothic"])
    ['sans-serif', 'Yu Gothic']
    """
    known = set(installed)
    return ["sans-serif", *(name for name in EAST_ASIAN if name in known)]


class Size(NamedTuple):
    """How large a figure should be, where that follows from what is in it, in inches."""

    height: float = 3.0
    beside: float = 0.0
    """What stands beside the axes and must not be taken from them."""


Drawn = Callable[[Any, Mapping[str, Any]], Size]
"""Draws on axes, and says how large they should be."""


def figure(result: Result, kind: str = "", axes: Any = None) -> Any:
    """Draw one plot of a result: the given kind, or the first that the result has. Return its figure, or the given axes."""
    numbers = {**result.numbers, **result.task.view().report_numbers(result.ledger, result.numbers)}
    if isinstance(means := numbers.get("mean"), Mapping):
        titles = {measure.name: measure.title for measure in result.task.measures()}
        numbers["mean"] = {titles.get(name, name): value for name, value in means.items()}
    there = {name: draw for name, (draw, has) in KINDS.items() if has(numbers)}
    if not there:
        raise ConfigError(f"there is nothing to plot in a result of {result.task.name}")
    chosen = kind or next(iter(there))
    if chosen not in there:
        raise ConfigError(f"no plot is named {kind!r} here: there are {', '.join(there)}. {did_you_mean(kind, there)}".strip())
    return _on(axes, lambda place: there[chosen](place, numbers))


def comparison_figure(comparison: Comparison, axes: Any = None) -> Any:
    """Draw the differences of the runs to the first, with their intervals. Return the figure, or the given axes."""
    return _on(axes, lambda place: _differences(place, comparison))


def _on(axes: Any, draw: Callable[[Any], Size]) -> Any:
    try:
        from matplotlib import font_manager, rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("matplotlib", "plots", "plot()") from error

    style = {**STYLE, "font.family": families(font_manager.get_font_names())}

    class Paper(Figure):
        """A figure that is saved as it was drawn: text is text, the same input gives the same bytes."""

        def savefig(self, *given: Any, **named: Any) -> None:
            with rc_context(style):
                super().savefig(*given, **named)

        def _repr_png_(self) -> bytes:
            """Return the picture that a notebook displays. pyplot does not know the figure and cannot show it again."""
            out = io.BytesIO()
            self.savefig(out, format="png")
            return out.getvalue()

    with rc_context(style):
        if axes is not None:
            draw(axes)
            return axes  # a notebook shows the figure of these axes itself, and would show a returned figure again
        figure = Paper()
        size = draw(figure.subplots())
        figure.set_size_inches(4.2 + size.beside, size.height)
    return figure


def _rows(count: float, names: Iterable[str]) -> Size:
    """As tall as so many rows need, and wider by what long names take."""
    return Size(0.8 + 0.24 * max(2, count), 0.07 * max(0, max(map(len, names), default=0) - SHORT))


def _named(name: str) -> str:
    """A name as it has room in a figure, with nothing in it that no font can draw."""
    return brief(printable(name), LONGEST)


def _pr(axes: Any, numbers: Mapping[str, Any]) -> Size:
    """Precision against recall for each class, at IoU 0.5; of many classes the worst have names."""
    recall, curves = numbers["coco"]["curves"]["recall"], numbers["coco"]["curves"]["precision"]["0.5"]
    named = dict(sorted(curves.items(), key=lambda entry: sum(entry[1]))[: len(LINES)])
    others = [precision for label, precision in curves.items() if label not in named]
    for place, precision in enumerate(others):
        axes.plot(
            recall,
            precision,
            color=FAINT,
            linewidth=0.6,
            label="" if place else counted(len(others), "better class", "better classes"),
        )
    for label, (colour, stroke) in zip([label for label in curves if label in named], LINES, strict=False):
        axes.plot(recall, curves[label], linestyle=stroke, color=colour, label=_named(label), linewidth=1.4)
    axes.set(xlabel="recall", ylabel="precision", xlim=(0, 1), ylim=(0, 1.02))
    # A few names have room below the curves; more stand beside them.
    if len(curves) <= FEW:
        axes.legend(loc="lower left", handlelength=HANDLE)
        return Size()
    legend = axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), handlelength=HANDLE)
    return Size(beside=0.8 + 0.07 * max(len(text.get_text()) for text in legend.get_texts()))


def _kinds(axes: Any, numbers: Mapping[str, Any]) -> Size:
    """What F1 would gain without each kind of error."""
    worth = {kind: told["delta_f1"] for kind, told in _impact(numbers).items() if told["delta_f1"]}
    axes.set(xlabel="gain in F1 without this kind")
    return _bars(axes, sorted(worth.items(), key=lambda entry: entry[1]), color=MISSED, hatch="////", edgecolor="white")


def _bars(axes: Any, rows: Sequence[tuple[str, float]], **look: Any) -> Size:
    """Horizontal bars from 0 with their numbers behind them, the last row on top."""
    bars = axes.barh(range(len(rows)), [value for _, value in rows], height=0.62, linewidth=0, **look)
    axes.set_yticks(range(len(rows)), [_named(name) for name, _ in rows])
    axes.locator_params(axis="x", nbins=6)
    axes.bar_label(bars, fmt="%.3f", padding=3, fontsize=8)
    if len(rows) == 1:
        axes.set_ylim(-0.9, 0.9)  # one bar is no thicker than others
    return _rows(len(rows), [_named(name) for name, _ in rows])


def _crops(axes: Any, numbers: Mapping[str, Any]) -> Size:
    """The share of crops that lose more than 2, 5 and 10 % at each side."""
    cut = numbers["crops"]["overall"]["cut"]
    sides = ("left", "top", "right", "bottom")
    for place, (limit, colour) in enumerate((("0.02", "#F6DDA9"), ("0.05", "#EEBF57"), ("0.1", CUT))):
        spots = [at + 0.27 * (place - 1) for at in range(len(sides))]
        axes.bar(spots, [cut[side][limit] for side in sides], 0.25, color=colour, label=f"more than {100 * float(limit):.0f} %")
    axes.set(xticks=range(len(sides)), ylabel="share of crops", ylim=(0, 1))
    axes.set_xticklabels(sides)
    axes.legend()
    return Size()


def _calibration(axes: Any, numbers: Mapping[str, Any]) -> Size:
    """How often values of each confidence are right."""
    bins = _bins(numbers)
    axes.plot([0, 1], [0, 1], color=SOFT, linewidth=0.8, linestyle=":")
    axes.plot([mean for mean, _ in bins], [right for _, right in bins], "o-", color=FOUND, markersize=4, clip_on=False)
    axes.set(xlabel="confidence", ylabel="share that is right", xlim=(0, 1), ylim=(0, 1.02))
    return Size()


def _bins(numbers: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Mean confidence and share that is right, of fields or of the boxes of detection at the lowest threshold."""
    overall = numbers.get("confidence_metrics", {}).get("overall", {})
    known = overall.get("ece", {}).get("bins") if isinstance(overall.get("ece"), Mapping) else None
    drawn = [(one["mean_confidence"], one["accuracy"]) for one in known or [] if isinstance(one, Mapping) and one.get("count")]
    return drawn or [(mean, right) for _, _, _, mean, right in next(iter(numbers.get("score_calibration") or []), [])]


def _classes(axes: Any, numbers: Mapping[str, Any]) -> Size:
    """F1, accuracy or recall of each class, field, document or system; of tables the means."""
    title, shares = _shares(numbers)
    more = f", the lowest {MOST_BARS} of {len(shares):,}" if len(shares) > MOST_BARS else ""
    axes.set(xlim=(0, 1), xlabel=f"{title}{more}")
    return _bars(axes, sorted(shares.items(), key=lambda entry: entry[1])[:MOST_BARS][::-1], color=FOUND)


SHARES = (
    ("per_class", "layout_accuracy_over_total", "share of blocks found and named right"),
    ("fields", "cm_f1", "F1"),
    ("evaluators", "pass_rate", "pass rate"),
    ("documents", "recall", "recall"),
    ("documents", "pairs", "share of pairs in order"),
)
"""Where a result has a share for each of its parts, under which name, and what it is called."""


def _shares(numbers: Mapping[str, Any]) -> tuple[str, dict[str, float]]:
    for rows, name, title in _parts(numbers):
        if isinstance(rows, Mapping):
            known = {
                label: row[name] for label, row in rows.items() if isinstance(row, Mapping) and isinstance(row.get(name), float)
            }
            if known:
                return title, known
    means = numbers.get("mean")
    return "mean", {name: value for name, value in means.items() if isinstance(value, float)} if isinstance(
        means, Mapping
    ) else {}


def _parts(numbers: Mapping[str, Any]) -> Iterator[tuple[Any, str, str]]:
    """Tables with a share for each part; of several thresholds the lowest. Of a ceiling these are its systems."""
    for limit, block in list(numbers.get("metrics", {}).items())[:1]:
        yield block["per_class"], "f1", f"F1 at IoU {limit}"
    for limit, block in list(numbers.get("levels", {}).items())[:1]:
        yield (
            {**block["single"], "best selection of all": block["select"]},
            "recall",
            "recall" if limit == "value" else f"recall at IoU {limit}",
        )
    for table, name, title in SHARES:
        yield numbers.get(table), name, title


def _impact(numbers: Mapping[str, Any]) -> Mapping[str, Mapping[str, float | None]]:
    errors = numbers.get("errors")
    return errors.get("impact", {}) if isinstance(errors, Mapping) else {}


KINDS: Mapping[str, tuple[Drawn, Callable[[Mapping[str, Any]], bool]]] = {
    "pr": (_pr, lambda numbers: bool(numbers.get("coco", {}).get("curves", {}).get("precision", {}).get("0.5"))),
    "errors": (_kinds, lambda numbers: any(told["delta_f1"] for told in _impact(numbers).values())),
    "crops": (_crops, lambda numbers: bool((numbers.get("crops") or {}).get("overall", {}).get("pairs"))),
    "classes": (_classes, lambda numbers: bool(_shares(numbers)[1])),
    "calibration": (_calibration, lambda numbers: bool(_bins(numbers))),
}
"""Every plot of a result, and whether a result has it."""


def _shares_of_everything(comparison: Comparison) -> list[Compared]:
    """The measures of everything that are shares: counts have a scale of their own."""
    whole = [one for one in comparison.measures.values() if "/" not in one.name and "." not in one.name.partition("@")[0]]
    return [one for one in whole if any(isinstance(delta.value, float) for delta in one.deltas.values())]


def _differences(axes: Any, comparison: Comparison) -> Size:
    from calque.statistics.presentation import title

    shown = _shares_of_everything(comparison)[:14][::-1]
    runs = list(comparison.results)[1:]
    apart = 0.62 / len(runs)
    for place, run in enumerate(runs):
        for at, one in enumerate(shown):
            delta = one.deltas[run]
            if delta.value is None:
                continue
            better = (delta.value > 0) != one.lower_is_better
            colour = SOFT if not delta.value else FOUND if better else MISSED
            spot = at - apart * (place - (len(runs) - 1) / 2)
            if delta.low is not None and delta.high is not None:
                axes.plot([delta.low, delta.high], [spot, spot], "-" if better else "--", color=colour, linewidth=2)
            # What is worse is hollow, so that it is told without colours too.
            filled = colour if better or not delta.value else "white"
            axes.plot([delta.value], [spot], MARKERS[place % len(MARKERS)], color=colour, markersize=4, markerfacecolor=filled)
    if len(runs) > 1:
        for place, run in enumerate(runs):
            axes.plot([], [], MARKERS[place % len(MARKERS)], color=INK, markersize=4, linestyle="", label=_named(run))
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=1 if max(map(len, runs)) > SHORT else 3, borderpad=0.2)
    axes.axvline(0, color=SOFT, linewidth=0.8)
    told = _named(runs[0]) if len(runs) == 1 else "difference", f"against {_named(comparison.base)}"
    axes.set(yticks=range(len(shown)), xlabel=("\n" if sum(map(len, told)) > LONGEST else " ").join(told))
    names = [title(comparison, one.name) for one in shown]
    axes.set_yticklabels(names)
    axes.set_ylim(-0.7, len(shown) - 0.3)
    axes.locator_params(axis="x", nbins=7)
    return _rows(len(shown) * (0.6 + 0.4 * len(runs)) + len(runs), names)
