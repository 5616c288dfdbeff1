"""Hand-made files: each is read as the twin reads it, or refused where the twin refuses it."""

from __future__ import annotations

import copy
import itertools
import json

import numpy as np
import pytest

from tests.kernels.scan_samples import NAMED_RESULTS, RESULTS, SAMPLES, SNAPSHOT, STYLES, TRUTH, write
from tests.kernels.scan_twin import Reject, columns_from_json, comparable

_native = pytest.importorskip("calque.kernels._native", reason="calque was installed without a compiler")


def agree(data: bytes, kind: str = "auto") -> bool:
    """Whether both read the file; fails when they differ in any way."""
    try:
        expected = columns_from_json(data, kind)
    except Reject:
        expected = None
    try:
        found = _native.Scan(data, kind).columns()
    except _native.ScanError as error:
        assert 0 <= error.offset <= len(data)
        assert expected is None, f"refused a clean file: {error}"
        return False
    assert expected is not None, "took a file that is not clean"
    assert comparable(found, data) == comparable(expected, data)
    return True


def result_row(**changes: str) -> bytes:
    fields = {"image_id": "1", "category_id": "2", "bbox": "[1, 2, 3, 4]", "score": "0.5"} | changes
    return ("[{" + ", ".join(f'"{key}": {value}' for key, value in fields.items()) + "}]").encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_samples(name, style, ascii_only):
    data = write(SAMPLES[name], style, ascii_only=ascii_only)
    lone_surrogate = name == "named" and not ascii_only
    assert agree(data) is not lone_surrogate
    assert agree(b" \r\n\t" + data + b"\n \t\r") is not lone_surrogate


def test_shapes_and_types_of_results():
    columns = _native.Scan(write(RESULTS)).columns()
    assert columns["kind"] == "coco_results"
    assert columns["image_id"]["ints"].tolist() == [17, 17, 18, 2**63 - 1]
    assert columns["bbox"].shape == (4, 4)
    assert columns["bbox"].dtype == np.float64
    assert columns["bbox"][2].tolist() == [0.30000000000000004, 1e22, 5e-324, 1.7976931348623157e308]
    assert np.isnan(columns["score"]).tolist() == [False, True, False, True]


def test_named_ids_keep_integers_and_strings_apart():
    columns = _native.Scan(write(NAMED_RESULTS)).columns()
    assert columns["image_id"]["values"] == [5, "5", "päge", ""]
    assert columns["image_id"]["codes"].tolist() == [0, 1, 2, 0, 3]
    assert columns["category_id"]["values"] == [1, "Table", "\ud800"]


