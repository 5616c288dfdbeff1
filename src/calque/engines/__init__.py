"""Where work runs: in this process, in threads, in worker processes, or on a Dask cluster.

An `Engine` does the same work for many items. It returns the results in the order of the items, with the same bits for any
number of workers. Use `thread_engine` for work in arrays and kernels, which release the interpreter. Use `process_engine` for
work in Python. One job is `Serial` and starts nothing.
"""

from calque.engines.engine import Engine, Serial, is_portable, keep_workers, process_engine, thread_engine, use_engine
from calque.engines.programs import ProgramOutput, run_program
from calque.engines.progress import Progress, current_progress, progress_to, warn, warnings_to
from calque.engines.threads import Prefetch, run_in_background, run_parallel, threads_for
from calque.engines.timeouts import has_alarms, with_timeout

__all__ = [
    "Engine", "Prefetch", "ProgramOutput", "Progress", "Serial", "current_progress", "has_alarms", "is_portable",
    "keep_workers", "process_engine", "progress_to", "run_in_background", "run_parallel", "run_program",
    "thread_engine", "threads_for", "use_engine", "warn", "warnings_to", "with_timeout",
]  # fmt: skip
