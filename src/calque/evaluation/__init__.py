"""From two corpora to a result: task, ledger, state, evaluator, result, signature."""
