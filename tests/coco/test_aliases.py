"""calque under other names: scripts import ``pycocotools`` or ``faster_coco_eval`` and get calque."""

from __future__ import annotations

import importlib
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import calque.coco
from calque.coco import init_as_faster_coco_eval
from calque.coco.faster import COCOeval_faster
from tests.coco.both import as_pycocotools
from tests.coco.sets import made
from tests.coco.test_evaluation import KINDS, evaluation, quiet


def test_every_module_of_pycocotools_is_there():
    with as_pycocotools():
        import pycocotools
        import pycocotools.mask as by_path
        from pycocotools import _mask, cocoeval, mask
        from pycocotools.coco import COCO

        assert (COCO, mask, by_path) == (calque.coco.COCO, calque.coco.mask, calque.coco.mask)
        assert cocoeval.maskUtils is importlib.import_module("pycocotools.coco").maskUtils is mask
        assert _mask.frPyObjects([[0, 0, 4, 0, 4, 4]], 5, 5) == _mask.frPoly([[0, 0, 4, 0, 4, 4]], 5, 5)
        assert not hasattr(pycocotools, "__version__")
        for name in ("pycocotools", "pycocotools.coco", "pycocotools.cocoeval", "pycocotools.mask"):
            assert importlib.util.find_spec(name) is not None
    import pycocotools

    assert "site-packages" in pycocotools.__file__  # the real one again


def test_a_fresh_process_without_the_real_package(tmp_path: Path):
    """Nothing of the real package is needed, not even by those who look whether it is there."""
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n"
        "class Hidden:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in ('pycocotools', 'faster_coco_eval'): raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Hidden())\n"
        "import calque.coco\n"
        "calque.coco.init_as_pycocotools()\n"
        "calque.coco.init_as_faster_coco_eval()\n"
        "from importlib.util import find_spec\n"
        "from pycocotools import mask, coco, cocoeval\n"
        "from faster_coco_eval import COCO, COCOeval_faster\n"
        "from faster_coco_eval.core.mask import encode\n"
        "import faster_coco_eval.core.coco as inner\n"
        "print(bool(find_spec('pycocotools')), bool(find_spec('faster_coco_eval')))\n"
        "print(inner.COCO is COCO is coco.COCO, encode is mask.encode)\n"
    )
    said = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["True"] * 4


@pytest.mark.parametrize("iou_type", ["bbox", "segm"])
def test_faster_coco_eval_as_ultralytics_uses_it(iou_type):
    truth, found = made(1)
    with quiet(), as_pycocotools():
        init_as_faster_coco_eval()
        from faster_coco_eval import COCO, COCOeval_faster

        lines: list[str] = []
        api = COCO(truth)
        one = COCOeval_faster(api, api.loadRes(found), iouType=iou_type, lvis_style=False, print_function=lines.append)
        one.params.imgIds = [int(row["id"]) for row in truth["images"]]
        one.evaluate()
        one.accumulate()
        one.summarize()
    truth, found = made(1)
    with quiet() as said:
        theirs = evaluation("theirs", truth, found, iou_type, {})
        theirs.evaluate()
        theirs.accumulate()
        theirs.summarize()
    assert lines[-12:] == said.getvalue().splitlines()[-12:]
    names = ["AP_all", "AP_50", "AP_75", "AP_small", "AP_medium", "AP_large", "AR_all", "AR_second", "AR_third"]
    assert [one.stats_as_dict[name] for name in names] == pytest.approx(theirs.stats[:9].tolist(), abs=1e-12)
    assert list(one.stats_as_dict)[:9] == names
    assert np.array_equal(one.all_stats[:12], one.stats)
    json.dumps(one.stats_as_dict)


def test_faster_coco_eval_at_its_largest_limit_and_what_it_refuses():
    truth, found = made(2)
    with quiet():
        api = KINDS["ours"][0](truth)
        one = COCOeval_faster(api, api.loadRes(found), "bbox")
        one.params.maxDets = [1, 5, 300]
        one.run()
    assert one.stats[0] == one.stats_as_dict["AP_all"]
    assert one.stats_as_dict["AP_all"] > 0
    assert {"AR_1", "AR_5", "AR_300", "AR_50", "AR_75"} <= set(one.stats_as_dict)
    with pytest.raises(ValueError, match="LVIS"):
        COCOeval_faster(api, None, "bbox", lvis_style=True)
    with pytest.raises(ValueError, match="areaRng"):
        COCOeval_faster(api, None, "bbox", {"all": [0, 1]})


def test_faster_coco_eval_without_limit_100_takes_averages_at_the_last_limit():
    images = [{"id": 1, "width": 500, "height": 500}]
    boxes = [[20 * place, 0, 10, 10] for place in range(5)]
    truth = {
        "images": images,
        "categories": [{"id": 1, "name": "Table"}],
        "annotations": [
            {"id": place + 1, "image_id": 1, "category_id": 1, "bbox": box, "area": 100, "iscrowd": 0}
            for place, box in enumerate(boxes)
        ],
    }
    found = [{"image_id": 1, "category_id": 1, "bbox": box, "score": 0.9} for box in boxes[:3]]
    precise = 61 / 101  # three of five are found: recall points 0, 0.01, …, 0.6
    for limits in ([1, 10, 1000], [1, 10, 20, 50]):
        with quiet(), as_pycocotools():
            init_as_faster_coco_eval()
            from faster_coco_eval import COCO, COCOeval_faster
            from faster_coco_eval.core.cocoeval import COCOeval

            api = COCO(truth)
            for kind in (COCOeval_faster, COCOeval):
                one = kind(api, api.loadRes(found), "bbox")
                one.params.maxDets = limits
                one.evaluate()
                one.accumulate()
                one.summarize()
                assert one.stats[[0, 1, 2, 3]].tolist() == pytest.approx([precise] * 4)
                assert one.stats[[6, 7, 8, 9]].tolist() == pytest.approx([0.2, 0.6, 0.6, 0.6])
