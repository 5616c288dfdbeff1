"""The geometry of boxes, in one place: forms, single boxes, columns of boxes, and COCO's grids.

Every number here exists once for each way of working, and the tests hold them together to the bit: ``rectangles`` is plain
Python (no NumPy, for single boxes and for start-up), ``boxes`` is NumPy, and ``native/geometry.hpp`` is the compiled twin.
"""
