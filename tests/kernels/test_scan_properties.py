"""Random files: rows of any shape, written in any way, and clean files with random damage."""

from __future__ import annotations

import json
import math
import random
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.kernels.scan_samples import SAMPLES, STYLES, write
from tests.kernels.test_scan import agree

_native = pytest.importorskip("calque.kernels._native", reason="calque was installed without a compiler")


class Raw(str):
    """A piece of JSON that is written as it stands."""


def literals() -> st.SearchStrategy[Raw]:
    digits = st.text("0123456789", min_size=1, max_size=24)
    whole = digits.map(lambda d: d.lstrip("0") or "0")
    exponent = st.tuples(st.sampled_from("eE"), st.sampled_from(["", "+", "-"]), st.integers(0, 400)).map(
        lambda t: t[0] + t[1] + str(t[2])
    )
    parts = st.tuples(st.sampled_from(["", "-"]), whole, digits.map(".".__add__) | st.just(""), exponent | st.just(""))
    return parts.map(lambda p: Raw("".join(p)))


finite = st.floats(allow_nan=False, allow_infinity=False)
numbers = st.one_of(finite, st.floats(0, 2000).map(lambda x: round(x, 2)), st.integers(-(2**70), 2**70), literals())
texts = st.one_of(st.text(max_size=20), st.text('ab\\"/\n\u00e9\U0001f600\ud800\udc00', max_size=6))
ids = st.one_of(st.integers(0, 30), st.integers(-(2**63), 2**63 - 1), texts)
boxes = st.lists(numbers, min_size=4, max_size=4)
anything = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)
unknown = st.dictionaries(st.text("xyz", min_size=1, max_size=4), anything, max_size=2)


NOTHING_MORE = st.just({})


def objects(required: dict, optional: dict, more: st.SearchStrategy = NOTHING_MORE) -> st.SearchStrategy[dict]:
    return st.builds(lambda known, extra: {**known, **extra}, st.fixed_dictionaries(required, optional=optional), more)


flags = st.sampled_from([0, 1, True, False, 0.0, 1.0])
results = st.lists(
    objects({"image_id": ids, "category_id": st.integers(1, 11), "bbox": boxes}, {"score": numbers | st.none()}, unknown),
    max_size=8,
)
images = st.lists(
    objects(
        {"id": ids},
        {
            "width": numbers | st.none(),
            "height": numbers,
            "file_name": texts,
            "doc_id": texts | st.integers(),
            "doc_name": texts,
        },
        unknown,
    ),
    max_size=5,
)
annotations = st.lists(
    objects(
        {"image_id": ids, "category_id": ids, "bbox": boxes},
        {"area": numbers | st.none(), "iscrowd": flags, "ignore": flags, "score": numbers | st.none()},
        unknown,
    ),
    max_size=5,
)
truths = objects(
    {"images": images, "annotations": annotations, "categories": anything}, {"info": anything, "licenses": anything}
)
filled = texts.filter(bool)
page_objects = st.lists(
    objects(
        {"id": filled, "label": filled, "bbox": boxes},
        {"score": st.none() | numbers | st.just(math.nan), "attributes": st.dictionaries(texts, anything, max_size=2)},
    ),
    max_size=4,
)
pages = st.lists(
    objects({"page_id": filled, "doc_id": filled, "page_index": st.integers(0, 2**63 - 1), "objects": page_objects}, {}),
    max_size=4,
)
snapshots = objects(
    {
        "label_map": st.dictionaries(st.integers(1, 50).map(str), filled, min_size=1, max_size=3),
        "info": st.dictionaries(texts, anything, max_size=3),
        "documents": st.lists(objects({"doc_id": filled, "doc_name": filled, "doc_path": filled}, {}), min_size=1, max_size=3),
        "predictions": pages,
    },
    {},
)
files = st.one_of(results, truths, snapshots)


