"""The benchmark suites, one module a task, each with a `SUITE`."""

NAMES = ("detection", "compare", "fields", "checks", "words", "tables")
NAMES = ("detection", "drop_in", "fields", "checks", "words", "tables")
NAMES = ("detection", "fields", "checks", "words", "tables", "masks")
NAMES = ("detection", "fields", "checks", "check_suites", "words", "tables")
