"""Readers of texts and words: what each format gives, and what each refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calque import ContractError
from calque.corpus.words import TextCorpus, WordCorpus
from calque.readers.sources import xml_tree
from calque.readers.text import text_files
from calque.readers.text.html import blocks_of as html_blocks
from calque.readers.text.html import tree_of
from calque.readers.text.text_files import TextReading
from calque.readers.text.texts import read_texts

ALTO = """<?xml version="1.0"?><alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout><Page><PrintSpace>
{blocks}
</PrintSpace></Page></Layout></alto>"""
PAGE = """<?xml version="1.0"?><PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
<Page imageFilename="a.png" imageWidth="10" imageHeight="10">{content}</Page></PcGts>"""


def written(folder: Path, name: str, text: str | bytes) -> str:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def blocks(path: str, **options: Any) -> list[str]:
    corpus = read_texts(path, TextReading(**options))
    assert isinstance(corpus, TextCorpus)
    return [block.text for listed in corpus.texts.values() for block in listed]


def code_of(path: str) -> str:
    with pytest.raises(ContractError) as caught:
        read_texts(path)
    assert caught.value.issues[0].file.startswith(path)
    return caught.value.issues[0].code


def region(name: str, *lines: str, own: str | None = None, extra: str = "", tag: str = "TextRegion") -> str:
    equiv = "" if own is None else f"<TextEquiv><Unicode>{own}</Unicode></TextEquiv>"
    inside = "".join(
        f"<TextLine id='{name}{n}'><TextEquiv><Unicode>{line}</Unicode></TextEquiv></TextLine>" for n, line in enumerate(lines)
    )
    return f"<{tag} id='{name}' {extra}>{inside}{equiv}</{tag}>"


# Folders and plain text.


def test_a_folder_pairs_by_stem_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    written(tmp_path, "d1.txt", "one two")
    written(tmp_path, "d2.html", "<p>three</p>")
    written(tmp_path, "picture.png", b"\x89PNG")
    written(tmp_path, ".hidden.txt", "no")
    corpus = read_texts(str(tmp_path))
    assert corpus.units() == ("d1", "d2")
    assert [issue.code for issue in corpus.issues] == ["not-read"]
    assert "picture.png" in str(corpus.issues[0])


def test_two_files_of_one_stem_are_refused(tmp_path: Path) -> None:
    written(tmp_path, "d1.txt", "one")
    written(tmp_path, "d1.html", "one")
    assert code_of(str(tmp_path)) == "same-document"


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    assert code_of(str(tmp_path)) == "no-documents"


@pytest.mark.parametrize("content", ["", " \n\t\n"])
def test_an_empty_text_is_a_document_without_words(tmp_path: Path, content: str) -> None:
    corpus = read_texts(written(tmp_path, "d.txt", content))
    assert corpus.units() == ("d",)


def test_form_feeds_separate_pages(tmp_path: Path) -> None:
    corpus = read_texts(written(tmp_path, "d.txt", "one\ftwo three\f"))
    assert isinstance(corpus, TextCorpus)
    assert [(block.text, block.page) for block in corpus.texts["d"]] == [("one", 0), ("two three", 1)]


def test_not_utf8_names_file_and_offset(tmp_path: Path) -> None:
    path = written(tmp_path, "d.txt", b"caf\xe9 au lait")
    with pytest.raises(ContractError, match=r"d\.txt: byte 3: is not UTF-8"):
        read_texts(path)


def test_every_bad_file_of_a_folder_is_named(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        written(tmp_path, name, b"\xff\xfe")
    with pytest.raises(ContractError) as caught:
        read_texts(str(tmp_path))
    assert [Path(issue.file).name for issue in caught.value.issues] == ["a.txt", "b.txt"]


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "LARGEST", 100)
    monkeypatch.setattr(text_files, "SHORT", 50)
    assert code_of(written(tmp_path, "d.txt", "word " * text_files.HEAD)) == "too-large"


@pytest.mark.parametrize("size", [-1, 0, 1])
def test_a_file_is_the_same_however_many_times_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Short ones are opened once, and what is a byte longer twice."""
    text = "ein Wört nach dem anderen\n" * 400
    path = written(tmp_path, "d.txt", text)
    monkeypatch.setattr(text_files, "SHORT", len(text.encode()) + size)
    corpus = read_texts(path)
    assert isinstance(corpus, TextCorpus)
    assert [block.text for block in corpus.texts["d"]] == [text]


