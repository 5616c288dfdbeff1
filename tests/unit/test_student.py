"""Student's t against SciPy, from heavy tails to the normal distribution."""

from __future__ import annotations

import pytest

from calque.statistics.student import normal_share, t_quantile, t_share

stats = pytest.importorskip("scipy.stats")
FREEDOM = (1, 2, 3, 4, 7, 15, 59, 63, 64, 199, 4999, 10**6)


@pytest.mark.parametrize("freedom", FREEDOM)
def test_quantiles(freedom: int) -> None:
    for share in (0.5, 0.6, 0.8, 0.9, 0.975, 0.995, 0.99999, 0.2, 0.001):
        assert t_quantile(share, freedom) == pytest.approx(stats.t.ppf(share, freedom), rel=1e-10)


@pytest.mark.parametrize("freedom", FREEDOM)
def test_shares(freedom: int) -> None:
    for point in (-40.0, -8.0, -2.0, -1e-3, 0.0, 0.5, 3.0):
        assert t_share(point, freedom) == pytest.approx(stats.t.cdf(point, freedom), rel=1e-9)


def test_the_normal_distribution_in_its_tails() -> None:
    for point in (-30.0, -3.0, 0.0, 2.0):
        assert normal_share(point) == pytest.approx(stats.norm.cdf(point), rel=1e-12)
