"""Where work runs: here, in threads, or in processes. Whatever is done at the same time as something else passes through here.

An `Engine` does the same work for many items and hands out the results in the order of the items, to the same bits for any
number of workers. Whoever has the work chooses by what it is made of: `threads` where arrays and kernels let go of the
interpreter, `processes` where Python itself is busy; one job is plain `Serial`, and starts nothing. Beside them there are
`at_once` for a few different pieces of work, `ahead` for reading before somebody asks, and `begin` for a single piece.

Kernels have threads of their own inside, as many as their ``jobs`` says: that is their own matter, and none of this one's.
"""

from calque.engines.ahead import Ahead, ahead
from calque.engines.choice import kept, processes, threads, using
from calque.engines.interface import Engine, Serial
from calque.engines.threads import Begun, at_once, begin, threads_for

__all__ = [
    "Ahead",
    "Begun",
    "Engine",
    "Serial",
    "ahead",
    "at_once",
    "begin",
    "kept",
    "processes",
    "threads",
    "threads_for",
    "using",
]
