"""hotcoco: the twelve numbers of `python hotcoco_.py GT DT`, as JSON on the last line."""

import json
import sys

from hotcoco import COCO, COCOeval

truth = COCO(sys.argv[1])
evaluation = COCOeval(truth, truth.load_res(sys.argv[2]), "bbox")
evaluation.run()
print(json.dumps([float(number) for number in evaluation.stats]))
