"""Mutated text files: the readers return a corpus or raise a CalqueError, never anything else."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import CalqueError
from calque.readers.text.lattices import read_lattices
from calque.readers.text.texts import read_texts
from tests.examples import examples

ORIGINALS = {
    "d.txt": "the cat\nsat é \f on".encode(),
    "d.html": b"<html lang=en><p>a<b>b</b><table><tr><td>1<td>2</table><h2>References</h2><li>x</html>",
    "d.hocr": b"<div class='ocr_page'><p class='ocr_par'><span class='ocr_line'><span class='ocrx_word'>x</span></span></p>",
    "alto.xml": b'<alto><Layout><Page><TextBlock><TextLine><String CONTENT="a" SUBS_TYPE="HypPart1" SUBS_CONTENT="ab"/>'
    b'<HYP CONTENT="-"/></TextLine></TextBlock></Page></Layout></alto>',
    "page.xml": b'<PcGts><Page><ReadingOrder><OrderedGroup><RegionRefIndexed index="0" regionRef="r"/></OrderedGroup>'
    b"</ReadingOrder>"
    b'<TextRegion id="r"><TextEquiv index="0"><Unicode>x</Unicode></TextEquiv></TextRegion></Page></PcGts>',
    "w.tsv": b"docid\twordid\tword\nd\t0\ta\nd\t1\tb\n",
    "w.csv": b'docid,wordid,word\nd,0,"a"\nd,1,b\n',
    "t.tsv": b"level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"
    b"5\t1\t1\t1\t1\t1\t0\t0\t1\t1\t90\tx\n",
    "w.json": b'{"d": ["a", "b"]}',
    "w.parquet": b"PAR1\x15\x04\x15PAR1",
    "lattice.json": b'{"d": [[["a"], []]], "e": {"edges": [[0, 1, ["a"]]], "start": 0, "finals": [1]}}',
    "lattice.tsv": b"docid\tvarid\tcandid\tsource\twordid\tword\nd\t0\t0\ts\t0\ta\n",
}
pieces = st.one_of(
    st.binary(max_size=6), st.sampled_from([b"<", b">", b"\t", b"\n", b"&", b"&#x110000;", b"]]>", b"\x00", b"\xff", b'"'])
)


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, bytes]:
    """A file with a few stretches cut out, repeated or replaced."""
    name = draw(st.sampled_from(sorted(ORIGINALS)))
    data = ORIGINALS[name]
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(data)))
        end = draw(st.integers(begin, min(len(data), begin + 12)))
        data = data[:begin] + draw(pieces) + data[begin if draw(st.booleans()) else end :]
    return name, data


@examples(300)
@given(mutated())
def test_readers_never_fail_in_another_way(file: tuple[str, bytes]) -> None:
    pytest.importorskip("lxml")
    name, data = file
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        with contextlib.suppress(CalqueError):
            read_lattices(str(path)) if name.startswith("lattice") else read_texts(str(path))
