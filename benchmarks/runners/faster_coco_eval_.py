"""faster-coco-eval: the twelve numbers of `python faster_coco_eval_.py GT DT [segm]`, as JSON on the last line."""

import json
import sys

from faster_coco_eval import COCO, COCOeval_faster

truth = COCO(sys.argv[1])
evaluation = COCOeval_faster(truth, truth.loadRes(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "bbox")
evaluation.evaluate()
evaluation.accumulate()
evaluation.summarize()
print(json.dumps([float(number) for number in evaluation.stats[:12]]))
