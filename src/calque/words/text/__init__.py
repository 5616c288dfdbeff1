"""From texts to words: clean-up, languages, characters and tokenizers."""
