"""One script, several packages: the twelve numbers of `python drop_in_.py PACKAGE GT DT`, masks, as JSON on the last line."""

import json
import sys

package, truth_file, found_file = sys.argv[1:]
if package == "faster-coco-eval":
    from faster_coco_eval import COCO
    from faster_coco_eval import COCOeval_faster as COCOeval
else:
    if package == "calque":
        import calque.coco

        calque.coco.init_as_pycocotools()
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

truth = COCO(truth_file)
evaluation = COCOeval(truth, truth.loadRes(found_file), "segm")
evaluation.evaluate()
evaluation.accumulate()
evaluation.summarize()
print(json.dumps([float(number) for number in evaluation.stats[:12]]))
