"""The benchmark suites, one module a task, each with a `SUITE`."""

NAMES = ("detection", "drop_in", "fields", "checks", "words", "tables")
