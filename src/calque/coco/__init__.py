"""A drop-in for pycocotools on calque's kernels: change one import in a training script.

``from calque.coco import COCO, COCOeval, mask``, or `init_as_pycocotools` before anything imports ``pycocotools``.
"""

from calque.coco import coco, cocoeval, mask
from calque.coco.aliases import init_as_faster_coco_eval, init_as_pycocotools
from calque.coco.coco import COCO
from calque.coco.cocoeval import COCOeval, Params

__all__ = [
    "COCO",
    "COCOeval",
    "Params",
    "coco",
    "cocoeval",
    "init_as_faster_coco_eval",
    "init_as_pycocotools",
    "mask",
]