def test_a_sparse_file_of_500_megabytes_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "d.txt"
    with path.open("wb") as file:
        file.truncate(500_000_000)
    assert code_of(str(path)) == "too-large"


@pytest.mark.parametrize("name", ["missing.txt", "missing.tsv", "missing.xml", "missing.parquet"])
def test_a_missing_file(tmp_path: Path, name: str) -> None:
    with pytest.raises((ContractError, OSError)):
        read_texts(str(tmp_path / name))


def test_python_values() -> None:
    assert isinstance(read_texts({"d": "one two"}), TextCorpus)
    corpus = read_texts({"d": ["one", "two"], "e": []})
    assert isinstance(corpus, WordCorpus)
    assert corpus.words("d") == ["one", "two"]
    with pytest.raises(ContractError, match="neither text nor a list"):
        read_texts({"d": ["one", 2]})
    with pytest.raises(TypeError, match="give a path"):
        read_texts(3)


def test_json_by_document(tmp_path: Path) -> None:
    corpus = read_texts(written(tmp_path, "all.json", '{"d": ["one", "two"]}'))
    assert isinstance(corpus, WordCorpus)
    assert corpus.words("d") == ["one", "two"]
    assert code_of(written(tmp_path, "list.json", '["one"]')) == "wrong-words"
    assert code_of(written(tmp_path, "odd.json", '{"d": ["one", 2]}')) == "wrong-words"


# Tables.


@pytest.mark.parametrize("name", ["w.tsv", "w.csv", "w.parquet"])
def test_tables_give_words_in_the_order_of_their_ids(tmp_path: Path, name: str) -> None:
    rows = [("d1", 1, "be"), ("d1", 0, "to"), ("d2", 0, "naïve")]
    if name.endswith(".parquet"):
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        columns = dict(zip(("docid", "wordid", "word"), map(list, zip(*rows, strict=True)), strict=True))
        parquet.write_table(pyarrow.table(columns), tmp_path / name)
        path = str(tmp_path / name)
    else:
        mark = "\t" if name.endswith(".tsv") else ","
        lines = [mark.join(map(str, row)) for row in [("docid", "wordid", "word"), *rows]]
        path = written(tmp_path, name, "\n".join(lines))
    corpus = read_texts(path)
    assert isinstance(corpus, WordCorpus)
    assert {unit: corpus.words(unit) for unit in corpus.units()} == {"d1": ["to", "be"], "d2": ["naïve"]}
    assert corpus.position is not None
    assert corpus.position.tolist() == [0, 1, 0]


HEAD = "docid\twordid\tword\n"


@pytest.mark.parametrize(
    ("content", "code", "place"),
    [
        (HEAD + "d\t0\ta\nd\t0\tb\n", "duplicate-word", "line 3"),
        (HEAD + "d\t1\ta\nd\t0\tb\nd\t1\tc\n", "duplicate-word", ""),
        (HEAD + "d\tx\ta\n", "wrong-wordid", "line 2"),
        (HEAD + "d\t-1\ta\n", "wrong-wordid", "line 2"),
        (HEAD + "d\t0\n", "wrong-row", "line 2"),
        ("doc\tid\ttext\nd\t0\ta\n", "no-column", "line 1"),
        (HEAD.encode() + b"d\t0\tcaf\xe9\n", "not-utf8", "byte 25"),
        (b"x" * (1 << 21), "long-line", "byte 0"),
    ],
)
def test_bad_tables(tmp_path: Path, content: str | bytes, code: str, place: str) -> None:
    with pytest.raises(ContractError) as caught:
        read_texts(written(tmp_path, "w.tsv", content))
    assert (caught.value.issues[0].code, caught.value.issues[0].pointer) == (code, place)


