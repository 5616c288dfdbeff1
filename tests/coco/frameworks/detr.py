"""As DETR's CocoEvaluator does it: the three steps called one by one on every batch, nothing through evaluate().

    python detr.py GT.json DT.json        prints the numbers as JSON

Calls: COCO(path), COCOeval(gt, iouType=), cocoDt set per batch, params.useCats, imgIds, catIds, maxDets, areaRng; _prepare, computeIoU,
evaluateImg, ious set, evalImgs and _paramsEval put back, accumulate, summarize, stats set; maxDets [1, 10, 500] as RF-DETR has it.
"""
import contextlib, copy, io, json, sys

import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

quiet = lambda: contextlib.redirect_stdout(io.StringIO())
found = json.load(open(sys.argv[2]))


def evaluate(self):
    p = self.params
    if p.useSegm is not None:
        p.iouType = "segm" if p.useSegm == 1 else "bbox"
    p.imgIds = list(np.unique(p.imgIds))
    if p.useCats:
        p.catIds = list(np.unique(p.catIds))
    p.maxDets = sorted(p.maxDets)
    self.params = p
    self._prepare()
    classes = p.catIds if p.useCats else [-1]
    self.ious = {(i, c): self.computeIoU(i, c) for i in p.imgIds for c in classes}
    verdicts = [self.evaluateImg(i, c, area, p.maxDets[-1]) for c in classes for area in p.areaRng for i in p.imgIds]
    self._paramsEval = copy.deepcopy(self.params)
    return p.imgIds, np.asarray(verdicts).reshape(len(classes), len(p.areaRng), len(p.imgIds))


def plain(value):
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape), value.tolist()]
    return [float(v) for v in value] if isinstance(value, list) else float(value)


with quiet():
    gt = COCO(sys.argv[1])
out = {}
for kind in ("bbox", "segm"):
    for limits, use_cats in (([1, 10, 100], 1), ([1, 10, 500], 1), ([1, 10, 100], 0)):
        evaluation = COCOeval(copy.deepcopy(gt), iouType=kind)
        evaluation.params.maxDets = list(limits)
        evaluation.params.useCats = use_cats
        images, parts = [], []
        ids = sorted(gt.imgs)
        for start in range(0, len(ids), 2):
            batch = ids[start : start + 2]
            rows = [{k: v for k, v in row.items() if k != ("segmentation" if kind == "bbox" else "bbox")} for row in found if row["image_id"] in batch]
            with quiet():
                evaluation.cocoDt = COCO.loadRes(evaluation.cocoGt, rows) if rows else COCO()
                evaluation.params.imgIds = list(batch)
                seen, verdicts = evaluate(evaluation)
            images += seen
            parts.append(verdicts)
        merged = np.concatenate(parts, 2)
        images, first = np.unique(images, return_index=True)
        evaluation.evalImgs = list(merged[..., first].flatten())
        evaluation.params.imgIds = list(images)
        evaluation._paramsEval = copy.deepcopy(evaluation.params)
        with quiet() as said:
            evaluation.accumulate()
            evaluation.summarize()
        key = f"{kind} {limits} {use_cats}"
        out[key] = {"stats": evaluation.stats.tolist(), "said": [line for line in said.getvalue().splitlines() if "t=" not in line]}
        out[key]["fields"] = [None if v is None else {k: plain(v[k]) for k in v} for v in evaluation.evalImgs]
        out[key]["precision"] = evaluation.eval["precision"].tolist()
        ranks = np.asarray([v is not None for v in evaluation.evalImgs]).reshape(-1, 4, len(images)).any(axis=(0, 1))
        out[key]["there"] = ranks.tolist()
        evaluation.stats = np.round(evaluation.stats, 3)
        out[key]["set"] = evaluation.stats.tolist()
print(json.dumps(out))
