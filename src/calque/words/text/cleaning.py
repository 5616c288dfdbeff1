"""Clean-up: what can be done to a text before its words are counted, and an account of what each step took out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

from calque.base.arguments import check_number, check_type, checked_list, wrong_argument
from calque.base.errors import ConfigError, did_you_mean
from calque.base.text_normalization import FOLDS, NORMAL_FORMS, folded, normalized
from calque.corpus.boxes import UnitId
from calque.corpus.words import Block, Removed
from calque.words.alignment import align
from calque.words.text.languages import detect, foreign_script, language_code, speaks
from calque.words.text.tokenizers import tokenize, tokenizer_name

SOFT_HYPHEN = "\u00ad"
ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff"

_AT_LINE_END = re.compile(r"(?<=\w)[-\u2010\u00ad][ \t]*\r?\n[ \t]*(?=\w)")
_EMPTY_PARENTHESES = re.compile(r"\((?:[\s,;]|and\b)*\)")


def dehyphenated(text: str) -> tuple[str, int]:
    r"""The text with words joined that a hyphen and a line break split, and how many were.

    >>> dehyphenated("evalu-\nation of well-known")
    ('evaluation of well-known', 1)
    """
    return _AT_LINE_END.subn("", text)


def without(text: str, characters: str) -> tuple[str, int]:
    """The text without these characters, and how many there were."""
    if text.isascii():
        return text, 0
    count = sum(text.count(char) for char in characters)
    return (text.translate(dict.fromkeys(map(ord, characters))), count) if count else (text, 0)


def without_empty_parentheses(text: str) -> tuple[str, int]:
    """The text without parentheses that hold nothing but commas, semicolons and "and", and how many there were.

    >>> without_empty_parentheses("as shown ( , ; and ) by others (see)")
    ('as shown  by others (see)', 1)
    """
    return _EMPTY_PARENTHESES.subn("", text)


MARKS = ("figure", "table", "references", "caption")
"""The parts of a document that can be left out."""
IGNORED = ("case", "punctuation")
"""What two words may differ in and still be equal."""


def substituted(text: str, table: Sequence[tuple[str, str]]) -> tuple[str, int]:
    """The text with each entry of a table put in place of another, one after the other, and how many times.

    >>> substituted("haͤuſer", [("aͤ", "ä"), ("ſ", "s")])
    ('häuser', 2)
    """
    times = 0
    for old, new in table:
        times += text.count(old)
        text = text.replace(old, new)
    return text, times


def without_punctuation(text: str) -> tuple[str, int]:
    """The text without its marks of punctuation, and how many there were.

    >>> without_punctuation("well-known, isn't it?")
    ('wellknown isnt it', 4)
    """
    kept = "".join(char for char in text if unicodedata.category(char)[0] != "P")
    return kept, len(text) - len(kept)


@dataclass(frozen=True, kw_only=True, slots=True)
class Cleaning:
    """What is done to a text before its words are counted."""

    drop: tuple[str, ...] = ()
    keep_lang: tuple[str, ...] = ()
    keep_unknown: bool = True
    min_block_recall: float | None = None
    drop_empty_parens: bool = False
    unicode: str = "NFC"
    fold: tuple[str, ...] = ()
    drop_soft_hyphen: bool = False
    drop_zero_width: bool = False
    dehyphenate: str = "none"
    ignore: tuple[str, ...] = ()
    substitute: tuple[tuple[str, str], ...] = ()
    tokenizer: str = "whitespace"

    def __post_init__(self) -> None:
        for name, known in (("drop", MARKS), ("fold", tuple(FOLDS)), ("ignore", IGNORED)):
            listed = checked_list("Cleaning", name, getattr(self, name), str, "a list of texts")
            for value in listed:
                if value not in known:
                    hint = did_you_mean(value, known) or f"it can be {', '.join(known)}"
                    raise ConfigError(f"{name}: there is no {value!r}; {hint}")
            object.__setattr__(self, name, tuple(value for value in known if value in listed))
        checked_list("Cleaning", "keep_lang", self.keep_lang, str, "a list of texts")
        object.__setattr__(self, "keep_lang", tuple(dict.fromkeys(map(language_code, self.keep_lang))))
        pairs = checked_list("Cleaning", "substitute", self.substitute, tuple | list, "a list of pairs of texts")
        if any(len(pair) != 2 for pair in pairs):
            raise wrong_argument("Cleaning", "substitute", self.substitute, "a list of pairs of texts")
        object.__setattr__(self, "substitute", tuple((str(old), str(new)) for old, new in pairs))
        check_type("Cleaning", "tokenizer", self.tokenizer, str, "a text")
        object.__setattr__(self, "tokenizer", tokenizer_name(self.tokenizer))
        check_choice("unicode", self.unicode, NORMAL_FORMS)
        check_choice("dehyphenate", self.dehyphenate, ("none", "lines"))
        if self.min_block_recall is not None:
            check_number("Cleaning", "min_block_recall", self.min_block_recall)
            if not 0 <= self.min_block_recall <= 1:
                raise ConfigError(f"min_block_recall must be from 0 to 1, not {self.min_block_recall}")

    def of_characters(self) -> Cleaning:
        """Only what is done to both sides: characters and words, not the truth's contents."""
        return Cleaning(
            unicode=self.unicode,
            fold=self.fold,
            drop_soft_hyphen=self.drop_soft_hyphen,
            drop_zero_width=self.drop_zero_width,
            dehyphenate=self.dehyphenate,
            ignore=self.ignore,
            substitute=self.substitute,
            tokenizer=self.tokenizer,
        )

    @property
    def plain(self) -> bool:
        """Whether a word of ASCII stays as it is."""
        return self.tokenizer in ("whitespace", "none") and not self.ignore and not self.substitute


