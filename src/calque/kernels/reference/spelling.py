"""Numbers as JSON has them."""

import math


def spell_floats(values: list[object]) -> str | None:
    """A list of finite floats as Python's json writes it; nothing when it holds anything else.

    >>> spell_floats([0.5, 1.0, 1e-05]), spell_floats([0.5, None])
    ('[0.5, 1.0, 1e-05]', None)
    """
    if not all(type(value) is float and math.isfinite(value) for value in values):
        return None
    return f"[{', '.join(map(repr, values))}]"
