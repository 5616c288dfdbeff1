"""The version of calque."""

__version__ = "0.1.0"
