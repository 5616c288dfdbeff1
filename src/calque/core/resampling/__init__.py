"""Documents drawn again: which weights they get, and how numbers are made of weighted documents."""
