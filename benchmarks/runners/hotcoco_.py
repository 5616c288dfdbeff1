"""hotcoco: the twelve numbers of `python hotcoco_.py GT DT [segm]`, as JSON on the last line."""

import json
import sys

from hotcoco import COCO, COCOeval

truth = COCO(sys.argv[1])
evaluation = COCOeval(truth, truth.load_res(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "bbox")
evaluation.run()
print(json.dumps([float(number) for number in evaluation.stats]))