def render(tree, rng: random.Random) -> str:
    """JSON with blanks, escapes and key orders drawn at random; in half of the files nothing varies, as writers do."""
    wild = rng.random() < 0.5
    comma, colon = rng.choice([(", ", ": "), (",", ":"), (",\n  ", ": ")])

    def space(usual: str) -> str:
        return "".join(rng.choices(" \t\n\r", k=rng.randint(0, 3))) if wild and rng.random() < 0.3 else usual

    def text(value: str) -> str:
        if wild and rng.random() < 0.2:
            units = value.encode("utf-16-be", "surrogatepass")
            return '"' + "".join(f"\\u{u:04{rng.choice('xX')}}" for (u,) in struct.iter_unpack(">H", units)) + '"'
        plain = json.dumps(value, ensure_ascii=rng.random() < 0.5)
        return plain if not any("\ud800" <= c <= "\udfff" for c in plain) else json.dumps(value)

    def value(node) -> str:
        if isinstance(node, Raw):
            return str(node)
        if isinstance(node, str):
            return text(node)
        if isinstance(node, list):
            return "[" + space("") + (comma + space("")).join(value(v) + space("") for v in node) + space("") + "]"
        if isinstance(node, dict):
            members = list(node.items())
            if wild:
                rng.shuffle(members)
            return (
                "{"
                + space("")
                + comma.join(space("") + text(k) + space("") + colon + space("") + value(v) + space("") for k, v in members)
                + "}"
            )
        return json.dumps(node)

    return space("") + value(tree) + space("")


@examples(300)
@given(files, st.integers(0, 2**32))
def test_any_file_written_in_any_way(tree, seed):
    agree(render(tree, random.Random(seed)).encode())


@examples(300)
@given(results.filter(bool), st.integers(0, 2**32))
def test_many_rows_exercise_learned_layouts(rows, seed):
    rng = random.Random(seed)
    agree(render([rng.choice(rows) for _ in range(40)], rng).encode())


@examples(300)
@given(literals())
def test_any_literal_is_the_float_of_python(literal):
    data = f'[{{"image_id": 1, "category_id": 1, "bbox": [{literal}, 0.5, {literal},{literal}]}}]'.encode()
    agree(data)


def test_many_literals_to_the_bit():
    rng = random.Random(5)
    literals = []
    for _ in range(20_000):
        bits = struct.unpack("d", rng.randbytes(8))[0]
        literals += [
            repr(bits if math.isfinite(bits) else 0.5),
            repr(rng.uniform(0, 2000)),
            f"{rng.uniform(0, 3000):.{rng.randint(1, 19)}f}",
        ]
        # Half-way between neighbours, where a wrong tie rule shows.
        whole = rng.randrange(2**53, 2**54)
        literals += [
            f"{whole}.{rng.choice(['5', '50', '0', '500000000000000000001'])}",
            f"{rng.randrange(2**64)}.{rng.randrange(10)}",
            f"{rng.randrange(10**19)}e-{rng.randint(0, 30)}",
        ]
    literals += ["0"] * (-len(literals) % 4)
    rows = [", ".join(literals[i : i + 4]) for i in range(0, len(literals), 4)]
    data = "[" + ", ".join(f'{{"image_id": 1, "category_id": 1, "bbox": [{row}]}}' for row in rows) + "]"
    found = _native.Scan(data.encode()).columns()["bbox"].ravel().tolist()
    assert all(a == float(b) for a, b in zip(found, literals, strict=True))


@examples(300)
@given(st.sampled_from(sorted(SAMPLES)), st.sampled_from(sorted(STYLES)), st.data())
def test_damaged_files(name, style, data):
    text = bytearray(write(SAMPLES[name], style))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 5)))
        text[start:end] = data.draw(
            st.binary(max_size=4)
            | st.sampled_from([b",", b'"', b"}", b"]", b"[", b"{", b"\\", b"1", b"null", bytes(text[end : end + 30])])
        )
    agree(bytes(text))
