"""A drop-in for pycocotools on calque's kernels: change one import in a training script."""

from calque.coco import mask
from calque.coco.cocoeval import COCOeval, Params

__all__ = ["COCOeval", "Params", "mask"]
