"""The detection task: its settings, and where each of its steps lives."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from calque.base.arguments import renamed_arguments
from calque.base.errors import ConfigError, did_you_mean
from calque.evaluation.boxes.reading import BoxReading
from calque.evaluation.task import Task, setting, spell
from calque.geometry.forms import ON

if TYPE_CHECKING:
    from calque.base.columns import Table
    from calque.corpus.boxes import BoxCorpus, Corpus
    from calque.detection.kinds import Limits
    from calque.evaluation.document_sums import WeightedMetrics
    from calque.evaluation.item_outcomes import RunOutcomes
    from calque.evaluation.ledger import Ledger
    from calque.evaluation.measures import Measure, MeasureName
    from calque.evaluation.nothing_evaluated import DocumentCoverage
    from calque.evaluation.view import TaskView

HEAVIEST = 1e100
"""The largest class weight: sums of weights times counts stay finite."""


@dataclass(frozen=True, repr=False, kw_only=True)
class Detection(BoxReading, Task):
    """Pairs boxes of one page and label greedily by IoU and counts what is found, missed and made up.

    >>> from calque import Corpus, Evaluator
    >>> truth = Corpus.from_arrays([[0, 0, 10, 10]], ["Table"])
    >>> predictions = Corpus.from_arrays([[0, 0, 10, 9]], ["Table"], scores=[0.8])
    >>> result = Evaluator(Detection()).update(truth, predictions).compute()
    >>> result["recall@0.75/Table"], result["Table", "mean_iou@0.5"]
    (1.0, 0.9)
    """

    name: ClassVar[str] = "detection"
    rows_are_named: ClassVar[bool] = True
    fixed: ClassVar[Mapping[str, str]] = {"match": "greedy"}
    streams: ClassVar[bool] = True
    memory_factor: ClassVar[int] = 16
    aliases: ClassVar[Mapping[str, str]] = {"mAP": "AP", "mAP50": "AP50", "mAP75": "AP75"}
    lower_is_better: ClassVar[frozenset[str]] = frozenset({
        "fp", "fn", "pages_with_fp", "delta_f1", "delta_ap", "CLS", "MERGE", "MERGED", "SPLIT", "DUP", "DUP_CLS", "FRAGMENT",
        "ENVELOPE", "LOC", "BOTH", "BKG", "MISS", "PARTIAL", "Cls", "Loc", "Both", "Dupe", "Bkg", "Miss",
    })  # fmt: skip
    neutral: ClassVar[frozenset[str]] = frozenset({"pages"})

    iou: tuple[float, ...] = setting((0.5, 0.75), kind="numbers", key="iou", always=True, help="IoU thresholds of a match.")
    labels: tuple[str, ...] = setting((), kind="words", key="labels", help="Labels to evaluate; default: all.")
    min_area: float = setting(
        0.0, kind="number", key="min-area", help="Ignore objects smaller than this area (in squared input units)."
    )
    min_score: float | None = setting(
        None,
        kind="number",
        key="min-score",
        help="Ignore predictions below this score (not in AP).",
    )
    missing: Literal["penalize", "intersect"] = setting(
        "penalize",
        kind="choice",
        choices=("penalize", "intersect"),
        key="missing",
        always=True,
        help="Count or skip documents that only one side has.",
    )
    class_weight: tuple[tuple[str, float], ...] = setting(
        (), kind="weights", key="class-weight", help="Weight of a label in means over classes (Table=2; default: 1)."
    )
    max_detections: tuple[float, ...] = setting(
        (1, 10, 100),
        kind="numbers",
        key="maxdets",
        always=True,
        help="Predictions per page and class in AR (inf: all).",
    )
    errors: Literal["kinds", "tide", "none"] = setting(
        "kinds",
        kind="choice",
        choices=("kinds", "tide", "none"),
        key="errors",
        help="Error types: those of calque, those of TIDE, or none.",
    )
    error_limits: tuple[float, ...] = setting(
        (0.5, 0.1, 0.5, 0.7),
        kind="numbers",
        key="error-limits",
        help="Thresholds of error types (four numbers).",
    )
    allow_missing_scores: bool = setting(False, kind="switch", key="missing-scores", help="Accept predictions without scores.")
    crops: bool = setting(False, kind="switch", view=True, help="Add what crops lose on each edge, and the worst crops.")
    confusion: bool = setting(False, kind="switch", view=True, help="Add the confusion matrix of classes.")
    sweep: bool = setting(False, kind="switch", view=True, help="Add the best score thresholds.")
    recall_floor: float = setting(
        0.0, kind="number", key="recall-floor", help="With --sweep: least recall at which precision is maximized."
    )
    precision_floor: float = setting(
        0.0,
        kind="number",
        key="precision-floor",
        help="With --sweep: least precision at which recall is maximized.",
    )
    page_view: bool = setting(
        False, kind="switch", view=True, help="Add missing, duplicated, misplaced and excess area, without a threshold."
    )
    beside: Literal["none", "shapes", "boxes", "masks"] = setting(
        "none",
        kind="choice",
        choices=("none", *ON),
        view=True,
        help="Add the main metrics on another geometry, next to those of --on.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "iou", tuple(sorted({float(value) for value in self.iou})))
        object.__setattr__(self, "labels", tuple(sorted(set(self.labels))))
        object.__setattr__(self, "class_weight", _class_weights(self.class_weight))
        object.__setattr__(self, "max_detections", _detection_limits(self.max_detections))
        if not self.iou or not all(0 < value <= 1 for value in self.iou):
            raise ConfigError(f"iou must be above 0 and at most 1, not {list(self.iou)}")
        if not (math.isfinite(self.min_area) and self.min_area >= 0):
            raise ConfigError(f"min_area must be a number from 0, not {self.min_area}")
        if self.min_score is not None and not math.isfinite(self.min_score):
            raise ConfigError(f"min_score must be a finite number, not {self.min_score}")
        object.__setattr__(self, "error_limits", tuple(float(value) for value in self.error_limits))
        self.limits()
        if not all(name and 0 <= weight <= HEAVIEST for name, weight in self.class_weight):
            raise ConfigError(f"class weights must be NAME=WEIGHT, from 0 to {HEAVIEST:g}, not {spell(self.class_weight)}")
        if len(dict(self.class_weight)) < len(self.class_weight):
            raise ConfigError(f"each class has one weight, not {spell(self.class_weight)}")
        self._check_views()

    def _check_views(self) -> None:
        for name in ("recall_floor", "precision_floor"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} must be a share from 0 to 1, not {getattr(self, name)}")
        object.__setattr__(self, "sweep", self.sweep or self.recall_floor > 0 or self.precision_floor > 0)

    def most_detections(self) -> int:
        """How many predictions of a page and class AP sees."""
        return int(min(self.max_detections[-1], 2**31 - 1))

    def limits(self) -> Limits:
        """Where one kind of error ends and the next begins."""
        from calque.detection.kinds import Limits

        return Limits.of(self.error_limits)

    @renamed_arguments(expected="truth", found="predictions")
    def batches(self, truth: Any, predictions: Any, *, jobs: int = 1) -> Iterator[tuple[Corpus, Corpus]]:
        """The two sides, checked against each other, with what is known of their documents where it is asked for."""
        from calque.corpus.boxes import Batches, documents_to_come

        batches = self.box_batches(truth, predictions, allow_missing_scores=self.allow_missing_scores, jobs=jobs)
        return Batches(self._checked(batches), documents_to_come(batches))

    def _checked(self, batches: Iterator[tuple[Corpus, Corpus]]) -> Iterator[tuple[Corpus, Corpus]]:
        for pair in batches:
            self._check_names(*pair)
            yield pair

    def _check_names(self, *corpora: Corpus) -> None:
        """Refuse a mistyped label: it would leave everything out. Only label maps tell that a name cannot occur."""
        maps: list[Mapping[Any, str] | None] = [getattr(corpus, "label_map", None) for corpus in corpora]
        known = {name for names in maps if names is not None for name in names.values()}
        if None in maps:
            return
        for name in (*self.labels, *dict(self.class_weight)):
            if name not in known:
                help = did_you_mean(name, known) or f"the labels are {', '.join(sorted(known))}"
                raise ConfigError(f"no file has the label {name!r}; {help}")

    @renamed_arguments(expected="truth", found="predictions")
    def score(self, truth: BoxCorpus, predictions: BoxCorpus, *, jobs: int = 1) -> Ledger:
        """The outcome of every box."""
        from calque.detection.scoring import score

        return score(self, truth, predictions, jobs=jobs)

    def coverage(self, ledger: Ledger) -> DocumentCoverage:
        """Which documents and pages the two sides are about, and whether any truth counts."""
        from calque.detection.scoring import counted
        from calque.evaluation.nothing_evaluated import box_coverage

        return box_coverage(ledger, counted, "objects")

    def measure(self, ledger: Ledger, *, jobs: int = 1) -> dict[str, Any]:
        """Precision, recall, F1 and spatial means at every threshold, then the views that were asked for."""
        from calque.detection import views
        from calque.detection.numbers import measure

        return {**measure(self, ledger, jobs=jobs), **views.measure(self, ledger)}

    @classmethod
    def full_name(cls, name: MeasureName) -> MeasureName:
        """Return the name in the JSON of the metric that a name means; an error type keeps its name.

        >>> from calque.evaluation.measures import MeasureName
        >>> [str(Detection.full_name(MeasureName.parse(text))) for text in ("TP", "TP@0.5", "mAP", "AP@0.5")]
        ['TP', 'tp@0.5', 'AP', 'AP50']
        """
        from calque.detection.kinds import numbers

        if numbers.address(name) is not None:
            return name
        full = super().full_name(name)
        single = {0.5: "AP50", 0.75: "AP75"}.get(full.threshold or 0.0) if full.name == "AP" else None
        return replace(full, name=single, threshold=None) if single else full

    def address(self, name: MeasureName) -> tuple[str, ...]:
        """Where a measure stands in the JSON."""
        from calque.detection.kinds import numbers

        of_errors = numbers.address(name)
        if of_errors is not None:
            return of_errors
        if name.name.startswith(("AP", "AR")):
            return ("coco", name.name) if name.label is None else ("coco", "per_class", name.label, name.name)
        threshold = repr(self.iou[0] if name.threshold is None else name.threshold)
        scope = name.scope or "micro"
        if name.label is None:
            return "metrics", threshold, scope, name.name
        return "metrics", threshold, "per_class" if scope == "micro" else scope, name.label, name.name

    def names(self, numbers: Mapping[str, Any]) -> list[str]:
        """Every measure: by threshold and scope, COCO's, error kinds and what they are worth."""
        from calque.detection.numbers import names

        return names(numbers)

    def compared(self, numbers: Mapping[str, Any]) -> list[str]:
        """Ratios and averages; counts and error kinds can be asked for."""
        from calque.detection.numbers import compared

        return compared(numbers)

    def primary(self) -> tuple[str, ...]:
        """AP, and F1 at the lowest threshold."""
        return "AP", f"f1@{self.iou[0]!r}"

    def outcomes(self, ledger: Ledger, *, threshold: float | None = None) -> Table:
        """One row for each object, with its outcome at one IoU threshold (default: the lowest)."""
        from calque.detection.kinds.numbers import KINDS, VIEWS
        from calque.detection.outcomes import outcomes

        view = VIEWS.get(self.errors, KINDS)
        return outcomes(ledger, self.iou[0] if threshold is None else threshold, lowest=self.iou[0], view=view)

    @classmethod
    def measures(cls) -> tuple[Measure, ...]:
        """Return the definitions that `calque explain` prints."""
        from calque.detection.numbers import MEASURES

        return MEASURES

    def resampled(self, ledger: Ledger) -> tuple[WeightedMetrics, ...]:
        """Return quick ways to the numbers of weighted documents."""
        from calque.detection.compared import resampled

        return resampled(self, ledger)

    def run_outcomes(self, ledger: Ledger) -> RunOutcomes:
        """Return the outcome of each ground-truth item and the score of each document, for comparisons."""
        from calque.detection.compared import run_outcomes

        return run_outcomes(self, ledger)

    def view(self) -> TaskView:
        """Return the functions that show results of this task."""
        from calque.detection import presentation, report_data
        from calque.evaluation.view import TaskView

        return TaskView(
            columns=presentation.COLUMNS,
            schema=presentation.result_schema,
            sentence=presentation.sentence,
            sections=presentation.sections,
            brief=presentation.brief,
            rows=presentation.flat,
            slices=presentation.SLICES,
            headline=presentation.headline,
            findings=presentation.findings,
            template=presentation.report_sections,
            report_numbers=partial(report_data.report_numbers, self),
            report_data=partial(report_data.report_data, self),
        )


def _class_weights(given: Any) -> tuple[tuple[str, float], ...]:
    try:
        pairs = given.items() if isinstance(given, Mapping) else given
        return tuple(sorted((name, float(weight)) for name, weight in pairs))
    except (TypeError, ValueError):
        raise ConfigError(f"class_weight must be a mapping of classes to weights, not {given!r}") from None


def _detection_limits(limits: Sequence[float]) -> tuple[float, ...]:
    """Return the limits in ascending order, as integers or infinity.

    >>> _detection_limits([math.inf, 10.0, 1])
    (1, 10, inf)
    """
    if not limits or not all(limit >= 1 and (math.isinf(limit) or limit == int(limit)) for limit in limits):
        raise ConfigError(f"max_detections must be whole numbers from 1, or inf for no limit, got {list(limits)}")
    return tuple(sorted({limit if math.isinf(limit) else int(limit) for limit in limits}))
