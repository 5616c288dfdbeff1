"""What is told beside recall: characters as people count them, kinds of confusions, and who the best path owes its words to."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from calque import ConfigError, Evaluator, Words
from calque.words import build_lattice
from calque.words.confused import kind_of
from calque.words.presentation import flat, sections
from calque.words.text.characters import graphemes
from calque.words.text.cleaning import clean
from calque.words.views import sentence

READINGS = st.dictionaries(st.sampled_from("abcd"), st.lists(st.sampled_from(["x", "y", "z", "w"]), max_size=6), min_size=2)


@pytest.mark.parametrize(
    ("text", "clusters"),
    [
        ("", []),
        ("ab", ["a", "b"]),
        ("haͤuſer", ["h", "aͤ", "u", "ſ", "e", "r"]),
        ("\r\n\n", ["\r\n", "\n"]),
        ("\u1112\u1161\u11ab", ["\u1112\u1161\u11ab"]),
        ("\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7", ["\U0001f1e9\U0001f1ea", "\U0001f1eb\U0001f1f7"]),
        ("\U0001f468\u200d\U0001f469\u200d\U0001f467x", ["\U0001f468\u200d\U0001f469\u200d\U0001f467", "x"]),
        ("a\u200db", ["a\u200d", "b"]),
        ("\u0915\u093f", ["\u0915\u093f"]),
        ("\u0600\u0031", ["\u0600\u0031"]),
        ("\uff76\uff9e\uff9f\uffa0", ["\uff76\uff9e\uff9f", "\uffa0"]),
        ("\U0001f44d\U0001f3fb\U0001f3ffx", ["\U0001f44d\U0001f3fb\U0001f3ff", "x"]),
        ("\U0001f3f4\U000e0020\U000e007f", ["\U0001f3f4\U000e0020\U000e007f"]),
        ("\uac00\u1161\u11a8", ["\uac00\u1161\u11a8"]),
        ("\uac01\u1161\uac01\u11a8", ["\uac01", "\u1161", "\uac01\u11a8"]),
        ("\uac1c\u1161\ud7a3\u1161", ["\uac1c\u1161", "\ud7a3", "\u1161"]),
    ],
)
def test_clusters_of_unicode(text: str, clusters: list[str]) -> None:
    assert list(graphemes(text)) == clusters


@given(st.text(max_size=30))
def test_clusters_are_the_text(text: str) -> None:
    assert "".join(graphemes(text)) == text


WORD = st.text(st.sampled_from("ab'-.,ſs"), min_size=1, max_size=5)


@given(st.lists(WORD, min_size=1, max_size=6), st.lists(WORD, max_size=6))
def test_characters_count_the_same_whatever_the_tokenizer(ours: list[str], theirs: list[str]) -> None:
    truth, found = " ".join(ours), " \n".join(theirs)
    edits = Levenshtein.distance(truth, " ".join(theirs))
    for tokenizer in ("whitespace", "words-and-punctuation", "uax29"):
        task = Words(tokenizer=tokenizer, characters=True)
        assert Evaluator(task).update({"d": truth}, {"d": found}).compute()["cer"] == edits / len(truth)


def test_a_letter_with_its_mark_is_one_character_or_two() -> None:
    truth, found = {"d": "haͤuſer"}, {"d": "hauſer"}
    rates = {
        unit: Evaluator(Words(characters=unit)).update(truth, found).compute()["cer"] for unit in ("code-points", "graphemes")
    }
    assert rates == {"code-points": 1 / 7, "graphemes": 1 / 6}
    with pytest.raises(ConfigError, match="characters must be one of none, code-points, graphemes"):
        Words(characters="bytes")


@pytest.mark.parametrize(
    ("settings", "recall"),
    [
        ({}, 0.0),
        ({"ignore": ("case",)}, 1 / 3),
        ({"ignore": ("punctuation",)}, 1 / 3),
        ({"ignore": ("case", "punctuation")}, 2 / 3),
        ({"ignore": ("case", "punctuation"), "substitute": {"ſ": "s"}}, 1.0),
    ],
)
def test_what_does_not_matter(settings: Mapping[str, object], recall: float) -> None:
    result = Evaluator(Words(**settings)).update({"d": "The cat, ſat"}, {"d": "the cat sat"}).compute()  # type: ignore[arg-type]
    assert result["recall"] == recall


def test_private_use_characters_are_letters() -> None:
    assert clean("da\ueba6 x", tokenizer="uax29") == ["da\ueba6", "x"]
    assert clean("da\ueba6 x", tokenizer="words-and-punctuation") == ["da\ueba6", "x"]


def test_languages_are_codes_and_scripts_are_evidence() -> None:
    blocks = [{"text": "Это русский текст", "lang": None}, {"text": "这是中文", "lang": None}, {"text": "Fig. 2", "lang": None}]
    assert clean(blocks, format="paragraphs", keep_lang=["en"]) == ["Fig.", "2"]
    assert clean(blocks, format="paragraphs", keep_lang=["ru"]) == ["Это", "русский", "текст"]
    assert clean([{"text": "ein Text", "lang": "deu"}], format="paragraphs", keep_lang=["de"]) == ["ein", "Text"]
    half = [{"text": "да no", "lang": None}, {"text": "дах no", "lang": None}]  # more than half decides
    assert clean(half, format="paragraphs", keep_lang=["en"]) == ["да", "no"]
    for wrong, told in (("english", "is en"), ("xx", "no language code")):
        with pytest.raises(ConfigError, match=told):
            Words(keep_lang=(wrong,))


def test_stop_words_by_list_or_not_at_all() -> None:
    truth, found = {"d": "der Hund und die Katze"}, {"d": "Hund Katze"}
    assert Evaluator(Words(stop_words=("german",))).update(truth, found).compute()["content_recall"] == 1
    with pytest.raises(ConfigError, match="no list for danish"):
        Words(stop_words=("danish",))


@given(READINGS)
def test_a_built_lattice_does_not_depend_on_the_order_of_its_sources(readings: dict[str, list[str]]) -> None:
    made = {repr(build_lattice(dict(order))) for order in permutations(readings.items())}
    assert len(made) == 1


@given(READINGS, st.lists(st.sampled_from(["x", "y", "z", "w", "v"]), min_size=1, max_size=6))
def test_the_story_of_the_best_path(readings: dict[str, list[str]], truth: list[str]) -> None:
    lattice = {"d": build_lattice(readings)}
    oracle = Evaluator(Words(lattice=lattice)).update({"d": truth}, {"d": []}).compute().numbers["oracle"]
    assert oracle["macro_recall"] == oracle["recall"]
    known = {word for words in readings.values() for word in words}
    assert oracle["irreducible"]["words"] == sum(word not in known for word in truth)
    assert sum(entry["count"] for entry in oracle["irreducible"]["listed"]) == oracle["irreducible"]["words"]
    for source, taken in oracle["taken"].items():
        assert 0 <= taken["alone"] <= taken["slots"] <= oracle["slots"]
        # Without what only it has, the path loses just the words that match there, and may gain others.
        rest = {name: words for name, words in readings.items() if name != source}
        assert taken["gain"] <= oracle["matches"]
        assert source in readings
        assert rest or len(readings) == 1


def test_what_is_told_of_the_best_path() -> None:
    lattice = {"d": build_lattice({"p": ["a", "b", "c"], "q": ["a", "x", "c"]})}
    result = Evaluator(Words(lattice=lattice)).update({"d": ["a", "b", "z", "y", "z"]}, {"d": []}).compute()
    tree = result.numbers["oracle"]
    assert tree["irreducible"] == {"words": 3, "listed": [{"word": "z", "count": 2}, {"word": "y", "count": 1}]}
    taken, lost = (section for section in sections(result.numbers) if section.title.startswith(("What the", "In no")))
    assert (taken.title, taken.head) == ("What the best path takes", ("source", "taken", "only it", "gain"))
    assert taken.rows == [("p", 1, 1, 1), ("q", 0, 0, 0)]
    assert lost.title == "In no candidate: 3 true words"
    told = {name: tree[name] for name in ("recall", "precision", "n_ref", "matches", "repairable")}
    assert told["recall"] == 2 / 5
    assert [row for row in flat(result.numbers) if row["scope"] in ("oracle", "source")] == [
        {"scope": "oracle", "document": "", **told},
        {"scope": "source", "document": "", "part": "p", "recall": 2 / 5},
        {"scope": "source", "document": "", "part": "q", "recall": 1 / 5},
    ]


def test_a_report_without_texts_shows_no_choices() -> None:
    lattice = {"d": build_lattice({"p": ["a", "b"], "q": ["a", "x"]})}
    drawn = []
    kinds: tuple[Any, ...] = ("outcomes", "numbers")
    for keep in kinds:
        task = Words(lattice=lattice, errors=3)
        result = Evaluator(task, keep=keep).update({"d": ["a", "b"]}, {"d": ["a"]}).compute()
        picture = task.view().report_data(result.ledger, result.numbers)
        assert picture is not None
        assert picture.columns["t.reached"].tolist() == [1, 1]
        drawn.append({name for name in picture.columns if name.startswith(("choice", "candidate"))})
    assert drawn[0] >= {"choice.start", "candidate.text", "candidate.taken"}
    assert drawn[1] == set()


@given(*[st.lists(WORD, min_size=1, max_size=8)] * 2)
def test_errors_account_for_every_edit(ours: list[str], theirs: list[str]) -> None:
    result = Evaluator(Words(errors=1000)).update({"d": ours}, {"d": theirs}).compute()
    counts, errors = result.numbers["counts"], result.numbers["errors"]
    assert errors["totals"]["missed_words"] == counts["words"] - counts["matches"]
    assert errors["totals"]["extra_words"] == counts["predicted_words"] - counts["matches"]
    assert errors["totals"]["words"] == sum(entry["count"] for entry in errors["words"])
    assert errors["totals"]["words"] == sum(entry["count"] for entry in errors["kinds"])
    assert errors["totals"]["characters"] == sum(entry["count"] for entry in errors["characters"])


@pytest.mark.parametrize(
    ("ours", "theirs", "kind"),
    [
        ("ſo", "so", "long s"), ("haͤu", "häu", "e above"), ("ﬁn", "fin", "ligatures"), ("a–b", "a-b", "dashes"),
        ("“a”", '"a"', "quotes"), ("é", "e\u0301", "normal form"), ("ſo–", "so-", "several ways of writing"),
        ("Cat", "cat", "case"), ("café", "cafe", "accents"), ("is here", "ishere", "spaces"), ("end.", "end", "punctuation"),
        ("cat", "cot", "letters"), ("cat", "", "missing"), ("", "cat", "extra"),
    ],
)  # fmt: skip
def test_kinds_of_confusions(ours: str, theirs: str, kind: str) -> None:
    assert kind_of(ours, theirs) == kind


@pytest.mark.parametrize(("readings", "said"), [
    ({"a": "one two", "b": "one too"}, "Of 2 predictions a reads most: 100 % of the words in order."),
    ({"a": "one", "b": "two", "c": ""}, "Of 3 predictions a and b read most: 50 % of the words in order."),
])  # fmt: skip
def test_who_reads_most(readings: Mapping[str, str], said: str) -> None:
    results = {run: Evaluator(Words()).update({"d": "one two"}, {"d": text}).compute() for run, text in readings.items()}
    assert sentence(results) == said
