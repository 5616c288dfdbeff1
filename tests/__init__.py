"""The tests of calque: unit, conformance, laws, command line, fuzz."""
