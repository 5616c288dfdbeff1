"""As mmdetection's COCOevalMP and its error analysis do it: own steps in a subclass, thresholds that fall, limits of one.

    python mmdet_analysis.py GT.json DT.json        prints the numbers as JSON

Calls: COCOeval subclass with its own _prepare and evaluateImg on dataset["annotations"], annToRLE; params.iouThrs as a falling list,
maxDets = [100], areaRng of its own, accumulate without summarize, eval["precision"]; truths of other classes turned into ignored ones.
"""
import contextlib, copy, io, json, sys
from collections import defaultdict

import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

quiet = lambda: contextlib.redirect_stdout(io.StringIO())


class Own(COCOeval):
    def _prepare(self):
        p = self.params
        images, classes = set(p.imgIds), set(p.catIds)
        inside = lambda row: row["image_id"] in images and (not p.useCats or row["category_id"] in classes)
        gts = [row for row in self.cocoGt.dataset["annotations"] if inside(row)]
        dts = [row for row in self.cocoDt.dataset["annotations"] if inside(row)]
        if p.iouType == "segm":
            for rows, api in ((gts, self.cocoGt), (dts, self.cocoDt)):
                for row in rows:
                    row["segmentation"] = api.annToRLE(row)
        for gt in gts:
            gt["ignore"] = gt["ignore"] if "ignore" in gt else 0
            gt["ignore"] = "iscrowd" in gt and gt["iscrowd"]
        self._gts, self._dts = defaultdict(list), defaultdict(list)
        for gt in gts:
            self._gts[gt["image_id"], gt["category_id"]].append(gt)
        for dt in dts:
            self._dts[dt["image_id"], dt["category_id"]].append(dt)
        self.evalImgs = defaultdict(list)
        self.eval = {}

    def evaluateImg(self, imgId, catId, aRng, maxDet):
        verdict = super().evaluateImg(imgId, catId, aRng, maxDet)
        if verdict is not None:
            verdict["dtMatches"] = verdict["dtMatches"].astype(float)
        return verdict


with quiet():
    gt = COCO(sys.argv[1])
    dt = gt.loadRes(sys.argv[2])
out = {}
for kind in ("bbox", "segm"):
    with quiet():
        own = Own(copy.deepcopy(gt), copy.deepcopy(dt), kind)
        own.evaluate()
        own.accumulate()
        own.summarize()
    out[f"own {kind}"] = own.stats.tolist()
    with quiet():
        whole = COCOeval(copy.deepcopy(gt), copy.deepcopy(dt), kind)
        whole.params.imgIds = gt.getImgIds()
        whole.params.iouThrs = [0.75, 0.5, 0.1]
        whole.params.maxDets = [100]
        whole.params.areaRng = [[0, 1e10], [0, 400], [400, 1e10]]
        whole.params.areaRngLbl = ["allarea", "small", "large"]
        whole.evaluate()
        whole.accumulate()
    out[f"thresholds {kind}"] = whole.eval["precision"].tolist()
    for k, category in enumerate(gt.getCatIds()):
        others = copy.deepcopy(gt)
        for row in others.dataset["annotations"]:
            if row["category_id"] != category and row["category_id"] in gt.getCatIds(supNms=gt.loadCats(category)[0]["supercategory"]):
                row["ignore"] = 1
                row["iscrowd"] = 1
                row["category_id"] = category
        with quiet():
            others.createIndex()
            one = COCOeval(others, copy.deepcopy(dt), kind)
            one.params.imgIds = others.getImgIds(catIds=[category]) or gt.getImgIds()
            one.params.catIds = [category]
            one.params.iouThrs = [0.1]
            one.params.maxDets = [100]
            one.params.areaRng = [[0, 1e10]]
            one.evaluate()
            one.accumulate()
        out[f"similar {kind} {category}"] = one.eval["precision"].tolist()
        out[f"counts {kind} {category}"] = one.eval["counts"]
print(json.dumps(out))
