"""From text to words: tokenizers, clean-up, hold-out, confusions, and two texts side by side."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque import ConfigError, Evaluator, Words
from calque.corpus.words import WordCorpus
from calque.words import align, clean, confusions, tokenize
from calque.words.alignment import as_texts
from calque.words.confused import character_pairs, gaps
from calque.words.holdout import held_out
from calque.words.presentation import side_by_side
from calque.words.text.languages import detect, language_code
from calque.words.views import sentence


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("can't 3.14 foo-bar", ["can't", "3.14", "foo", "-", "bar"]),
        ("1,024 a.b a:b x2y _id_", ["1,024", "a.b", "a:b", "x2y", "_id_"]),
        ("end. Next", ["end", ".", "Next"]),
        ("cafe\u0301s", ["cafe\u0301s"]),
        ("カタカナ漢字", ["カタカナ", "漢", "字"]),
        ("a\u00a0b\tc", ["a", "b", "c"]),
        ("", []),
    ],
)
def test_uax29(text: str, expected: list[str]) -> None:
    assert tokenize(text, "UAX-29") == expected


@given(st.text())
def test_no_tokenizer_loses_a_character(text: str) -> None:
    for name in ("whitespace", "words-and-punctuation", "uax29"):
        words = tokenize(text, name)
        assert "".join(words) == "".join(text.split())
        assert not any(char.isspace() for word in words for char in word)


def test_words_and_punctuation_keeps_marks() -> None:
    assert tokenize("कि, é!", "words-and-punctuation") == ["कि", ",", "é", "!"]


def test_an_unknown_tokenizer_is_refused() -> None:
    with pytest.raises(ConfigError, match="did you mean 'whitespace'"):
        tokenize("a", "whitespaces")


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("a\u00adb", {"drop_soft_hyphen": True}, ["ab"]),
        ("co\u00ad\noperative", {"dehyphenate": "lines", "drop_soft_hyphen": True}, ["cooperative"]),
        ("a -\nb", {"dehyphenate": "lines"}, ["a", "-", "b"]),
        ("a–b − c", {"fold": ["dashes"]}, ["a-b", "-", "c"]),
        ("“a” ‘b’ «c»", {"fold": ["quotes"]}, ['"a"', "'b'", "«c»"]),
        ("\ufb05", {"fold": ["ligatures", "long_s"]}, ["st"]),
        ("(,) x (and) (a)", {"drop_empty_parens": True}, ["x", "(a)"]),
        ("cafe\u0301", {"unicode": "none"}, ["cafe\u0301"]),
        ("caf\u00e9", {"unicode": "NFD"}, ["cafe\u0301"]),
    ],
)  # fmt: skip
def test_characters(text: str, options: dict[str, object], expected: list[str]) -> None:
    assert clean(text, **options) == expected


def test_languages_of_plain_text_are_detected_paragraph_by_paragraph() -> None:
    english = "The rocks of this region are old and were formed in the sea by rivers that came from the north."
    french = "Les roches de la région sont anciennes et elles sont dans la mer, pour les rivières qui viennent du nord."
    assert clean(f"{english}\n\n{french}\n\nFig. 2", keep_lang=["en"]) == [*english.split(), "Fig.", "2"]
    assert clean(f"{english}\n\nFig. 2", keep_lang=["en"], keep_unknown=False) == english.split()
    assert (detect(english), detect(french), detect("")) == ("en", "fr", None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"drop": ["tables"]}, "did you mean 'table'"),
        ({"fold": ["x"]}, "it can be ligatures"),
        ({"unicode": "NFX"}, "unicode must be one of"),
        ({"min_block_recall": 2.0}, "from 0 to 1"),
    ],
)
def test_unknown_steps_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        clean("a", **options)


def test_a_block_on_the_threshold_stays() -> None:
    given_blocks = {"blocks": ["a b", "c d"], "page_words": ["a", "c", "d"]}
    assert clean(given_blocks, format="blocks", min_block_recall=0.5) == ["a", "b", "c", "d"]
    assert clean(given_blocks, format="blocks", min_block_recall=0.6) == ["c", "d"]


# Hold-out.


def test_a_hashed_share_does_not_move_when_documents_are_added() -> None:
    few, many = [f"d{n}" for n in range(50)], [f"d{n}" for n in range(2000)]
    options = {"listed": None, "fraction": 0.2, "fold": "", "seed": 7}
    chosen = held_out(few, **options)  # type: ignore[arg-type]
    assert chosen == held_out(many, **options) & set(few)  # type: ignore[arg-type]
    assert 320 < len(held_out(many, **options)) < 480  # type: ignore[arg-type]
    assert held_out(many, **{**options, "seed": 8}) != held_out(many, **options)  # type: ignore[arg-type]


def test_folds_share_the_documents_out() -> None:
    units = [f"d{n}" for n in range(100)]
    folds = [held_out(units, listed=None, fraction=None, fold=f"{i}/4", seed=0) for i in range(4)]
    assert sum(map(len, folds)) == 100
    assert set().union(*folds) == set(units)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"holdout": ("a",), "holdout_fraction": 0.5}, "both say"),
        ({"holdout_fraction": 0.0}, "above 0"),
        ({"holdout_fold": "5/5"}, "i/K"),
        ({"holdout_fold": "x"}, "i/K"),
    ],
)
def test_hold_out_rules_that_make_no_sense(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Words(**options)  # type: ignore[arg-type]


def test_the_signature_names_the_hold_out() -> None:
    assert "holdout:2 listed" in str(Words(holdout=("b", "a")).signature())
    assert Words(holdout=("b", "a")).signature() == Words(holdout=("a", "b")).signature()
    assert "holdout:0.2 by seed 7" in str(Words(holdout_fraction=0.2, seed=7).signature())
    assert "holdout" not in str(Words().signature())


# The task on odd input.


def test_naive_recall_goes_by_word_id() -> None:
    truth = WordCorpus.of({"d": ["a", "b", "c"]}, position=np.array([0, 1, 9]))
    found = WordCorpus.of({"d": ["a", "x", "c"]}, position=np.array([0, 3, 9]))
    result = Evaluator(Words()).update(truth, found).compute()
    assert (result["naive_recall"], result["recall"]) == (2 / 3, 2 / 3)
    result = Evaluator(Words()).update(truth, {"d": ["a", "b", "c"]}).compute()
    assert (result["naive_recall"], result["recall"]) == (2 / 3, 1.0)


def test_mixed_normal_forms_meet_by_default_and_are_noted_otherwise() -> None:
    sides = {"d": "cafe\u0301 é"}, {"d": "caf\u00e9 e\u0301"}
    assert Evaluator(Words()).update(*sides).compute()["recall"] == 1.0
    result = Evaluator(Words(unicode="none")).update(*sides).compute()
    assert result["recall"] == 0.0
    assert [(issue.code, issue.count, issue.message) for issue in result.issues] == [
        ("not-nfc", 2, "documents are not in Unicode NFC, and words that look alike may differ")
    ]
    usual = Evaluator(Words(unicode="none")).update({"d": "caf\u00e9"}, {"d": "caf\u00e9"}).compute()
    assert usual.issues == ()


def test_words_that_clean_up_empties_or_splits_are_counted() -> None:
    result = Evaluator(Words(drop_zero_width=True)).update({"d": ["New York", "\u200b", "a"]}, {"d": "New York a"}).compute()
    assert result["recall"] == 1.0
    assert {issue.code: issue.count for issue in result.issues} == {"empty-word": 1, "split-word": 1}


def test_no_common_document_is_said() -> None:
    result = Evaluator(Words()).update({"a": "x"}, {"b": "x"}).compute()
    assert (result["recall"], [issue.code for issue in result.issues]) == (0.0, ["no-common-document"])


def test_nothing_at_all_is_undefined_with_reasons() -> None:
    result = Evaluator(Words()).update({"d": ""}, {"d": ""}).compute()
    assert result["recall"] is None
    assert result.undefined["micro.recall"] == "no true words"
    assert result.undefined["documents.d.f1"] == "no words"


def test_stop_words_are_left_out_of_content_recall() -> None:
    result = Evaluator(Words(stop_words=("english",))).update({"d": "The cat of cats"}, {"d": "the cat"}).compute()
    assert result["content_recall"] == 0.5
    assert result["recall"] == 0.25


def test_characters_are_compared_when_asked_for() -> None:
    result = Evaluator(Words(characters=True)).update({"d": "the cat"}, {"d": "the cot"}).compute()
    assert result["cer"] == 1 / 7
    with pytest.raises(KeyError, match="cer"):
        Evaluator(Words()).update({"d": "a"}, {"d": "a"}).compute()["cer"]


def test_pages_and_regions(tmp_path: object) -> None:
    from calque.corpus.words import Block, TextCorpus

    blocks = (Block("one two", page=0, region="heading"), Block("three four", page=1, region="paragraph"))
    result = Evaluator(Words()).update(TextCorpus(texts={"d": blocks}), {"d": "one three four"}).compute()
    assert result.numbers["pages"]["d"]["0"] == {"n_ref": 2, "matches": 1, "recall": 0.5}
    assert result.numbers["regions"]["paragraph"]["recall"] == 1.0


def test_outcomes_have_a_row_for_each_word_and_each_ignored_document() -> None:
    result = Evaluator(Words()).update({"d": "a b"}, {"d": "b c", "e": "x"}).compute()
    rows = [(row["document"], row["side"], row["word"], row["outcome"], row["partner"]) for row in result.outcomes().rows()]
    assert rows == [
        ("d", "truth", "a", "fn", -1), ("d", "truth", "b", "tp", 0), ("d", "prediction", "b", "tp", 1),
        ("d", "prediction", "c", "fp", -1), ("e", "document", "", "ignored", -1),
    ]  # fmt: skip
    slim = Evaluator(Words(), keep="numbers").update({"d": "a"}, {"d": "a"}).compute()
    with pytest.raises(ValueError, match="let go of"):
        slim.outcomes()


def test_an_alignment_says_what_it_is() -> None:
    made = align(["a", "b", "c"], ["a", "x"])
    assert (repr(made), made.levenshtein) == ("<Alignment: 1 of 3 words, 2 predicted>", 2)


def test_more_words_than_characters_are_compared_too() -> None:
    many = 0x110000  # the first code that is no character
    ours, theirs = as_texts(np.array([many, 5, many], dtype=np.int32), np.array([5, 9], dtype=np.int32))
    assert (ours[0] == ours[2], ours[1] == theirs[0], len({*ours, *theirs}), len(ours), len(theirs)) == (True, True, 3, 3, 2)


def test_without_true_words_there_is_nothing_to_read() -> None:
    result = Evaluator(Words()).update({"d": []}, {"d": ["a"]}).compute()
    assert sentence({"one": result}) == "There is nothing to read: the truth has no words."


def test_one_string_is_no_list_of_words() -> None:
    with pytest.raises(TypeError, match="not one string"):
        align("a b", ["a"])


# Confusions and the diff.


def test_confusions_pair_words_and_phrases() -> None:
    found = confusions(["sand", "stone", "is", "here", "now"], ["sandstone", "is", "hero", "now"])
    assert found == {("sand stone", "sandstone"): 1, ("here", "hero"): 1}
    assert list(character_pairs("rn", "m")) in ([("r", ""), ("n", "m")], [("r", "m"), ("n", "")])


def test_a_long_gap_is_missed_and_extra_words() -> None:
    found = confusions(["a", "b", "c", "d", "e", "f", "x"], ["g", "x"])
    assert found[("", "g")] == 1
    assert sum(found.values()) == 7


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
def test_gaps_and_pairs_hold_every_word_once(ref: list[str], pred: list[str]) -> None:
    pairs = align(ref, pred).pairs
    between = list(gaps(ref, pred, pairs))
    assert sum(len(ours) for ours, _ in between) + len(pairs) == len(ref)
    assert sum(len(theirs) for _, theirs in between) + len(pairs) == len(pred)


def test_the_diff_wraps_and_escapes() -> None:
    lines = list(side_by_side(["word"] * 30, ["word"] * 30, [(i, i) for i in range(30)]))
    assert len(lines) == 3
    assert list(side_by_side(["a\x1b[31m"], [], [])) == ["a\\x1b[31m  -"]


@pytest.mark.parametrize(
    ("tag", "hint"),
    [
        ("german", "the code of german is de"), ("dde", "did you mean 'de'?"), ("12345", "use codes such as en or de"),
        ("xx", "use codes such as en or de"),
    ],
)  # fmt: skip
def test_what_is_no_language_is_told_what_could_be_meant(tag: str, hint: str) -> None:
    with pytest.raises(ConfigError) as refused:
        language_code(tag)
    assert str(refused.value) == f"keep_lang: there is no language code {tag!r}; {hint}"
