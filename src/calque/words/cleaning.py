"""What is done to a text before its words are counted: the options of the clean-up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calque.core.errors import ConfigError, did_you_mean
from calque.words.characters import FOLDS, NORMAL_FORMS
from calque.words.tokenizers import tokenizer_name

MARKS = ("figure", "table", "references", "caption")
"""The parts of a document that can be left out."""


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
    tokenizer: str = "whitespace"

    def __post_init__(self) -> None:
        for name, known in (("drop", MARKS), ("fold", tuple(FOLDS))):
            listed = tuple(getattr(self, name))
            for value in listed:
                if value not in known:
                    hint = did_you_mean(value, known) or f"it can be {', '.join(known)}"
                    raise ConfigError(f"{name}: there is no {value!r}; {hint}")
            object.__setattr__(self, name, tuple(value for value in known if value in listed))
        object.__setattr__(self, "keep_lang", tuple(self.keep_lang))
        object.__setattr__(self, "tokenizer", tokenizer_name(self.tokenizer))
        check_choice("unicode", self.unicode, NORMAL_FORMS)
        check_choice("dehyphenate", self.dehyphenate, ("none", "lines"))
        if self.min_block_recall is not None and not 0 <= self.min_block_recall <= 1:
            raise ConfigError(f"min_block_recall must be from 0 to 1, not {self.min_block_recall}")

    def of_characters(self) -> Cleaning:
        """Only what is done to both sides: characters and words, not the truth's contents."""
        return Cleaning(
            unicode=self.unicode,
            fold=self.fold,
            drop_soft_hyphen=self.drop_soft_hyphen,
            drop_zero_width=self.drop_zero_width,
            dehyphenate=self.dehyphenate,
            tokenizer=self.tokenizer,
        )


def check_choice(name: str, value: str, known: Sequence[str]) -> None:
    """Refuse a value that is not among those known."""
    if value not in known:
        raise ConfigError(f"{name} can be {', '.join(known)}, not {value!r}")
