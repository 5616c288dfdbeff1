"""What is kept in files: outputs that appear whole, states, and ledgers that are longer than memory."""
