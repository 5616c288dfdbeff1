"""Student's t: its distribution and its quantiles, without a library that takes a third of a second to import."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

NORMAL = NormalDist()
_TINY = 1e-300


def normal_quantile(share: float) -> float:
    """The point below which that share of a normal distribution lies."""
    return NORMAL.inv_cdf(share)


def normal_share(point: float) -> float:
    """The share of a normal distribution below a point, to full accuracy in both tails."""
    return 0.5 * math.erfc(-point / math.sqrt(2.0))


def t_share(point: float, freedom: int) -> float:
    """The share of Student's t below a point.

    >>> round(t_share(-2.0, 10), 12)
    0.036694017385
    """
    square = point * point
    tail = 0.5 * _tails(freedom / (freedom + square), square / (freedom + square), freedom / 2.0)
    return tail if point < 0 else 1.0 - tail


@cache
def t_quantile(share: float, freedom: int) -> float:
    """The point below which that share of Student's t lies.

    >>> round(t_quantile(0.975, 15), 10)
    2.1314495456
    """
    if share < 0.5:
        return -t_quantile(1.0 - share, freedom)
    if share == 0.5:
        return 0.0
    tail = 1.0 - share
    low, high = 0.0, 1.0
    while t_share(-high, freedom) > tail:
        low, high = high, high * 2.0
    point = min(max(normal_quantile(share), low), high)
    while True:  # what is known shrinks with every step, to the next number at last
        beyond = t_share(-point, freedom) - tail
        low, high = (point, high) if beyond > 0 else (low, point)
        step = beyond / _density(point, freedom)
        # Newton's method, and the middle where that would leave what is known.
        better = point + step if low < point + step < high else 0.5 * (low + high)
        if abs(better - point) <= 1e-15 * point:
            return better
        point = better


def _density(point: float, freedom: int) -> float:
    a = freedom / 2.0
    return math.exp(_log_ratio(a) - 0.5 * math.log(math.pi * freedom) - (a + 0.5) * math.log1p(point * point / freedom))


def _tails(x: float, rest: float, a: float) -> float:
    """The regularised incomplete beta function of x, a and one half; ``rest`` is 1 − x, which x alone would not tell."""
    if x <= 0.0 or rest <= 0.0:
        return 0.0 if x <= 0.0 else 1.0
    log_x = math.log1p(-rest) if rest < 0.5 else math.log(x)
    front = math.exp(_log_ratio(a) - 0.5 * math.log(math.pi) + a * log_x + 0.5 * math.log(rest))
    if x < (a + 1.0) / (a + 2.5):
        return front * _continued(x, a, 0.5) / a
    return 1.0 - front * _continued(rest, 0.5, a) / 0.5


def _log_ratio(a: float) -> float:
    """The logarithm of Γ(a + ½) / Γ(a); for large numbers by its series, as the difference would lose digits."""
    if a < 32.0:
        return math.lgamma(a + 0.5) - math.lgamma(a)
    return 0.5 * math.log(a) - 1.0 / (8.0 * a) + 1.0 / (192.0 * a**3) - 1.0 / (640.0 * a**5) + 17.0 / (14336.0 * a**7)


def _continued(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, from the front (Lentz)."""
    c, d = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, 10_000):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / _away(1.0 + step * d)
            c = _away(1.0 + step / c)
            value *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return value


def _away(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
