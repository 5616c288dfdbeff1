"""hotcoco: two runs compared, `python hotcoco_compare.py GT DT DT2 REPLICATES`; the differences as JSON on the last line."""

import json
import sys

from hotcoco import COCO, COCOeval, compare

truth = COCO(sys.argv[1])
runs = []
for path in sys.argv[2:4]:
    evaluation = COCOeval(truth, truth.load_res(path), "bbox")
    evaluation.evaluate()
    runs.append(evaluation)
print(json.dumps(compare(*runs, n_bootstrap=int(sys.argv[4]))["deltas"]))
