"""ultrafast-pycocotools: the twelve numbers of `python ultrafast_pycocotools_.py GT DT`, as JSON on the last line."""

import json
import sys

from ultrafast_pycocotools import COCO, COCOeval

truth = COCO(sys.argv[1], verbose=False)
evaluation = COCOeval(truth, truth.loadRes(sys.argv[2]), "bbox")
evaluation.run()
print(json.dumps([float(number) for number in evaluation.stats]))
