"""The benchmark suites, one module a task, each with a `SUITE`."""

NAMES = ("detection", "fields", "checks", "check_suites", "words", "tables")
