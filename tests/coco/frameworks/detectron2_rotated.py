"""As detectron2's rotated evaluation and its fast API do it: five-number boxes, own computeIoU, own evaluate on prepared rows.

    python detectron2_rotated.py GT.json DT.json        prints the numbers as JSON

Calls: loadRes of rows with five numbers, COCOeval subclass with computeIoU(imgId, catId), cocoeval.maskUtils.iou; a subclass whose evaluate
and accumulate replace the originals and read _gts and _dts rows: id, score, area, iscrowd, ignore; summarize of the original.
"""
import contextlib, copy, io, json, sys

import numpy as np
from pycocotools import cocoeval
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval, maskUtils

quiet = lambda: contextlib.redirect_stdout(io.StringIO())
truth, found = (json.load(open(path)) for path in sys.argv[1:3])
for row in truth["annotations"]:
    x, y, w, h = row["bbox"]
    row["bbox"] = [x + w / 2, y + h / 2, w, h, 0.0]


class Rotated(COCOeval):
    def computeIoU(self, imgId, catId):
        p = self.params
        gt, dt = self._gts[imgId, catId], self._dts[imgId, catId]
        if len(gt) == 0 and len(dt) == 0:
            return []
        order = np.argsort([-d["score"] for d in dt], kind="mergesort")
        dt = [dt[i] for i in order][: p.maxDets[-1]]
        upright = lambda b: [b[0] - b[2] / 2, b[1] - b[3] / 2, b[2], b[3]]
        assert p.iouType == "bbox"
        g, d = [upright(row["bbox"]) for row in gt], [upright(row["bbox"]) for row in dt]
        assert cocoeval.maskUtils is maskUtils
        return maskUtils.iou(d, g, [int(o["iscrowd"]) for o in gt])


class Fast(COCOeval):
    def evaluate(self):
        p = self.params
        p.imgIds = list(np.unique(p.imgIds))
        p.catIds = list(np.unique(p.catIds))
        p.maxDets = sorted(p.maxDets)
        self._prepare()
        self.ious = {(i, c): self.computeIoU(i, c) for i in p.imgIds for c in p.catIds}
        self.seen = []
        for side in (self._gts, self._dts):
            for i in p.imgIds:
                for c in p.catIds:
                    self.seen += [[row["id"], float(row.get("score", 0)), float(row["area"]), int(row.get("iscrowd", 0)), int(row.get("ignore", 0))] for row in side[i, c]]
        self.kept = [[self.evaluateImg(i, c, a, p.maxDets[-1]) for i in p.imgIds] for c in p.catIds for a in p.areaRng]
        self._paramsEval = copy.deepcopy(self.params)

    def accumulate(self, p=None):
        self.evalImgs = [one for row in self.kept for one in row]
        super().accumulate(p)


with quiet():
    gt = COCO()
    gt.dataset = copy.deepcopy(truth)
    gt.createIndex()
    turned = []
    for row in found:
        x, y, w, h = row["bbox"]
        turned.append({**{k: v for k, v in row.items() if k != "segmentation"}, "bbox": [x + w / 2, y + h / 2, w, h, 0.0]})
    dt = gt.loadRes(turned)
    rotated = Rotated(gt, dt, "bbox")
    rotated.evaluate()
    rotated.accumulate()
    rotated.summarize()
out = {"rotated": rotated.stats.tolist(), "rows": [[r["id"], r["area"], r["bbox"], r["iscrowd"], r["segmentation"]] for r in dt.dataset["annotations"]]}
with quiet():
    plain = COCO(sys.argv[1])
for kind in ("bbox", "segm"):
    with quiet():
        fast = Fast(plain, plain.loadRes(copy.deepcopy(found)), kind)
        fast.evaluate()
        fast.accumulate()
        fast.summarize()
    out[kind] = [fast.stats.tolist(), fast.seen]
print(json.dumps(out))
