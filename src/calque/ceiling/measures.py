"""What the measures of a ceiling mean."""

from __future__ import annotations

from calque.evaluation.measures import Measure

SOURCE = "calque"
MEASURES = (
    Measure(
        "repairable",
        "repairable",
        "Of what the system with the most hits misses, the share that some other system has.",
        "(M/|G| − r) / (1 − r), r the highest recall of a single system",
        SOURCE,
        "no truths, or nothing is missed",
    ),
    Measure(
        "unfound",
        "unfound",
        "Truths that no system has: no box of their label there, no right value.",
        "|{g: no edge}|",
        SOURCE,
        "never",
    ),
    Measure(
        "contested",
        "contested",
        "Truths whose only boxes are taken by other truths in every largest pairing.",
        "|G| − unfound − M",
        SOURCE,
        "never",
    ),
    Measure(
        "pool_precision",
        "pool precision",
        "What keeping every box of every system costs: a ceiling rises with every box thrown in, also by chance.",
        "M / boxes of all systems",
        SOURCE,
        "nothing is found",
    ),
    Measure(
        "held_out",
        "held out",
        "What a choice of systems is worth on documents that it was not made on: chosen on one half, scored on the other.",
        "mean over splits of the pooled F1 (layout: recall) of both halves",
        SOURCE,
        "fewer than two documents",
    ),
    Measure(
        "recall",
        "recall",
        "The share of truths that a rung of the ladder has: best, route_class, route_document, select, any, recombine, "
        "average, votes.",
        "hits / |G|",
        SOURCE,
        "no truths",
    ),
    Measure(
        "precision",
        "precision",
        "The share of what is found that is right, at a rung of the ladder.",
        "hits / n",
        SOURCE,
        "nothing is found",
    ),
    Measure(
        "f1",
        "F1",
        "Recall and precision in one number, at a rung of the ladder.",
        "2·hits / (|G| + n)",
        SOURCE,
        "nothing is there",
    ),
    Measure(
        "mean_iou",
        "mean IoU",
        "How near the best box, the best edges or the best mean come to the truth; 0 where there is none.",
        "mean of IoU over |G|",
        SOURCE,
        "no truths",
    ),
    Measure(
        "AP",
        "AP",
        "Average precision of a system, of the best system for each class (route_class.AP), or the most that a selection could "
        "have (select.AP).",
        "as in detection; select.AP: mean of #{r ≤ M/|G|}/101",
        SOURCE,
        "boxes without scores, or no truths",
    ),
)

RUNGS = {
    "select": "the best selection of all systems' boxes or values: the ceiling, and what is meant where no scope is named",
    "best": "the best single system",
    "single": "one system, which stands behind a slash",
    "route_class": "one system for each class, chosen for the highest F1 of all",
    "route_document": "one system for each document, by somebody who knows the answer",
    "route_by": "one system for each value of a column of metadata, which stands behind a slash",
    "votes": "what a majority of systems agrees on",
    "any": "truth by truth the best box of any system",
    "recombine": "truth by truth the best box with edges of several systems",
    "average": "truth by truth the best weighted mean of the systems' boxes",
}
"""The rungs of the ladder."""
ON_RUNGS = ("recall", "precision", "f1", "mean_iou", "held_out", "AP")
