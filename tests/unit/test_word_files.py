"""Texts as people have them: folders of tables, lists of words, files that share a document, formats that are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from calque import ConfigError, ContractError, Evaluator, Words
from calque.corpus.words import WordCorpus
from calque.evaluation.result import Result
from calque.readers.text import word_table
from calque.readers.text.lattices import read_lattices
from calque.readers.text.text_files import Stems, TextReading
from calque.readers.text.texts import read_texts

TABLE = "docid\twordid\tword\nd1\t0\tthe\nd1\t1\tcat\n"


def put(folder: Path, **files: str) -> Path:
    """Files by name; two underscores stand for a folder, one for a point."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def evaluated(truth: object, found: object, **settings: object) -> Result:
    return Evaluator(Words(**settings)).update(truth, found).compute()  # type: ignore[arg-type]  # settings by name


def words_in(path: Path, **rules: object) -> dict[object, list[str]]:
    corpus = read_texts(str(path), TextReading(**rules))  # type: ignore[arg-type]  # rules by name
    if isinstance(corpus, WordCorpus):
        return dict(corpus.by_document())
    return {unit: [word for block in blocks for word in block.text.split()] for unit, blocks in corpus.texts.items()}


@pytest.mark.parametrize("suffix", ["tsv", "txt", "dat", "tab"])
def test_a_folder_of_tables_is_read_as_tables_whatever_they_are_called(tmp_path: Path, suffix: str) -> None:
    put(tmp_path, **{f"one_{suffix}": TABLE, f"two_{suffix}": TABLE.replace("d1", "d2")})
    assert words_in(tmp_path) == {"d1": ["the", "cat"], "d2": ["the", "cat"]}


def test_a_document_may_stand_in_one_table_only(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="two files"):
        words_in(put(tmp_path, one_tsv=TABLE, two_tsv=TABLE))


def test_tables_beside_texts(tmp_path: Path) -> None:
    assert words_in(put(tmp_path, one_tsv=TABLE, d2_txt="a b")) == {"d1": ["the", "cat"], "d2": ["a", "b"]}
    with pytest.raises(ContractError, match="stands in a table, too"):
        words_in(put(tmp_path, d1_txt="a b"))


@pytest.mark.parametrize(
    ("columns", "text", "words"),
    [
        (("docid", "wordid", "word"), "d1\t0\tthe\nd1\t1\tcat\n", {"d1": ["the", "cat"]}),
        (("docid", "wordid", "word"), TABLE, {"d1": ["the", "cat"]}),
        (("wordid", "word"), "1\tcat\n0\tthe\n", {"x": ["the", "cat"]}),
        (("score", "word"), "0.5\tthe\n\n0.4\tcat\n", {"x": ["the", "cat"]}),
    ],
)
def test_tables_without_a_head(tmp_path: Path, columns: tuple[str, ...], text: str, words: dict[str, list[str]]) -> None:
    put(tmp_path, x_tsv=text)
    assert words_in(tmp_path / "x.tsv", columns=columns) == words
    assert words_in(tmp_path, columns=columns) == words


def test_a_table_without_rows_holds_no_words_and_columns_of_whole_numbers(tmp_path: Path) -> None:
    put(tmp_path, x_tsv="docid\twordid\tword\n")
    corpus = word_table.read(str(tmp_path / "x.tsv"))
    assert (len(corpus.documents), str(corpus.word.dtype), str(corpus.position.dtype)) == (0, "int32", "int64")


@pytest.mark.parametrize("columns", [("docid", "wordid"), ("word", "word"), ("docid", "docid", "word")])
def test_columns_must_make_a_table(columns: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match="columns must name word once"):
        Words(table_columns=columns)


def test_words_one_a_line_keep_their_spaces_only_without_a_tokenizer(tmp_path: Path) -> None:
    truth = put(tmp_path / "t", d_seq="5 1/2\nmiles\n\n")
    found = put(tmp_path / "p", d_seq="5 1/2\nmiles\n")
    assert words_in(truth) == {"d": ["5 1/2", "miles"]}
    assert evaluated(str(truth), str(found), tokenizer="none").numbers["counts"]["words"] == 2
    assert evaluated(str(truth), str(found)).numbers["counts"]["words"] == 3


def test_files_of_unknown_kinds_are_texts_unless_they_are_binary(tmp_path: Path) -> None:
    put(tmp_path, a_ocr="the cat", b_log="sat")
    (tmp_path / "c.bin").write_bytes(b"\x00\x01\x02")
    assert words_in(tmp_path) == {"a": ["the", "cat"], "b": ["sat"]}
    put(tmp_path, a_txt="known kinds come first")
    assert words_in(tmp_path)["a"] == ["known", "kinds", "come", "first"]


