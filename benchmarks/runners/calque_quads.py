"""calque: the IoU of `python calque_quads.py FIRST SECOND`, pair by pair; a few numbers as JSON on the last line."""

import json
import sys

import numpy as np

from calque.checks import polygon_iou

iou = polygon_iou(np.load(sys.argv[1]), np.load(sys.argv[2]))
print(json.dumps([float(iou.mean()), float((iou >= 0.5).mean()), float(np.median(iou))]))
