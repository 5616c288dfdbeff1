"""The benchmark suites, one module a task, each with a `SUITE`."""

NAMES = ("detection", "compare", "fields", "checks", "words", "tables")