def check_choice(name: str, value: str, known: Sequence[str]) -> None:
    """Refuse a value that is not among those known."""
    if value not in known:
        raise ConfigError(f"{name} must be one of {', '.join(known)}, not {value!r}")


Account: TypeAlias = list[Removed]
FORMATS = ("text", "html", "paragraphs", "blocks")


def clean(text: Any, format: str = "text", **options: Any) -> list[str]:
    r"""Clean a text and split it into words.

    Args:
        text: The text, in the form that ``format`` names.
        format: ``"text"``, ``"html"``, ``"paragraphs"`` (``[{"text", "lang"}, ...]``) or ``"blocks"`` (``{"blocks": [...],
            "page_words": [...]}``).
        options: The options of `Cleaning`, such as ``drop=["table"]``.

    Returns:
        The words.

    Raises:
        ConfigError: The format or the value of an option is unknown.
        TypeError: An option is unknown.

    >>> clean("evalu-\nation of co-\noperative", dehyphenate="lines")
    ['evaluation', 'of', 'cooperative']
    >>> clean("<p>One</p><table><tr><td>2</td></tr></table><p>three</p>", format="html", drop=["table"])
    ['One', 'three']
    """
    check_choice("format", format, FORMATS)
    if format in ("text", "html"):
        check_type("clean", "text", text, str, "a text")
    known = [field.name for field in fields(Cleaning)]
    for name in options:
        if name not in known:
            hint = did_you_mean(name, known)
            raise TypeError(f"clean has no option {name!r}{hint and f'; {hint}'}")
    options = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
    page_words = text.get("page_words") if isinstance(text, Mapping) else None
    blocks, _ = clean_document("", _blocks(text, format), Cleaning(**options), page_words)
    return [word for block in blocks for word in tokenize(block.text, options.get("tokenizer", "whitespace"))]


def _blocks(text: Any, format: str) -> list[Block]:
    if format == "text":
        return [Block(text)]
    if format == "html":
        from calque.readers.text.html import blocks_of

        return blocks_of(text)
    listed = text[format] if isinstance(text, Mapping) else text
    if format == "blocks":
        return [Block(entry) for entry in listed]
    return [Block(entry["text"], lang=entry.get("lang")) for entry in listed]


def clean_document(
    document: UnitId, blocks: Sequence[Block], cleaning: Cleaning, page_words: Sequence[str] | None = None
) -> tuple[list[Block], Account]:
    """The blocks that are left, with clean text, and what was taken out. ``page_words`` is what the page shows."""
    account: Account = []
    kept = list(blocks)
    if cleaning.keep_lang or cleaning.min_block_recall is not None:
        kept = [part for block in kept for part in paragraphs(block)]
    if cleaning.drop:
        kept = _drop(document, kept, lambda block: _dropped_as(block, cleaning.drop), account)
    if cleaning.keep_lang:
        kept = _drop(document, kept, lambda block: _foreign(block, cleaning), account)
    kept = [_clean_characters(document, block, cleaning, account) for block in kept]
    if cleaning.min_block_recall is not None and page_words is not None:
        kept = _drop(document, kept, lambda block: _not_on_page(block, cleaning, page_words), account)
    return kept, account