def test_folders_inside_folders_are_part_of_the_name(tmp_path: Path) -> None:
    put(tmp_path, a__x_txt="one", b__x_txt="two", x_txt="three")
    (tmp_path / "a" / "again").symlink_to(tmp_path)
    assert words_in(tmp_path) == {"a/x": ["one"], "b/x": ["two"], "x": ["three"]}


def test_truth_and_reading_beside_each_other(tmp_path: Path) -> None:
    put(tmp_path, x_gt_txt="the cat", x_ocr_txt="the cot", y_gt_txt="sat", y_txt="sat")
    result = evaluated(str(tmp_path), str(tmp_path))
    assert (result["recall"], result.numbers["counts"]["documents"]) == (2 / 3, 2)
    with pytest.raises(ContractError, match="--stem-pattern"):
        words_in(put(tmp_path, x_pred_txt="more"))
    assert words_in(tmp_path, stems=Stems("*.pred.txt")) == {"x": ["more"]}
    both = evaluated(str(tmp_path), str(tmp_path), stem_pattern="*.gt.txt=*.ocr.txt")
    assert both.numbers["counts"] | {"documents": 2, "missing_predictions": 1} == both.numbers["counts"]


def test_a_stem_pattern_that_fits_nothing_or_is_none(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="none of its 1 file fits"):
        words_in(put(tmp_path, x_txt="a"), stems=Stems("*.gt.txt"))
    with pytest.raises(ConfigError, match=r"needs one \*"):
        Words(stem_pattern="gt").reading(truth=True)


def test_a_named_format_is_read_as_such(tmp_path: Path) -> None:
    put(tmp_path, x_txt=TABLE, y_weird="<p>one</p>")
    assert words_in(tmp_path / "x.txt", format="text")["x"][:3] == ["docid", "wordid", "word"]
    assert words_in(tmp_path / "y.weird", format="html") == {"y": ["one"]}
    assert words_in(tmp_path / "x.txt", format="words")["x"][0] == "docid\twordid\tword"


def test_candidates_are_no_reading(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="give the folder as --lattice"):
        words_in(_candidates(tmp_path))


def _candidates(folder: Path, sources: tuple[str, str, str] = ("CT", "C", "T")) -> Path:
    both, first, second = sources
    rows = [("d", 1, 0, both, 0, "the"), ("d", 2, 0, first, 0, "cot"), ("d", 2, 1, second, 0, "cat")]
    text = "".join("\t".join(map(str, row)) + "\t1\t2\t3\t4\tNN\tO\tstem\n" for row in rows)
    folder.mkdir(exist_ok=True)
    (folder / "d.cand_word").write_text(text)
    return folder


@pytest.mark.parametrize(
    ("sources", "separator", "named"),
    [
        (("CT", "C", "T"), "auto", ("C", "T")),
        (("C|T", "C", "T"), "auto", ("C", "T")),
        (("C,T", "C", "T"), "auto", ("C", "T")),
        (("C+T", "C", "T"), "+", ("C", "T")),
        (("CT", "C", "T"), "none", ("CT", "C", "T")),
        (("tess", "tess", "gocr"), "auto", ("tess", "gocr")),
    ],
)
def test_the_sources_of_candidates(
    tmp_path: Path, sources: tuple[str, str, str], separator: str, named: tuple[str, ...]
) -> None:
    lattice = read_lattices(str(_candidates(tmp_path / "c", sources)), separator=separator)["d"]
    assert lattice.sources == named
    assert lattice.slots == 2


def test_a_lattice_whose_sources_leave_gaps_is_noticed(tmp_path: Path) -> None:
    truth = {"d": "the cat"}
    for separator, told in (("auto", False), ("none", True)):
        lattice = str(_candidates(tmp_path / separator))
        result = evaluated(truth, {"d": "the"}, lattice=lattice, source_separator=separator)
        assert any(issue.code == "source-gaps" for issue in result.issues) is told
        assert result["oracle_recall"] == 1


@pytest.mark.parametrize(
    ("readings", "text"),
    [
        ('index="1">b|index="0">a', "a"),
        ('conf="0.4">b|conf="0.9">a', "a"),
        ('index="1" conf="0.1">a|conf="0.9">b', "a"),
        (">a|>b", "a"),
        ('conf="high">b|conf="0.2">a', "a"),
    ],
)
def test_of_several_readings_the_lowest_index_counts_else_the_surest(tmp_path: Path, readings: str, text: str) -> None:
    pytest.importorskip("lxml")
    inside = "".join(
        f"<TextEquiv {each}".replace(">", "><Unicode>", 1) + "</Unicode></TextEquiv>" for each in readings.split("|")
    )
    (tmp_path / "x.xml").write_text(f'<PcGts><Page><TextRegion id="r">{inside}</TextRegion></Page></PcGts>')
    assert words_in(tmp_path / "x.xml") == {"x": [text]}
