"""The benchmark suites, one module a task, each with a `SUITE`."""

NAMES = (
    *("detection", "long", "compare", "drop_in", "masks", "fields", "checks", "check_suites", "words", "tables"),
    *("order", "ceiling"),
)
