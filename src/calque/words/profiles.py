"""Profiles: the settings under which another tool's numbers come out."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calque.words.task import Words

DINGLEHOPPER_LETTERS = (
    # ligatures, most of them in the private-use area as MUFI and eMOP have it
    ("\ueba6", "ſſ"), ("\ueba7", "ſſi"), ("\uf502", "ch"), ("\ueec4", "ck"), ("\uf4f9", "ll"), ("\ueba2", "ſi"),
    ("\ueada", "ſt"), ("\ufb01", "fi"), ("\ufb00", "ff"), ("\ufb02", "fl"), ("\ufb03", "ffi"), ("\ueec5", "ct"),
    ("\ueedc", "tz"), ("\uf532", "as"), ("\uf533", "is"), ("\uf534", "us"), ("\uf535", "Qu"), ("\u0133", "ij"),
    ("\ue8bf", "q&"), ("\ueba5", "ſp"), ("\ufb06", "st"),
    # umlauts with an e above, dashes, the apostrophe and the double hyphen of old prints
    ("\ue72b", "ü"), ("\ue42c", "ä"), ("==", "–"), ("—", "–"), ("\ue644", "ö"), ("\u2019", "'"), ("⸗", "-"),
    ("a\u0364", "ä"), ("o\u0364", "ö"), ("u\u0364", "ü"), ("\uf50e", "q\u0301"),
)  # fmt: skip
"""What dinglehopper 0.11 holds to be the same, in its order."""

PROFILES: dict[str, dict[str, Any]] = {
    "dinglehopper": {
        "tokenizer": "uax29-words",
        "characters": "graphemes",
        "separators": "lines",
        "alto_hyphens": "printed",
        "page_regions": "ordered",
        "substitute": DINGLEHOPPER_LETTERS,
    }
}


def apply(task: Words) -> None:
    """Put the profile's values in place of those that were left as usual; what was set by hand stays."""
    if not isinstance(task.profile, str) or task.profile not in PROFILES:
        return  # told with all other choices
    usual = {field.name: field.default for field in dataclasses.fields(task)}
    for name, value in PROFILES[task.profile].items():
        if getattr(task, name) == usual[name]:
            object.__setattr__(task, name, value)
    object.__setattr__(task, "profile", "none")
