"""What the verbs that lay two files over each other have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calque.core.task import Task


def evaluate(task: Task, truth: str, predictions: str, values: dict[str, Any]) -> int:
    """Evaluate two files under a task and deliver the result as the options say; the exit code."""
    from calque.cli import ahead

    # Parsing begins before numpy is imported, and both files are parsed at once.
    sources = ahead.scanned(truth), ahead.scanned(predictions)
    from calque.cli.progress import working
    from calque.cli.render import check_writable, deliver, format_of
    from calque.core.evaluator import Evaluator, Keep
    from calque.kernels import keep_freed_memory

    jobs = values.pop("jobs")
    kind = format_of(values["format"], values["output"])
    check_writable(values["output"], values["save"])
    keep: Keep = "outcomes" if kind == "jsonl" or values["save"] is not None else "numbers"
    keep_freed_memory()
    evaluator = Evaluator(task, keep=keep, jobs=jobs)
    with working(f"evaluating {predictions}", quiet=values["quiet"], done=lambda: evaluator.done):
        evaluator.update(*sources)
    return deliver(evaluator, **values)
