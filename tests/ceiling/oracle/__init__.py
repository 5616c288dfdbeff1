"""What a ceiling is, found by trying everything: the contract in plain loops, which share no code with the product."""
