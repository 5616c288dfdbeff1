"""Detection: figures, tables and other boxes on pages, paired by IoU; precision, recall, F1 and how well boxes fit."""

from calque.detection.task import Detection

__all__ = ["Detection"]
