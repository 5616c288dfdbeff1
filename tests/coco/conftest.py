"""The scripts of frameworks are run by a test, not collected as tests."""

collect_ignore = ["frameworks"]