def test_gaps_between_ids_are_noted_and_kept(tmp_path: Path) -> None:
    corpus = read_texts(written(tmp_path, "w.tsv", HEAD + "d\t0\ta\nd\t5\tb\n"))
    assert isinstance(corpus, WordCorpus)
    assert [(issue.code, issue.severity) for issue in corpus.issues] == [("wordid-gap", "note")]
    assert corpus.position is not None
    assert corpus.position.tolist() == [0, 5]


def test_a_file_that_is_no_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    assert code_of(written(tmp_path, "w.parquet", b"PAR1 not really")) == "not-parquet"


# HTML.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<p>one<p>two", [("one", ()), ("two", ())]),
        ("<ul><li>a<li>b</ul>c", [("a", ()), ("b", ()), ("c", ())]),
        ("a<br>b", [("a\nb", ())]),
        ("<script>x</script><style>y</style>z", [("z", ())]),
        ("<head><title>t</title></head><body>a &amp; b&nbsp;c</body>", [("a & b\xa0c", ())]),
        ("<table><tr><td>1<td>2<tr><td>3</table>x", [("1", ("table",)), ("2", ("table",)), ("3", ("table",)), ("x", ())]),
        ("<div class='fig-caption'>c</div>", [("c", ("caption",))]),
        ("<h2>3. References</h2><p>r</p><h3>More</h3><p>s</p><h2>Annex</h2><p>t</p>",
         [("3. References", ("references",)), ("r", ("references",)), ("More", ("references",)), ("s", ("references",)),
          ("Annex", ()), ("t", ())]),
        ("<section><h2>References</h2><p>r</p></section><p>t</p>",
         [("References", ("references",)), ("r", ("references",)), ("t", ())]),
        ("<h2>References to Goethe</h2><p>t</p>", [("References to Goethe", ()), ("t", ())]),
        ("<ol class='references'><li>r</ol>", [("r", ("references",))]),
        ("</p></div>stray", [("stray", ())]),
        ("<p>a<span class='x'/>b</p><p>c</p>", [("ab", ()), ("c", ())]),
        ("<span lang='fr'/>a<table/><p>b</p>", [("a", ()), ("b", ())]),
        ("<div class='caption'/>c<p/>d", [("c", ("caption",)), ("d", ("caption",))]),
        ("", []),
    ],
)  # fmt: skip
def test_html_blocks(text: str, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    assert [(block.text, tuple(sorted(block.marks))) for block in html_blocks(text)] == expected


def test_html_language_is_inherited() -> None:
    found = html_blocks("<html lang=en><p>a</p><p lang=fr>b <i>c</i></p></html>")
    assert [(block.text, block.lang) for block in found] == [("a", "en"), ("b c", "fr")]


def test_html_as_deep_as_a_well() -> None:
    assert html_blocks("<div>" * 50_000 + "x")[0].text == "x"


# ALTO and PAGE.


def test_alto_words_split_at_a_line_end_count_once(tmp_path: Path) -> None:
    pytest.importorskip("lxml")
    text = ALTO.format(
        blocks="""<TextBlock LANG="de">
      <TextLine><String CONTENT="an"/><SP/>
        <String CONTENT="evalu" SUBS_TYPE="HypPart1" SUBS_CONTENT="evaluation"/><HYP CONTENT="-"/></TextLine>
      <TextLine><String CONTENT="ation" SUBS_TYPE="HypPart2" SUBS_CONTENT="evaluation"/><String CONTENT="of"/></TextLine>
      <TextLine><String CONTENT="co"/><HYP CONTENT="-"/></TextLine>
      </TextBlock>"""
    )
    assert blocks(written(tmp_path, "a.xml", text)) == ["an evaluation\nof\nco-"]


def test_alto_second_half_alone_is_the_word(tmp_path: Path) -> None:
    pytest.importorskip("lxml")
    line = (
        '<TextBlock><TextLine><String CONTENT="ation" SUBS_TYPE="HypPart2" SUBS_CONTENT="evaluation"/></TextLine></TextBlock>'
    )
    assert blocks(written(tmp_path, "a.xml", ALTO.format(blocks=line))) == ["evaluation"]


def test_page_reading_order_with_nested_groups(tmp_path: Path) -> None:
    pytest.importorskip("lxml")
    order = """<ReadingOrder><OrderedGroup id="g">
      <RegionRefIndexed index="1" regionRef="b"/>
      <OrderedGroupIndexed id="h" index="0">
        <RegionRefIndexed index="1" regionRef="d"/><RegionRefIndexed index="0" regionRef="c"/></OrderedGroupIndexed>
      </OrderedGroup></ReadingOrder>"""
    content = order + region("a", "first in file") + region("b", "B") + region("c", "C") + region("d", "D")
    assert blocks(written(tmp_path, "p.xml", PAGE.format(content=content))) == ["C", "D", "B", "first in file"]


def test_page_levels_and_alternatives(tmp_path: Path) -> None:
    pytest.importorskip("lxml")
    content = """<TextRegion id="r"><TextLine id="l"><Word id="w"><TextEquiv><Unicode>word</Unicode></TextEquiv></Word>
      <TextEquiv index="1"><Unicode>worse</Unicode></TextEquiv>
      <TextEquiv index="0"><Unicode>line</Unicode></TextEquiv></TextLine>
      <TextEquiv><Unicode>region</Unicode></TextEquiv></TextRegion>"""
    path = written(tmp_path, "p.xml", PAGE.format(content=content))
    assert [blocks(path, level=level) for level in ("region", "line", "word")] == [["region"], ["line"], ["word"]]


def test_page_without_text_at_a_level_falls_back(tmp_path: Path) -> None:
    pytest.importorskip("lxml")
    path = written(tmp_path, "p.xml", PAGE.format(content=region("a", "only lines") + region("b", own="only region")))
    for level in ("region", "line", "word"):
        assert blocks(path, level=level) == ["only lines", "only region"]


def test_page_tables_and_captions_are_marked(tmp_path: Path) -> None:
    pytest.importorskip("lxml")
    cell = region("c", "cell")
    content = f"<TableRegion id='t'>{cell}</TableRegion>" + region("k", "a caption", extra="type='caption'")
    corpus = read_texts(written(tmp_path, "p.xml", PAGE.format(content=content)))
    assert isinstance(corpus, TextCorpus)
    assert [(block.text, set(block.marks)) for block in corpus.texts["p"]] == [("cell", {"table"}), ("a caption", {"caption"})]


BOMB = """<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;&x;&x;&x;&x;&x;&x;&x;&x;">
<!ENTITY z "&y;&y;&y;&y;&y;&y;&y;&y;&y;&y;">]><alto><Layout><Page><TextBlock><TextLine>
<String CONTENT="&z;"/></TextLine></TextBlock></Page></Layout></alto>"""


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (BOMB, "xml-entities"),
        ('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><alto>&x;</alto>', "xml-entities"),
        ("<alto><Layout>", "not-xml"),
        ("<" * 10, "not-xml"),
        ("<other/>", "unknown-format"),
        ("", "empty-file"),
    ],
)
def test_dangerous_and_broken_xml(tmp_path: Path, content: str, code: str) -> None:
    pytest.importorskip("lxml")
    with pytest.raises(ContractError) as caught:
        read_texts(written(tmp_path, "a.xml", content))
    assert caught.value.issues[0].code in (code, "not-xml")


