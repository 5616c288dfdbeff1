"""There is one geometry: no other module of calque defines an IoU, a grid or a form of its own."""

import re
from pathlib import Path

import numpy as np
import pytest

import calque
from calque.geometry import forms

SOURCE = Path(calque.__file__).parent
NATIVE = Path(__file__).parents[2] / "native"
NAMES = re.compile(
    r"_*((box|bbox|pair)_)?iou(_of_\w+)?|_*(intersection|intersection_area|common_area)"
    r"|(DECIMAL_)?(COCO_)?(IOU_)?(THRESHOLDS|RECALL_POINTS)|_?FAR|_?FORMS|BoxForm|Edges|\w*SPELLINGS",
    re.ASCII,
)
DEFINED = re.compile(r"^(?:def|class) (\w+)|^(\w+)(?:: [^=\n]+)? = ", re.MULTILINE)
PUBLIC = {
    ("layout/api.py", "bbox_iou"),
    ("checks/shapes/overlap.py", "_iou"),
    ("coco/mask.py", "iou"),
}
"""Documented functions of layout and of the drop-in, and an entry of the checks' table of measures; all call the geometry."""


def defined(path):
    """The names that a module defines at its top level: functions, classes and constants."""
    return [function or constant for function, constant in DEFINED.findall(path.read_text())]


def modules():
    return [path for path in sorted(SOURCE.rglob("*.py")) if "geometry" not in path.relative_to(SOURCE).parts[0]]


def test_nothing_is_defined_twice():
    names = {(path.relative_to(SOURCE).as_posix(), name) for path in modules() for name in defined(path)}
    assert {name for name in names if NAMES.fullmatch(name[1])} == PUBLIC


def test_the_walk_finds_what_it_looks_for():
    found = {name for path in (SOURCE / "geometry").glob("*.py") for name in defined(path)}
    assert {"iou", "iou_of_sized", "intersection", "COCO_THRESHOLDS", "RECALL_POINTS", "FAR", "BoxForm"} <= found
    assert len([name for name in found if NAMES.fullmatch(name)]) >= 10


def test_no_grid_is_made_by_hand():
    """Neither pycocotools' nor the decimal one, whatever it is called."""
    grid = re.compile(r"linspace\(0?\.5|linspace\(0?\.?0*, 1\.?0*, 101|range\(101\)|0\.5, 0\.55|1e150")
    others = [path for path in modules() if grid.search(path.read_text())]
    assert others == []


@pytest.mark.parametrize("name", ["intersection", "iou", "share", "touch", "read_box"])
def test_compiled_kernels_share_one_header(name):
    definition = re.compile(rf"^(inline )?\w+ {name}\(.*\{{", re.MULTILINE)
    files = [path.name for path in sorted(NATIVE.glob("*.?pp")) if definition.search(path.read_text())]
    assert files == ["geometry.hpp"]


def test_grids_are_those_of_pycocotools():
    assert np.array_equal(forms.RECALL_POINTS, np.linspace(0, 1, 101))
    assert np.array_equal(forms.COCO_THRESHOLDS, np.linspace(0.5, 0.95, 10))
    assert np.array_equal(forms.DECIMAL_RECALL_POINTS, np.round(np.linspace(0, 1, 101), 2))
    assert np.array_equal(forms.DECIMAL_COCO_THRESHOLDS, np.round(np.linspace(0.5, 0.95, 10), 2))
