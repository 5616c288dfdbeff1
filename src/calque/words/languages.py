"""Words that tell languages: which one a paragraph is in, and which words carry little meaning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calque.core.columns import Flags

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


def speaks(lang: str, wanted: tuple[str, ...]) -> bool:
    """Whether a language tag is one of those wanted; ``en-GB`` is ``en``.

    >>> speaks("en-GB", ("en",)), speaks("fr", ("en",))
    (True, False)
    """
    return any(lang.lower() == tag.lower() or lang.lower().startswith(f"{tag.lower()}-") for tag in wanted)


_LISTED = (
    "a about above after again against all also am an and any are as at be because been before being below between both but by "
    "can could did do does doing down during each few for from further had has have having he her here hers him his how i if "
    "in into is it its itself just me more most my no nor not now of off on once only or other our ours out over own same she "
    "should so some such than that the their theirs them then there these they this those through to too under until up very "
    "was we were what when where which while who whom why will with would you your yours"
)
ENGLISH = frozenset(_LISTED.split())


def content_words(vocabulary: Sequence[str], stop_words: Sequence[str]) -> Flags:
    """Which words of a vocabulary are not stop words; ``english`` stands for a built-in list. Case does not matter."""
    stopped = {word.casefold() for word in stop_words}
    if "english" in stopped:
        stopped |= ENGLISH
    return np.array([word.casefold() not in stopped for word in vocabulary], dtype=np.bool_)
