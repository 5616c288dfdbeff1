"""The kernels in clear NumPy: the specification that the compiled ones are tested against."""

from calque.kernels.reference.boxes import match_greedy

__all__ = ["match_greedy"]
