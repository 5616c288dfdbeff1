"""pycocotools: the twelve numbers of `python pycocotools_.py GT DT [segm]`, as JSON on the last line."""

import json
import sys

from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

truth = COCO(sys.argv[1])
evaluation = COCOeval(truth, truth.loadRes(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "bbox")
evaluation.evaluate()
evaluation.accumulate()
evaluation.summarize()
print(json.dumps([float(number) for number in evaluation.stats]))
