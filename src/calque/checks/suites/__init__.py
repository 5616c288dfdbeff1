"""Suites: YAML files with evaluators, cases and a gate, and how they are run."""
