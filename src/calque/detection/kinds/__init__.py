"""Error kinds: why a prediction or a truth is wrong, and what repairing a kind would be worth."""
