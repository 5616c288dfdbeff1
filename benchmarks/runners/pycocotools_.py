"""pycocotools: the twelve numbers of `python pycocotools_.py GT DT`, as JSON on the last line."""

import json
import sys

from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

truth = COCO(sys.argv[1])
evaluation = COCOeval(truth, truth.loadRes(sys.argv[2]), "bbox")
evaluation.evaluate()
evaluation.accumulate()
evaluation.summarize()
print(json.dumps([float(number) for number in evaluation.stats]))
