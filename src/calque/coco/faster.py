"""`COCOeval` under the name and with the keywords of ``faster_coco_eval``."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from calque.base.columns import Floats
from calque.coco.cocoeval import COCOeval, mean_of

__all__ = ["COCOeval_faster"]

log = logging.getLogger(__name__)


class COCOeval_faster(COCOeval):
    """The same evaluation. Messages go to ``print_function``, the numbers have names, and AP is taken at the last limit."""

    at_last_limit: ClassVar[bool] = True

    def __init__(
        self,
        cocoGt: Any = None,
        cocoDt: Any = None,
        iouType: str = "segm",
        ranges: Any = None,
        print_function: Callable[[str], Any] = log.info,
        extra_calc: bool = False,
        lvis_style: bool = False,
        **options: Any,
    ) -> None:
        if lvis_style:
            raise ValueError("LVIS is not supported: calque evaluates as COCO does (lvis_style=False)")
        if ranges:
            raise ValueError("ranges are not supported: set params.areaRng and params.areaRngLbl")
        del extra_calc, options  # how to go about it, and what to draw: nothing that changes a number
        super().__init__(cocoGt, cocoDt, iouType)
        self.print_function = print_function

    def _say(self, text: str) -> None:
        self.print_function(text)

    @property
    def stats_as_dict(self) -> dict[str, float]:
        """The numbers by name: AP_all, AP_50, AP_75, AP_small, AP_medium, AP_large and the recalls, AP at the largest limit."""
        p = self.params
        most, sizes = p.maxDets[-1], [label for label in p.areaRngLbl if label != "all"]
        usual = dict(zip(p.maxDets, ("AR_all", "AR_second", "AR_third"), strict=False)) if p.maxDets == [1, 10, 100] else {}
        rows: dict[str, tuple[str, float | None, str, int]] = {
            "AP_all": ("AP", None, "all", most),
            "AP_50": ("AP", 0.5, "all", most),
            "AP_75": ("AP", 0.75, "all", most),
            **{f"AP_{size}": ("AP", None, size, most) for size in sizes},
            **{usual.get(limit, f"AR_{limit}"): ("AR", None, "all", limit) for limit in p.maxDets},
            **{f"AR_{size}": ("AR", None, size, most) for size in sizes},
            "AR_50": ("AR", 0.5, "all", most),
            "AR_75": ("AR", 0.75, "all", most),
        }
        return {name: mean_of(p, self.eval, *row) for name, row in rows.items()}

    @property
    def all_stats(self) -> Floats:
        """The same numbers without their names."""
        return np.array(list(self.stats_as_dict.values()))

    def run(self) -> None:
        """All three steps."""
        self.evaluate()
        self.accumulate()
        self.summarize()
