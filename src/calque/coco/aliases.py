"""calque's modules under the names of other packages, so that scripts which import those need no change at all."""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

FASTER_COCO_EVAL_VERSION = "1.8.0"
"""What those who ask for at least some version are told. pycocotools has none to tell."""


def init_as_pycocotools() -> None:
    """Let ``import pycocotools`` and its modules mean calque's, from here on."""
    coco, cocoeval, mask = (_ours(name) for name in ("coco", "cocoeval", "mask"))
    _install("pycocotools", {"coco": coco, "cocoeval": cocoeval, "mask": mask, "_mask": mask}, {})


def init_as_faster_coco_eval() -> None:
    """Let ``import faster_coco_eval`` and its modules mean calque's, from here on."""
    coco, cocoeval, mask, faster = (_ours(name) for name in ("coco", "cocoeval", "mask", "faster"))
    names = {"COCO": coco.COCO, "COCOeval_faster": faster.COCOeval_faster, "mask": mask}
    package = {"__version__": FASTER_COCO_EVAL_VERSION, **names, "init_as_pycocotools": init_as_pycocotools}
    _install("faster_coco_eval", {}, package | {"coco": coco, "cocoeval": faster})
    evaluation = ModuleType("faster_coco_eval.core.cocoeval", "calque.coco.faster under another name.")
    vars(evaluation).update(COCOeval=faster.COCOeval_faster, Params=cocoeval.Params, maskUtils=mask)
    modules = {"coco": coco, "cocoeval": evaluation, "mask": mask, "faster_eval_api": faster}
    _install("faster_coco_eval.core", modules, names)
    sys.modules["faster_coco_eval"].core = sys.modules["faster_coco_eval.core"]  # type: ignore[attr-defined]  # as import does


def _ours(name: str) -> Any:
    return importlib.import_module(f"calque.coco.{name}")


def _install(name: str, modules: dict[str, ModuleType], attributes: dict[str, Any]) -> None:
    """Put a package with these modules where `import` looks first. It has a spec, for those who ask whether it is there."""
    package = ModuleType(name, "calque.coco under another name.")
    package.__spec__ = ModuleSpec(name, None, origin=__file__, is_package=True)
    package.__path__ = []
    vars(package).update(modules | attributes)
    sys.modules[name] = package
    for inner, module in modules.items():
        sys.modules[f"{name}.{inner}"] = module