def test_hocr_without_words_and_without_pages(tmp_path: Path) -> None:
    first = "<div class='ocr_page'><span class='ocr_line'>one two</span></div>"
    text = first + "<div class=ocr_page><span class=ocr_line>three</span></div>"
    corpus = read_texts(written(tmp_path, "a.hocr", text))
    assert isinstance(corpus, TextCorpus)
    assert [(block.text, block.page) for block in corpus.texts["a"]] == [("one two", 0), ("three", 1)]
    assert blocks(written(tmp_path, "b.html", "<p class='ocr_par'><span class='ocrx_word'>x</span></p>")) == ["x"]


def test_tesseract_rows_that_are_cut_off(tmp_path: Path) -> None:
    head = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"
    assert code_of(written(tmp_path, "a.tsv", head + "5\t1\t1\n")) == "wrong-row"
    row = "5\t{}\t1\t1\t{}\t1\t0\t0\t9\t9\t90\t{}\n"
    text = head + row.format(1, 1, "one") + row.format(1, 2, "two") + row.format(2, 1, "three")
    assert blocks(written(tmp_path, "b.tsv", text)) == ["one\ntwo", "three"]


def test_select_keeps_whole_documents() -> None:
    corpus = WordCorpus.of({"a": ["x", "y"], "b": [], "c": ["z"]}, position=np.array([0, 4, 7]))
    chosen = corpus.select(["c", "a", "unknown"])
    assert chosen.units() == ("a", "c")
    assert (chosen.words("c"), chosen.position is not None and chosen.position.tolist()) == (["z"], [0, 4, 7])
    assert corpus.select(["b"]).words("b") == []


