"""The nouns that every task shares, one file each; see ``docs/explanation/design.md``."""
