"""Colours are told apart by people who lack a kind of cone, in both modes, and never carry a meaning alone."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from calque.base.style import TOKENS
from calque.report.page import asset
from calque.report.plots import LINES

Vector = npt.NDArray[np.float64]

OUTCOMES = ("tp", "fn", "fp", "wrong")
"""What happened to an object. What is ignored is grey, and told by its mark and its dots."""
BLIND = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    "nothing": np.eye(3).tolist(),
}
"""What is left of linear RGB (Machado, Oliveira and Fernandes 2009, severity 1)."""
TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
"""From linear RGB to OKLab (Ottosson 2020), with a cube root in between."""


def linear(colour: str) -> Vector:
    parts = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.asarray(np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4))


def seen(colour: str, lacking: str) -> Vector:
    """A colour in OKLab as somebody sees it who lacks a kind of cone."""
    left = np.clip(np.array(BLIND[lacking]) @ linear(colour), 0, 1)
    return np.asarray(100 * (TO_LAB @ np.cbrt(TO_LMS @ left)))


def luminance(colour: str) -> float:
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_oklab_is_oklab() -> None:
    assert seen("#FFFFFF", "nothing") == pytest.approx([100, 0, 0], abs=0.01)
    assert seen("#FF0000", "nothing") == pytest.approx([62.796, 22.486, 12.585], abs=0.01)
    for lacking in BLIND:  # greys stay what they are
        assert seen("#808080", lacking) == pytest.approx(seen("#808080", "nothing"), abs=0.05)


@pytest.mark.parametrize("lacking", BLIND)
@pytest.mark.parametrize("mode", [0, 1])
def test_outcomes_are_told_apart(mode: int, lacking: str) -> None:
    for one, other in combinations(OUTCOMES, 2):
        distance = np.linalg.norm(seen(TOKENS[one][mode], lacking) - seen(TOKENS[other][mode], lacking))
        assert round(float(distance)) >= 16, (one, other)


@pytest.mark.parametrize("mode", [0, 1])
def test_colours_that_are_read_stand_out_from_their_ground(mode: int) -> None:
    for name in (*OUTCOMES, "ignored", "ink", "ink-2", "ink-3", "link", "cut-line"):
        for ground in ("paper", "panel"):
            assert contrast(TOKENS[name][mode], TOKENS[ground][mode]) >= 4.5, (name, ground)


def look(selector: str) -> str:
    """A rule of the style without its colours."""
    found = re.search(rf"(?:^|[}},]){re.escape(selector)}\{{([^}}]*)\}}", asset("app.css"))
    assert found is not None, selector
    return re.sub(r"var\(--[a-z0-9-]+\)", "", found[1])


@pytest.mark.parametrize("prefix", [".f-", ".o-"])
def test_outcomes_have_a_pattern_or_a_stroke_of_their_own(prefix: str) -> None:
    side = {"fn": ".s-t", "fp": ".s-p", "wrong": ".s-t"} if prefix == ".o-" else {}
    looks = [look(f"{prefix}{name}") + (look(f"{prefix}{name}{side[name]}") if name in side else "") for name in OUTCOMES]
    ignored = look(f"{prefix}{'invalid' if prefix == '.o-' else 'ignored'}")
    assert len({*looks, ignored}) == len(OUTCOMES) + 1


def test_marks_of_outcomes_are_signs_of_their_own() -> None:
    table = re.search(r"\{tp:\"[^}]*?error:\"[^\"]*\"", asset("boxes.js"))
    assert table is not None
    marks = dict(re.findall(r"(\w+):\"([^\"]*)\"", table[0]))
    assert [marks[name] for name in (*OUTCOMES, "ignored", "invalid", "partial", "cut")] == [*"●▲✕⇄○!◐◧"]


def test_lines_have_strokes_of_their_own() -> None:
    dashes = [re.search(r"stroke-dasharray:([^;]*)", look(f".l-{place}")) for place in range(6)]
    assert len({dash and dash[1] for dash in dashes}) == 6
    assert len({stroke for _, stroke in LINES}) == len(LINES) == 6
    for colour, _ in LINES:  # what is drawn on paper stands out from it
        assert contrast(colour, "#FFFFFF") >= 4.5
