"""Thrift's compact protocol, byte by byte as its specification has it: Parquet's footers and pages are spelt in it."""

from __future__ import annotations

from typing import Any

import pytest

from calque.readers.sources.parquet_files import _Compact


@pytest.mark.parametrize(
    ("data", "fields"),
    [
        (b"\x00", {}),
        (b"\x15\x04\x00", {1: 2}),
        (b"\x15\x03\x25\x00\x00", {1: -2, 3: 0}),
        (b"\xf5\x02\x15\x04\x00", {15: 1, 16: 2}),
        (b"\x05\x28\x02\x00", {20: 1}),
        (b"\x15\x02\x05\x28\x02\x15\x04\x00", {1: 1, 20: 1, 21: 2}),
        (b"\x08\x28\x03abc\x00", {20: b"abc"}),
        (b"\x15\x02\x01\x80\x01\x12\x00", {1: 1, 64: True, 65: False}),
        (b"\x11\x12\x00", {1: True, 2: False}),
        (b"\x16\xac\x04\x00", {1: 278}),
        (b"\x18\x03abc\x00", {1: b"abc"}),
        (b"\x1c\x15\x02\x00\x15\x04\x00", {1: {1: 1}, 2: 2}),
        (b"\x19\x35\x02\x04\x06\x00", {1: [1, 2, 3]}),
        (b"\x19\x05\x00", {1: []}),
        (b"\x19\xf5\x10" + b"\x02" * 16 + b"\x00", {1: [1] * 16}),
        (b"\x19\x21\x01\x02\x00", {1: [1, 2]}),
        (b"\x1a\x28\x01a\x01b\x00", {1: [b"a", b"b"]}),
        (b"\x13\x07\x17" + b"8 bytes." + b"\x00", {1: b"\x07", 2: b"8 bytes."}),
    ],
)
def test_structures(data: bytes, fields: dict[int, Any]) -> None:
    compact = _Compact(data + b"more")
    assert compact.struct() == fields
    assert compact.at == len(data)


@pytest.mark.parametrize("data", [b"", b"\x15", b"\x15\x80", b"\x18\x05abc", b"\x19\x95\x02", b"\x1f\x00", b"\x1b\x00\x00"])
def test_what_breaks_off_or_is_unknown_is_refused(data: bytes) -> None:
    with pytest.raises((IndexError, ValueError)):
        _Compact(data).struct()


@pytest.mark.parametrize(("levels", "fine"), [(65, True), (66, False)])
def test_structures_within_structures(levels: int, fine: bool) -> None:
    data = b"\x1c" * (levels - 1) + b"\x00" * levels
    if fine:
        _Compact(data).struct()
    else:
        with pytest.raises(ValueError):
            _Compact(data).struct()
