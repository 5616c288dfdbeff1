"""Sampled mutation runs: small faults are put into a copy of the package, and the tests must notice (``make mutants``)."""