def test_document_ids_remember_that_they_were_integers():
    images = _native.Scan(write(TRUTH)).columns()["images"]
    assert bytes(images["doc_id"]["data"]).decode() == "dé12"
    assert images["doc_id"]["offsets"].tolist() == [0, 3, 5, 5]
    assert images["doc_id"]["present"].tolist() == [1, 1, 0]
    assert images["doc_id_is_int"].tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    "literal",
    [
        "0",
        "-0",
        "-0.0",
        "0.0",
        "1",
        "12345678",
        "123456789",
        "9007199254740993",
        "-9007199254740993",
        "18446744073709551615",
        "18446744073709551616",
        "1" + "0" * 30,
        "1" + "0" * 308,
        "1" + "0" * 309,
        "9" * 4300,
        "9" * 4301,
        "0." + "9" * 4400,
        "1e400",
        "-1e400",
        "1e-400",
        "-1e-400",
        "0e999999999999999999999",
        "0.0e-99999999999999999999",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "0." + "0" * 400 + "1e400",
        "0." + "0" * 400 + "1e800",
        "1" + "0" * 400 + "e-400",
        "1" + "0" * 400 + "e-800",
        "1" + "0" * 400 + ".0",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "4.9e-324",
        "2.4e-324",
        "2.5e-324",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "123.45678901234567",
        "0.1234567890123456789",
        "0.12345678901234567890",
        "9007199254740992.5",
        "9007199254740993.5",
        "1152921504606846976.5",
        "0.000000000000000000012345678901234567",
        "1E5",
        "1e+5",
        "1.5E-3",
        "1.0000000000000002220446049250313",
        "1.00000000000000011102230246251565",
        "1.00000000000000011102230246251566",
        "8.5e15",
        "0.30000000000000004",
        "NaN",
        "Infinity",
        "-Infinity",
        "-NaN",
        "+1",
        "01",
        "-01",
        "00",
        "1.",
        ".5",
        "-",
        "1e",
        "1e+",
        "1.e5",
        "0x10",
        "1_000",
        "--1",
        "nan",
        "inf",
        "Infinit",
        "1f",
        "1 2",
        "true",
        "null",
        '"1"',
        "[]",
        "{}",
        "",
        "1,",
        "1.5.5",
        "1e5.5",
        "\uff11",
        "0123456789",
        "00000000",
        "012345678901",
    ],
)
def test_numbers_are_those_of_python(literal):
    for form in (literal, literal + " ", " " + literal):
        assert agree(result_row(bbox=f"[{form}, 2, 3, 4]")) == agree(result_row(bbox=f"[1, 2, 3, {form}]"))
        agree(result_row(score=form))
        agree(result_row(other=form))
        agree(result_row(other=f"[{form}]"))
        agree(result_row(other=f"[0.5, {form}, 7]"))
        agree(result_row(image_id=form))


def test_a_nan_is_refused_only_where_it_would_mean_absent():
    assert agree(result_row(bbox="[NaN, Infinity, -Infinity, 1]"))
    assert agree(result_row(score="-Infinity"))
    assert not agree(result_row(score="NaN"))
    snapshot = copy.deepcopy(SNAPSHOT)
    snapshot["predictions"][0]["objects"][0]["score"] = float("nan")
    assert agree(write(snapshot))


@pytest.mark.parametrize(
    "value",
    [
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "99999999999999999999",
        "18446744073709551617",
        "1.0",
        "1e3",
        "true",
        "null",
        "[1]",
        '""',
        '"a"',
        '"\\u0000"',
        "-0",
        "-",
        "-5",
    ],
)
def test_ids(value):
    agree(result_row(image_id=value))
    agree(result_row(category_id=value))
    agree(b'[{"image_id": "x", "category_id": 1, "bbox": [1, 2, 3, 4]}, ' + result_row(image_id=value)[1:])


@pytest.mark.parametrize(
    "text",
    [
        r"\n\t\r\b\f\/\\" + r"\"",
        r"\u0041\u00e9\u4e2d",
        r"\ud83d\ude00",
        r"\uD83D\uDE00",
        r"\ud83d",
        r"\ude00",
        r"\ude00\ud83d",
        r"\ud83d\ud83d\ude00",
        r"\ud83dx",
        r"\ud83d\n",
        r"\ud83d\u0041",
        r"\u0000",
        r"\u12",
        r"\u12g4",
        r"\ud83d\u12",
        r"\ud83d\uzzzz",
        r"\x41",
        r"\ ",
        "\\",
        r"\U0041",
        r"\u+123",
        r"\u 123",
        "a" * 15,
        "a" * 16,
        "a" * 17,
        "a" * 15 + r"\n",
        "a" * 16 + "é",
        "é" * 9,
        "中" * 20,
        "😀" * 5,
        "\x7f",
        "\x00",
        "\x1f",
        "\n",
        "\t",
        "\u2028",
        "\ud800",
        "'",
        "\x80",
        "\ufffe",
        "\U0010ffff",
    ],
)
def test_strings_are_those_of_python(text):
    agree(result_row(image_id=f'"{text}"'))
    agree(result_row(other=f'"{text}"'))
    agree(result_row(**{text: "1"}))
    agree(result_row(other='{"' + text + '": 1}'))