@pytest.mark.parametrize(
    ("kind", "marks"),
    [("Table", {"table"}), ("data-table", {"table"}), ("Illustration", {"figure"}), ("image", {"figure"}), ("text", set())],
)
def test_what_alto_composes_is_marked(tmp_path: Path, kind: str, marks: set[str]) -> None:
    pytest.importorskip("lxml")
    inside = '<TextBlock><TextLine><String CONTENT="x"/></TextLine></TextBlock>'
    path = written(tmp_path, "a.xml", ALTO.format(blocks=f'<ComposedBlock TYPE="{kind}">{inside}</ComposedBlock>'))
    corpus = read_texts(str(path), TextReading())
    assert isinstance(corpus, TextCorpus)
    assert [block.marks for listed in corpus.texts.values() for block in listed] == [frozenset(marks)]


@pytest.mark.parametrize(("comments", "read"), [(1, 1), (7, 7), (8, 8), (9, 8), (20, 8)])
def test_after_eight_comments_without_an_end_all_the_rest_is_text(comments: int, read: int) -> None:
    tree = tree_of("<!-- a> <b>x</b>" * comments)
    assert sum(node.tag == "b" for node in tree.walk()) == read
    text = "".join(child for node in tree.walk() for child in node.children if isinstance(child, str))
    assert text.count("x") == text.count("<!-- a>") == comments, "nothing is lost"


def test_alto_as_printed_has_both_parts_of_a_split_word(tmp_path: Path) -> None:
    first = '<String CONTENT="good"/><String CONTENT="eva" SUBS_TYPE="HypPart1" SUBS_CONTENT="evaluation"/><HYP CONTENT="-"/>'
    second = '<String CONTENT="luation" SUBS_TYPE="HypPart2" SUBS_CONTENT="evaluation"/><String/><String CONTENT="ends"/>'
    lines = f"<TextBlock><TextLine>{first}</TextLine><TextLine>{second}</TextLine></TextBlock>"
    path = written(tmp_path, "a.xml", ALTO.format(blocks=lines))
    assert [block.split() for block in blocks(path)] == [["good", "evaluation", "ends"]]
    assert [block.split() for block in blocks(path, alto_hyphens="printed")] == [["good", "eva", "luation", "ends"]]


def test_comments_and_instructions_between_elements_are_nothing() -> None:
    root = xml_tree.parse(
        b"<?xml version='1.0'?><a xmlns='urn:x'><?tool one?><b/><!-- no element --><b><?tool two?><c/></b></a>", "a.xml"
    )
    assert [xml_tree.name(each) for each in xml_tree.descendants(root, "b", "c")] == ["b", "b", "c"]
    assert [len(list(xml_tree.children(each, "c"))) for each in xml_tree.children(root, "b")] == [0, 1]


@pytest.mark.parametrize(
    ("given", "lang"), [('LANG="de"', "de"), ('language="fr"', "fr"), ('LANG="de" language="fr"', "de"), ("", None)]
)
def test_alto_names_a_language_in_either_spelling(given: str, lang: str | None, tmp_path: Path) -> None:
    block = f'<TextBlock {given}><TextLine><String CONTENT="a"/></TextLine></TextBlock>'
    corpus = read_texts(written(tmp_path, "a.xml", ALTO.format(blocks=block)), TextReading())
    assert isinstance(corpus, TextCorpus)
    assert [each.lang for listed in corpus.texts.values() for each in listed] == [lang]
