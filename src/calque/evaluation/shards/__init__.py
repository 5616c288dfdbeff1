"""Runs over many shards: checkpoints and clusters."""