@pytest.mark.parametrize(
    "raw",
    [
        b"\x80",
        b"\xc0\xaf",
        b"\xc1\xbf",
        b"\xc2",
        b"\xc2\x20",
        b"\xe0\x80\xaf",
        b"\xe0\x9f\xbf",
        b"\xe0\xa0\x80",
        b"\xed\xa0\x80",
        b"\xed\x9f\xbf",
        b"\xee\x80\x80",
        b"\xef\xbf\xbf",
        b"\xf0\x80\x80\xaf",
        b"\xf0\x8f\xbf\xbf",
        b"\xf0\x90\x80\x80",
        b"\xf4\x8f\xbf\xbf",
        b"\xf4\x90\x80\x80",
        b"\xf5\x80\x80\x80",
        b"\xff",
        b"\xfe",
        b"\xe4\xb8",
        b"\xf0\x9f\x98",
        b"\xe4",
        b"\xf0\x9f",
    ],
)
def test_utf8_is_checked_wherever_it_stands(raw):
    for before in (b"", b"a" * 15, "é".encode()):
        text = b'"' + before + raw + b'"'
        agree(b'[{"image_id": ' + text + b', "category_id": 1, "bbox": [1, 2, 3, 4]}]')
        agree(b'[{"other": ' + text + b', "image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]}]')
        agree(b'[{"other": {' + text + b': 1}, "image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]}]')
        agree(b"[" + raw + b"]")


@pytest.mark.parametrize(
    "value",
    [
        "[1,,2]",
        "[01]",
        "[1 2]",
        "[,]",
        "[1,]",
        "[",
        "]",
        "{",
        "}",
        "{1: 2}",
        '{"a"}',
        '{"a":}',
        '{"a" 1}',
        '{"a": 1,}',
        '{"a": 1 "b": 2}',
        "{,}",
        "[1}",
        '{"a": 1]',
        "tru",
        "True",
        "nul",
        "nulll",
        "falsey",
        "[[1, 2], [3, [4]]]",
        "[{}, [], {}]",
        '{"a": {"a": {"a": [[], {}]}}}',
        "[1, 2, null]",
        "[1, -]",
        "[1, -x]",
        "[-1, 2.5e10, 3]",
        "//",
        "/* */ 1",
        "[1] 2",
        "undefined",
        "'a'",
        "[1, NaN, 2]",
        "[NaN, -Infinity]",
        "[\t1\r,\n2 ]",
        "[\x0b1]",
        "[\u00a01]",
        "[1\x00]",
    ],
)
def test_skipped_values_are_checked(value):
    agree(result_row(segmentation=value))
    agree(b'{"info": ' + value.encode() + b', "images": [], "annotations": [], "categories": ' + value.encode() + b"}")


@pytest.mark.parametrize("depth", [1, 2, 990, 1000, 1001, 5000, 1_000_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_nesting(depth, opening, closing):
    levels = depth * (2 if opening == '[{"a":' else 1)
    data = result_row(deep=opening * depth + "1" + closing * depth)
    if levels <= 1000:
        assert len(_native.Scan(data).columns()["bbox"]) == 1
    else:
        with pytest.raises(_native.ScanError, match="nested too deeply"):
            _native.Scan(data).columns()
    with pytest.raises(_native.ScanError):
        _native.Scan(result_row(deep=opening * depth)).columns()


def test_nesting_of_empty_containers_counts_too():
    assert len(_native.Scan(result_row(deep="[" * 1000 + "]" * 1000)).columns()["bbox"]) == 1
    with pytest.raises(_native.ScanError, match="nested too deeply"):
        _native.Scan(result_row(deep="[" * 1001 + "]" * 1001)).columns()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" ",
        b"\n\n",
        b"\xef\xbb\xbf[]",
        b"\xef\xbb\xbf",
        b"\xef\xbb",
        b"[]x",
        b"[] []",
        b"[]\x00",
        b"\x00",
        b"[",
        b"{",
        b"{}",
        b"[{}]",
        b"[[]]",
        b"[1]",
        b"1",
        b'"a"',
        b"null",
        b"[],",
        b"[{}, {}]",
        b'[{"id": 1}]',
        b'{"info": {}}',
        "[]".encode("utf-16"),
        b"[{]",
        b"[{},]",
        b"[,]",
        b'[{"image_id": 1}]',
        b'{"images": []}',
        b'{"predictions": []}',
    ],
)
@pytest.mark.parametrize("kind", ["auto", "coco_results", "coco_truth", "snapshot"])
def test_odd_files(data, kind):
    agree(data, kind)


