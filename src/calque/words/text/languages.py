"""Words and scripts that tell languages: which one a paragraph is in, and which words carry little meaning."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

import numpy as np

from calque.base.columns import Flags
from calque.base.errors import ConfigError, did_you_mean

STOP_WORDS = {
    "en": "the of and to in is that it for was on are as with be by this at from which or an not have were but has their its",
    "de": "der die das und ist nicht ein eine einer mit von zu den dem des im auf für als auch sich wird werden sind aus bei",
    "fr": "le la les des et est une dans pour que qui sur pas par plus avec sont au aux ce cette ou il elle nous ses du",
    "es": "el la los las de que y en un una es por con para se no del al lo como más su sus son fue este esta",
    "it": "il lo gli le di che e un una è per con non del della dei delle nel nella sono si come più anche alla questo",
    "pt": "o os as de que e um uma em para com não do da dos das no na por mais como é foi são ao seu sua este",
    "nl": "de het een en van is dat niet te op voor met zijn er aan ook als door maar bij naar uit wordt werd deze",
    "sv": "och att det som en på är av för den med till inte om ett har de var från vid kan men så eller sig",
    "pl": "i w na z do że się nie jest to od po przez jak dla za są co ale jego tego oraz przy był być",
}
"""A handful of words that are frequent in one language and rare in the others."""

_PROFILES = {lang: frozenset(words.split()) for lang, words in STOP_WORDS.items()}
ENOUGH = 3
"""How many such words there must be."""


def detect(text: str) -> str | None:
    """The language of a text, or ``None``.

    >>> detect("The rocks of the region are old and they were formed in the sea")
    'en'
    >>> detect("Fig . 2") is None
    True
    """
    words = [word.strip(".,;:()[]\"'“”„").lower() for word in text.split()]
    hits = {lang: sum(word in profile for word in words) for lang, profile in _PROFILES.items()}
    ranked = sorted(hits.items(), key=lambda item: -item[1])
    (best, most), (_, second) = ranked[0], ranked[1]
    clear = most >= ENOUGH and most >= 2 * second and 10 * most >= len(words)
    return best if clear else None


# Codes: ISO 639-1, and of the longer codes those that OCR files use.

_CODES = (
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es "
    "et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj "
    "kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv "
    "ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti "
    "tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)
CODES = frozenset(_CODES.split())
LONGER = {
    "eng": "en", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "spa": "es", "ita": "it", "por": "pt", "nld": "nl",
    "dut": "nl", "swe": "sv", "pol": "pl", "lat": "la", "rus": "ru", "ukr": "uk", "ces": "cs", "cze": "cs", "slk": "sk",
    "slo": "sk", "hun": "hu", "fin": "fi", "dan": "da", "nor": "no", "nob": "nb", "nno": "nn", "ell": "el", "gre": "el",
    "tur": "tr", "ara": "ar", "heb": "he", "yid": "yi", "fas": "fa", "per": "fa", "hin": "hi", "ben": "bn", "tha": "th",
    "vie": "vi", "zho": "zh", "chi": "zh", "jpn": "ja", "kor": "ko", "ron": "ro", "rum": "ro", "bul": "bg", "srp": "sr",
    "hrv": "hr", "slv": "sl", "lit": "lt", "lav": "lv", "est": "et", "cat": "ca", "isl": "is", "ice": "is", "gle": "ga",
}  # fmt: skip
NAMES = {
    "english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it", "portuguese": "pt", "dutch": "nl",
    "swedish": "sv", "polish": "pl", "latin": "la", "russian": "ru", "ukrainian": "uk", "czech": "cs", "slovak": "sk",
    "hungarian": "hu", "finnish": "fi", "danish": "da", "norwegian": "no", "greek": "el", "turkish": "tr", "arabic": "ar",
    "hebrew": "he", "persian": "fa", "hindi": "hi", "thai": "th", "vietnamese": "vi", "chinese": "zh", "japanese": "ja",
    "korean": "ko", "romanian": "ro", "bulgarian": "bg", "serbian": "sr", "croatian": "hr", "slovenian": "sl",
    "catalan": "ca", "icelandic": "is", "irish": "ga", "estonian": "et", "latvian": "lv", "lithuanian": "lt",
}  # fmt: skip


def language_code(tag: str) -> str:
    """A language tag with its code in the short form; `ConfigError` for what is no code.

    >>> language_code("EN-gb"), language_code("deu")
    ('en-gb', 'de')
    """
    code, mark, rest = tag.strip().lower().replace("_", "-").partition("-")
    short = LONGER.get(code, code)
    if short in CODES:
        return f"{short}{mark}{rest}"
    named = NAMES.get(code)
    hint = f"the code of {code} is {named}" if named else did_you_mean(code, sorted(CODES)) or "use codes such as en or de"
    raise ConfigError(f"keep_lang: there is no language code {tag!r}; {hint}")


def speaks(lang: str, wanted: tuple[str, ...]) -> bool:
    """Whether a language tag is one of those wanted; ``en-GB`` is ``en``, and so is ``eng``.

    >>> speaks("en-GB", ("en",)), speaks("fr", ("en",)), speaks("eng", ("en",))
    (True, False, True)
    """
    code, mark, rest = lang.lower().replace("_", "-").partition("-")
    spoken = f"{LONGER.get(code, code)}{mark}{rest}"
    return any(spoken == tag or spoken.startswith(f"{tag}-") for tag in wanted)


_SCRIPTS = {
    "CYRILLIC": "ru uk be bg sr mk kk ky mn tg cu cv ab av ba ce kv os tt uz tk",
    "GREEK": "el",
    "ARABIC": "ar fa ur ps sd ug ks ku dv",
    "HEBREW": "he yi",
    "DEVANAGARI": "hi mr ne sa pi ks",
    "BENGALI": "bn as",
    "THAI": "th",
    "ARMENIAN": "hy",
    "GEORGIAN": "ka",
    "HANGUL": "ko",
    "CJK": "zh ja ko",
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "TAMIL": "ta",
    "TELUGU": "te",
    "ETHIOPIC": "am ti",
}
"""Who writes in a script that is not Latin."""
_ALSO_LATIN = frozenset(["sr", "uz", "tk", "tt", "ku", "az"])
MOST = 0.5
"""The share of letters above which a script is that of the text."""


def foreign_script(text: str, wanted: Sequence[str]) -> str:
    """The script that most letters of a text are in, where no wanted language is written in it; else nothing.

    >>> foreign_script("Это русский текст", ["en"]), foreign_script("Fig. 2", ["en"]), foreign_script("Fig. two", ["ru"])
    ('cyrillic', '', 'latin')
    """
    letters = Counter(unicodedata.name(char, "?").split()[0] for char in text if char.isalpha())
    if not letters:
        return ""
    script, count = letters.most_common(1)[0]
    if count <= MOST * letters.total():
        return ""
    codes = {tag.partition("-")[0] for tag in wanted}
    if script == "LATIN":
        others = {code for listed in _SCRIPTS.values() for code in listed.split()} - _ALSO_LATIN
        return "latin" if codes <= others else ""
    return script.lower() if script in _SCRIPTS and not codes & set(_SCRIPTS[script].split()) else ""


_LISTED = (
    "a about above after again against all also am an and any are as at be because been before being below between both but by "
    "can could did do does doing down during each few for from further had has have having he her here hers him his how i if "
    "in into is it its itself just me more most my no nor not now of off on once only or other our ours out over own same she "
    "should so some such than that the their theirs them then there these they this those through to too under until up very "
    "was we were what when where which while who whom why will with would you your yours"
)
LISTS = {name: STOP_WORDS[code] for name, code in NAMES.items() if code in STOP_WORDS} | {"english": _LISTED}
"""Lists of stop words that have a name."""


def stop_word_lists(given: Sequence[str]) -> tuple[str, ...]:
    """The stop words that are given, once each; the name of a language stands for its list, or is an error without one.

    >>> stop_word_lists(["The", "german", "a"])
    ('The', 'a', 'german')
    """
    for word in given:
        if word.casefold() in NAMES and word.casefold() not in LISTS:
            raise ConfigError(f"stop_words: there is no list for {word}; lists are {', '.join(sorted(LISTS))}")
    return tuple(sorted(set(given)))


def content_words(vocabulary: Sequence[str], stop_words: Sequence[str]) -> Flags:
    """Which words of a vocabulary are not stop words; ``english`` stands for a built-in list. Case does not matter."""
    given = {word.casefold() for word in stop_words}
    stopped = given | {word for name in given & LISTS.keys() for word in LISTS[name].split()}
    return np.array([word.casefold() not in stopped for word in vocabulary], dtype=np.bool_)
