"""Where work runs: in this process, in threads, in worker processes, or on a Dask cluster.

An `Engine` does the same work for many items. It returns the results in the order of the items, with the same bits for any
number of workers. Use `threads` for work in arrays and kernels, which release the interpreter, and `processes` for work in
Python. One job is `Serial` and starts nothing.
"""

from calque.engines.engine import Engine, Serial, kept, portable, processes, threads, using
from calque.engines.guard import alarms, in_time
from calque.engines.in_threads import Ahead, Begun, ahead, at_once, begin, threads_for
from calque.engines.programs import Answer, answer
from calque.engines.telling import Meter, heard, meter, remark, watched

__all__ = [
    "Ahead", "Answer", "Begun", "Engine", "Meter", "Serial", "ahead", "alarms", "answer", "at_once", "begin",
    "heard", "in_time", "kept", "meter", "portable", "processes", "remark", "threads", "threads_for", "using", "watched",
]  # fmt: skip
