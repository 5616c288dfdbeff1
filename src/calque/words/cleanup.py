"""Clean-up: from the blocks of a document to its words, with an account of what each step took out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from calque.core.corpus import UnitId
from calque.core.word_corpus import Block, Removed
from calque.words import characters
from calque.words.alignment import align
from calque.words.cleaning import Cleaning, check_choice
from calque.words.language import detect, speaks
from calque.words.tokenizers import tokenize

Account: TypeAlias = list[Removed]
FORMATS = ("text", "html", "paragraphs", "blocks")


def clean(text: Any, format: str = "text", **options: Any) -> list[str]:
    r"""The words of a text after clean-up.

    ``format`` is ``text``, ``html``, ``paragraphs`` (``[{"text", "lang"}, ...]``) or ``blocks`` (``{"blocks": [...],
    "page_words": [...]}``); the options are those of `Cleaning`.

    >>> clean("evalu-\nation of co-\noperative", dehyphenate="lines")
    ['evaluation', 'of', 'cooperative']
    >>> clean("<p>One</p><table><tr><td>2</td></tr></table><p>three</p>", format="html", drop=["table"])
    ['One', 'three']
    """
    check_choice("format", format, FORMATS)
    options = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
    page_words = text.get("page_words") if isinstance(text, Mapping) else None
    blocks, _ = clean_document("", _blocks(text, format), Cleaning(**options), page_words)
    return [word for block in blocks for word in tokenize(block.text, options.get("tokenizer", "whitespace"))]


def _blocks(text: Any, format: str) -> list[Block]:
    if format == "text":
        return [Block(text)]
    if format == "html":
        from calque.readers.html import blocks_of

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
    if lang is None:
        return "" if cleaning.keep_unknown else "keep_lang:unknown"
    return "" if speaks(lang, cleaning.keep_lang) else f"keep_lang:{lang}"


def _not_on_page(block: Block, cleaning: Cleaning, page_words: Sequence[str]) -> str:
    found = align(tokenize(block.text, cleaning.tokenizer), page_words)
    assert cleaning.min_block_recall is not None  # noqa: S101  # the caller looked
    return "min_block_recall" if found.recall is not None and found.recall < cleaning.min_block_recall else ""


def _clean_characters(document: UnitId, block: Block, cleaning: Cleaning, account: Account) -> Block:
    text = characters.normalized(block.text, cleaning.unicode)
    text, folds = characters.folded(text, cleaning.fold)
    counted = {f"fold:{name}": count for name, count in folds.items()}
    if cleaning.dehyphenate == "lines":
        text, counted["dehyphenate"] = characters.dehyphenated(text)
    if cleaning.drop_soft_hyphen:
        text, counted["drop_soft_hyphen"] = characters.without(text, characters.SOFT_HYPHEN)
    if cleaning.drop_zero_width:
        text, counted["drop_zero_width"] = characters.without(text, characters.ZERO_WIDTH)
    if cleaning.drop_empty_parens:
        text, counted["drop_empty_parens"] = characters.without_empty_parentheses(text)
    account += [Removed(document, step, count, "") for step, count in counted.items() if count]
    return block if text == block.text else replace(block, text=text)
