"""stickler: the numbers of `python stickler_.py SCHEMA GT PRED`, as JSON on the last line."""

import json
import sys

from pydantic import create_model
from stickler import ComparableField, StructuredModel
from stickler.comparators import ExactComparator, LevenshteinComparator, NumericComparator
from stickler.structured_object_evaluator.bulk_structured_model_evaluator import BulkStructuredModelEvaluator
from stickler.structured_object_evaluator.models.bbox import BBoxMAPAccumulator
from stickler.structured_object_evaluator.models.confidence.accumulator import ConfidenceAccumulator

COMPARATORS = {"levenshtein": LevenshteinComparator, "exact": ExactComparator, "numeric": NumericComparator}
TYPES = {"str": str, "float": float}


def model(name, fields):
    """A stickler class for a schema in the plain form."""
    annotated = {}
    for field, about in fields.items():
        if about["type"] == "list[object]":
            line = model(f"{name}_{field}", about["fields"])
            line.match_threshold = about["match_threshold"]
            annotated[field] = (list[line] | None, ComparableField(default=None))
        else:
            comparable = ComparableField(
                comparator=COMPARATORS[about["comparator"]](), threshold=about["threshold"], default=None
            )
            annotated[field] = (TYPES[about["type"]] | None, comparable)
    return create_model(name, __base__=StructuredModel, **annotated)


with open(sys.argv[1]) as file:
    record = model("Invoice", json.load(file)["fields"])
evaluator = BulkStructuredModelEvaluator(accumulators=[ConfidenceAccumulator(), BBoxMAPAccumulator()])
with open(sys.argv[2]) as truths, open(sys.argv[3]) as founds:
    for truth, found in zip(truths, founds, strict=True):
        sides = []
        for line in (truth, found):
            data = json.loads(line)
            del data["doc_id"]
            sides.append(record.from_json(data))
        evaluator.update(*sides)
result = evaluator.compute()
numbers = {
    "mean_ap": result.accumulator_metrics["bbox_map_metrics"]["mean_ap"],
    "auroc": result.accumulator_metrics["confidence_metrics"]["overall"]["auroc"]["value"],
    "precision": result.metrics["cm_precision"],
    "score": result.metrics["weighted_overall_score"],
}
print(json.dumps(numbers))