def paragraphs(block: Block) -> Iterator[Block]:
    """The block, cut at empty lines."""
    lines: list[str] = []
    for line in [*block.text.split("\n"), ""]:
        if line.strip():
            lines.append(line)
        elif lines:
            yield replace(block, text="\n".join(lines))
            lines = []


def _drop(document: UnitId, blocks: list[Block], step: Callable[[Block], str], account: Account) -> list[Block]:
    """The blocks for which ``step`` names no reason to go."""
    kept = []
    for block in blocks:
        reason = step(block)
        if reason:
            account.append(Removed(document, reason, len(block.text.split()), block.text))
        else:
            kept.append(block)
    return kept


def _dropped_as(block: Block, drop: tuple[str, ...]) -> str:
    return next((f"drop:{mark}" for mark in drop if mark in block.marks), "")


def _foreign(block: Block, cleaning: Cleaning) -> str:
    lang = block.lang or detect(block.text)
    if lang is None and (script := foreign_script(block.text, cleaning.keep_lang)):
        return f"keep_lang:{script}"
    if lang is None:
        return "" if cleaning.keep_unknown else "keep_lang:unknown"
    return "" if speaks(lang, cleaning.keep_lang) else f"keep_lang:{lang}"


def _not_on_page(block: Block, cleaning: Cleaning, page_words: Sequence[str]) -> str:
    found = align(tokenize(block.text, cleaning.tokenizer), page_words)
    assert cleaning.min_block_recall is not None  # noqa: S101  # the caller looked
    return "min_block_recall" if found.recall is not None and found.recall < cleaning.min_block_recall else ""


def _clean_characters(document: UnitId, block: Block, cleaning: Cleaning, account: Account) -> Block:
    text = normalized(block.text, cleaning.unicode)
    text, folds = folded(text, cleaning.fold)
    counted = {f"fold:{name}": count for name, count in folds.items()}
    if cleaning.dehyphenate == "lines":
        text, counted["dehyphenate"] = dehyphenated(text)
    if cleaning.drop_soft_hyphen:
        text, counted["drop_soft_hyphen"] = without(text, SOFT_HYPHEN)
    if cleaning.drop_zero_width:
        text, counted["drop_zero_width"] = without(text, ZERO_WIDTH)
    if cleaning.drop_empty_parens:
        text, counted["drop_empty_parens"] = without_empty_parentheses(text)
    if cleaning.substitute:
        text, counted["substitute"] = substituted(text, cleaning.substitute)
    if "punctuation" in cleaning.ignore:
        text, counted["ignore:punctuation"] = without_punctuation(text)
    if "case" in cleaning.ignore:
        text = text.lower()
    account += [Removed(document, step, count, "") for step, count in counted.items() if count]
    return block if text == block.text else replace(block, text=text)


def steps(uses: Sequence[str]) -> dict[str, Any]:
    """``drop=table,figure`` ``unicode=NFKC`` ``drop_zero_width``: steps as the command line spells them, by their names here.

    >>> steps(["drop=table,figure", "drop-zero-width", "min_block_recall=0.5"])
    {'drop': ('table', 'figure'), 'drop_zero_width': True, 'min_block_recall': 0.5}
    """
    fields = Cleaning.__dataclass_fields__
    chosen: dict[str, Any] = {}
    for use in checked_list("Words", "clean", uses, str, "a list of steps"):
        given, _, text = use.partition("=")
        name = given.strip().replace("-", "_")
        if name not in fields:
            hint = did_you_mean(name, fields) or f"it can be {', '.join(fields)}"
            raise ConfigError(f"--clean: there is no step {name!r}; {hint}")
        chosen[name] = _step(name, text, fields[name].default)
    return chosen


def _step(name: str, text: str, default: Any) -> Any:
    if isinstance(default, bool):
        known = {"": True, "yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
        if text.lower() not in known:
            raise ConfigError(f"--clean {name}={text}: it is yes or no")
        return known[text.lower()]
    if not text:
        raise ConfigError(f"--clean {name} needs a value, as in {name}=…")
    if isinstance(default, tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if default is None:
        try:
            return float(text)
        except ValueError:
            raise ConfigError(f"--clean {name}={text}: it is a number") from None
    return text