@pytest.mark.parametrize("kind", ["coco_results", "coco_truth", "snapshot"])
@pytest.mark.parametrize("name", SAMPLES)
def test_a_kind_given_is_the_kind_read(kind, name):
    agree(write(SAMPLES[name]), kind)


def test_messages_that_the_contract_names():
    def message(data: bytes) -> str:
        with pytest.raises(_native.ScanError) as caught:
            _native.Scan(data).columns()
        return caught.value.message

    assert message(b"\xef\xbb\xbf[]") == "starts with a byte-order mark"
    assert message(b'[{"id": 1}]') == "not a COCO results list"
    assert message(b"[3]") == "not a COCO results list"
    assert message(result_row()[:-2] + b', "score": 1}]') == "duplicate key"
    assert message(b"") == "empty file"


def test_both_kinds_of_object_may_begin_with_info():
    assert agree(write({"info": {"images": 1}, **{k: TRUTH[k] for k in ("categories", "annotations", "images")}}))
    assert agree(write({"info": {"images": 1}, **{k: SNAPSHOT[k] for k in ("predictions", "label_map", "documents")}}))


@pytest.mark.parametrize("order", list(itertools.permutations(["image_id", "category_id", "bbox", "score"])))
def test_any_order_of_keys(order):
    for style in STYLES:
        rows = [{key: row[key] for key in order if key in row} for row in RESULTS]
        mixed = [
            dict(itertools.chain(rows[i % 4].items())) if i % 3 else dict(reversed(rows[i % 4].items())) for i in range(12)
        ]
        assert agree(write(rows * 3, style))
        assert agree(write(mixed, style))


@pytest.mark.parametrize("key", ["image_id", "category_id", "bbox", "score", "image\\u005fid"])
def test_duplicate_keys_in_rows(key):
    for copies in (1, 4):  # once by parsing, once by a learned layout
        row = result_row()[1:-1]
        values = json.loads(row)
        again = row[:-1] + f', "{key}": {json.dumps(values.get(key, 1))}}}'.encode()
        with pytest.raises(_native.ScanError, match="duplicate key"):
            _native.Scan(b"[" + b", ".join([row] * copies + [again]) + b"]").columns()
        assert not agree(b"[" + b", ".join([again] * copies) + b"]")


@pytest.mark.parametrize(
    "key", ["info", "images", "annotations", "categories", "licenses", "label_map", "documents", "predictions"]
)
def test_duplicate_keys_at_the_top(key):
    for tree in (TRUTH, SNAPSHOT):
        if key in tree:
            data = write(tree)[:-1] + b", " + json.dumps(key).encode() + b": " + write(tree[key]) + b"}"
            assert not agree(data)


def test_layouts_may_change_from_row_to_row():
    tight = b'{"image_id":1,"category_id":2,"bbox":[1,2,3,4],"score":0.5}'
    loose = b'{ "image_id" :  1 , "category_id":   2,"bbox" : [ 1 , 2 , 3 , 4 ] ,\n "score" : 0.5 }'
    wider = tight.replace(b":", b": ")
    for rows in itertools.product([tight, loose, wider], repeat=4):
        assert agree(b"[" + b",".join(rows) + b"]")
        assert agree(b"[" + b" , ".join(rows) + b" ]")


def test_more_keys_than_a_layout_learns():
    rows = [
        {**{f"x{i}": i for i in range(n)}, **row, **{f"y{i}": [i] for i in range(n)}}
        for n in (1, 15, 16, 17, 40, 40)
        for row in RESULTS
    ]
    assert agree(write(rows))
