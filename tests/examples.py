"""How many examples a property is tried on: few every time, all that it deserves in the long run."""

from __future__ import annotations

from collections.abc import Collection

from hypothesis import HealthCheck, Phase, settings

USUAL, LONG = "usual", "long"
FEWEST = 3

settings.register_profile(
    LONG,
    deadline=None,  # no test asserts a time
    max_examples=40,
    derandomize=True,  # the same examples on every machine, and in both profiles
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile(USUAL, settings.get_profile(LONG), max_examples=7)


def examples(number: int, *, phases: Collection[Phase] = tuple(Phase)) -> settings:
    """The settings of a property that ``make test-long`` tries on so many examples, and ``make test`` on a share of them."""
    share = number * settings.default.max_examples // settings.get_profile(LONG).max_examples
    return settings(max_examples=max(share, FEWEST), phases=tuple(phases))
