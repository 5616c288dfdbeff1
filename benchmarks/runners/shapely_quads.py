"""shapely, vectorised: the IoU of `python shapely_quads.py FIRST SECOND`, pair by pair; numbers as JSON on the last line."""

import json
import sys

import numpy as np
import shapely

first, second = (shapely.polygons(np.load(path)) for path in sys.argv[1:])
shared = shapely.area(shapely.intersection(first, second))
iou = shared / (shapely.area(first) + shapely.area(second) - shared)
print(json.dumps([float(iou.mean()), float((iou >= 0.5).mean()), float(np.median(iou))]))
