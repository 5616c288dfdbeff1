"""The twins cannot drift apart: both have the kernels of the protocol, with the same names, defaults and types of columns."""

import ast
import inspect
import re
from pathlib import Path

import pytest

from calque.kernels import protocol, reference, structs

NATIVE = Path(__file__).parents[2] / "native"
STUB = Path(protocol.__file__).with_name("_native.pyi")
COLUMNS = {"float64": "Floats", "int64": "Ints", "int32": "Codes", "uint16": "Masks", "uint8": "Bytes", "bool": "Flags"}
NAMES = [name for name, value in vars(protocol.Kernels).items() if inspect.isfunction(value) and not name.startswith("_")]
ONLY_NATIVE = {"LineReader", "Scan", "ScanError", "cancel_all", "scan_pages"}
"""What the reference kernels leave to Python: the scanner of files, columns of records, memory and interruption."""


def spelled(function):
    """Parameters with types and defaults, and what comes back, as they are written."""
    signature = inspect.signature(function)
    given = [(one.name, one.annotation, one.default) for one in signature.parameters.values() if one.name != "self"]
    return given, signature.return_annotation


def as_python(text):
    """nanobind's spelling of a type in the words of the protocol: arrays by what they hold, structs without their module."""
    text = re.sub(r"(?:numpy\.)?ndarray\[dtype=(\w+)[^\]]*\]", lambda found: COLUMNS[found[1]], text)
    return text.replace("calque.kernels.structs.", "")


def spelled_by_nanobind(function):
    [(text, _, defaults)] = function.__nb_signature__
    # Defaults stand beside the text, which names their places.
    text = re.sub(r"\\(\d+)", lambda place: repr(defaults[int(place[1])]), as_python(text))
    tree = ast.parse(text + ": ...").body[0]
    names = [(one.arg, ast.unparse(one.annotation)) for one in tree.args.args]
    missing = [inspect.Parameter.empty] * (len(names) - len(tree.args.defaults))
    given = [ast.literal_eval(one) for one in tree.args.defaults]
    return [(*name, default) for name, default in zip(names, [*missing, *given], strict=True)], ast.unparse(tree.returns)


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_has_every_kernel_as_the_protocol_says(name):
    assert spelled(getattr(reference, name)) == spelled(getattr(protocol.Kernels, name))


@pytest.mark.parametrize("name", NAMES)
def test_the_compiled_module_has_every_kernel_as_the_protocol_says(native, name):
    arguments, gives = spelled(getattr(protocol.Kernels, name))
    kernel = inspect.unwrap(getattr(native, name))
    assert spelled_by_nanobind(kernel) == (
        arguments,
        gives.replace("MaskFacts", structs.MaskFacts),
    )


def test_neither_twin_has_anything_else(native):
    kernels = [name for name, value in vars(reference).items() if inspect.isfunction(value)]
    assert sorted(kernels) == sorted(NAMES)
    there = {name for name in vars(native) if not name.startswith("_")}
    assert there == {*NAMES, *ONLY_NATIVE}


def test_stub_describes_what_only_the_compiled_module_has():
    stub = {node.name for node in ast.parse(STUB.read_text()).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert stub == ONLY_NATIVE


HEADERS = "\n".join(path.read_text() for path in sorted(NATIVE.glob("*.hpp")))
RENAMED = {"PairOverlaps": "GivenOverlaps", "ScoreOrder": "Ranking", "TextPoints": "Texts"}
"""Structs that have another name in C++."""
STRUCTS = sorted(
    name
    for name, value in vars(structs).items()
    if getattr(value, "_fields", ()) and name not in {"PageBoxes", "CocoTruths", "ItemLeaf", "ItemRows"}
)
"""All but those with optional fields, which are read one by one, and those of the record kernels."""


@pytest.mark.parametrize("name", STRUCTS)
def test_structs_have_the_same_fields_on_both_sides(name):
    body = re.search(rf"struct {RENAMED.get(name, name)} \{{\n(.*?)\n\}};", HEADERS, re.DOTALL)[1]
    fields = re.search(r"auto fields\(\) \{ return std::tie\((.*?)\); \}", body)[1].split(", ")
    assert tuple(fields) == getattr(structs, name)._fields


def test_a_struct_is_read_by_its_fields_and_nothing_else_is_taken(native):
    import numpy as np

    from calque.geometry.forms import BoxForm

    side = structs.PageBoxes(np.zeros((1, 4)), BoxForm.XYXY, np.zeros(1, np.int32), np.array([0, 1]), np.zeros(1, np.uint8))
    match_best = inspect.unwrap(native.match_best)
    assert [column.tolist() for column in match_best(tuple(side), side)] == [[-1], [0.0]]
    for other in (side[:4], (*side, 1), list(side), side._replace(form=1), None):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            match_best(other, side)
