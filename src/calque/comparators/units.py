"""Units of measure as people write them: where upper and lower case tell two of them apart, and where they do not."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import product

MEASURES = frozenset((
    "%", "‰", "ppm", "mg", "g", "kg", "t", "lb", "lbs", "oz", "µg", "nm", "µm", "mm", "cm", "dm", "m", "km", "yd", "mi", "in",
    "mm²", "cm²", "m²", "km²", "ha", "cm³", "m³", "ml", "cl", "dl", "l", "hl", "gal", "ms", "s", "sec", "min", "h", "W", "mW",
    "kW", "MW", "kWh", "MWh", "V", "mV", "kV", "A", "mA", "Ah", "mAh", "Hz", "kHz", "MHz", "GHz", "kB", "MB", "GB", "TB", "°",
    "°C", "°F", "K", "Pa", "hPa", "kPa", "MPa", "bar", "mbar", "psi", "N", "kN", "J", "kJ", "kcal", "dB", "rpm", "pcs",
))  # fmt: skip
_FOLDED = {each.casefold(): each for each in MEASURES if len(each) > 1 and each not in ("mW", "MW")}
"""Units of several letters in whatever case: KG is kg."""

_PREFIXES = frozenset(("n", "µ", "m", "c", "d", "h", "k", "M", "G", "T"))
_PREFIXED = frozenset((
    "m", "g", "l", "s", "A", "V", "W", "J", "N", "Pa", "Hz", "B", "b", "bit", "\u03a9", "F", "H", "S", "Wh", "Ah", "VA", "eV",
    "cal", "bar", "mol", "lm", "lx", "Bq", "Gy", "Sv", "Nm",
))  # fmt: skip
_BY_THEMSELVES = frozenset(("Nm", "NM", "kn", "Kb"))
"""Newton metres, nautical miles, knots, kilobits: no other case of nm, kN and kB."""
_ALSO = str.maketrans({"L": "l", "\u03bc": "\u00b5", "\u2126": "\u03a9"})
"""Two signs each of litre, micro and ohm."""
_BEHIND_A_NUMBER = re.compile(r"(?<=\d)(\s?)([^\W\d_]{2,4})\b")


@lru_cache(maxsize=1024)
def unit_of(word: str) -> str | None:
    """The unit that a word stands for, in its usual spelling; none where it is no unit or could be either of two.

    A prefix and a unit in their right case are themselves: MW is not mW. Otherwise case does not count: KG is kg.

    >>> unit_of("KG"), unit_of("MPa"), unit_of("mPa"), unit_of("mL"), unit_of("mw"), unit_of("kgs")
    ('kg', 'MPa', 'mPa', 'ml', None, None)
    """
    exact = word.translate(_ALSO)
    if exact in MEASURES or _is_exact(exact):
        return exact
    usual = _FOLDED.get(word.casefold().rstrip("."))
    if usual is None or usual[0] == word[0] or usual[0] not in "mM":
        return usual
    # With another prefix it is another unit; in capitals throughout nobody could write the small one.
    return usual if word.isupper() or usual[1:] not in _PREFIXED else None


def _is_exact(word: str) -> bool:
    return word in _BY_THEMSELVES or (len(word) > 1 and word[0] in _PREFIXES and word[1:] in _PREFIXED)


@lru_cache(maxsize=1024)
def _case_decides(unit: str) -> bool:
    """Whether the same letters in another case are another unit."""
    cases = ("".join(letters) for letters in product(*({char.lower(), char.upper()} for char in unit)))
    return any(other.translate(_ALSO) != unit and _is_exact(other) for other in cases)


def marked(text: str) -> str:
    """The text with a mark behind units that only their case tells from others, so that they differ in lower case as well.

    >>> marked("a laser of 5 mW"), marked("a laser of 5MW"), marked("5 kg at 5 PM")
    ('a laser of 5 mW‖m^W', 'a laser of 5MW‖^M^W', '5 kg at 5 PM')
    """
    return _BEHIND_A_NUMBER.sub(_mark, text)


def _mark(found: re.Match[str]) -> str:
    blank, word = found.groups()
    unit = unit_of(word)
    if unit is None or not _case_decides(unit):
        return found[0]
    return f"{blank}{unit}‖{''.join(f'^{char}' if char.isupper() else char for char in unit)}"
