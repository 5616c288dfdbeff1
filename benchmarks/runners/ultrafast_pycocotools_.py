"""ultrafast-pycocotools: the twelve numbers of `python ultrafast_pycocotools_.py GT DT [segm]`, as JSON on the last line."""

import json
import sys

from ultrafast_pycocotools import COCO, COCOeval

truth = COCO(sys.argv[1], verbose=False)
evaluation = COCOeval(truth, truth.loadRes(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "bbox")
evaluation.run()
print(json.dumps([float(number) for number in evaluation.stats]))
