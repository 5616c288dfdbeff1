"""How a value can fail, by name: for numbers and for tables alike."""

from __future__ import annotations

KINDS = ("missing", "invented", "wrong", "close")
"""It is not there, it should not be there, it is another, or it is nearly the true one."""
