"""Where work runs: here, in threads, or in processes. Whatever is done at the same time as something else passes through here.

An `Engine` does the same work for many items and hands out the results in the order of the items, to the same bits for any
number of workers. Whoever has the work chooses by what it is made of: `threads` where arrays and kernels let go of the
interpreter, `processes` where Python itself is busy; one job is plain `Serial`, and starts nothing. Beside them there are
`at_once` for a few different pieces of work, `ahead` for reading before somebody asks, `begin` for a single piece,
`begin_awaited` for one that kernels call back,
`in_time` for work that may take only so long, `answer` for programs in any language, `meter` for saying how far work
is, and `remark` for what people should hear of it.

Kernels have threads of their own inside, as many as their ``jobs`` says: that is their own matter, and none of this one's.
"""

from typing import TYPE_CHECKING

from calque.base.lazy_names import lazily

if TYPE_CHECKING:
    from calque.engines.engine import Engine as Engine
    from calque.engines.engine import Serial as Serial
    from calque.engines.engine import kept as kept
    from calque.engines.engine import portable as portable
    from calque.engines.engine import processes as processes
    from calque.engines.engine import threads as threads
    from calque.engines.engine import using as using
    from calque.engines.guard import alarms as alarms
    from calque.engines.guard import in_time as in_time
    from calque.engines.in_threads import Ahead as Ahead
    from calque.engines.in_threads import Begun as Begun
    from calque.engines.in_threads import ahead as ahead
    from calque.engines.in_threads import at_once as at_once
    from calque.engines.in_threads import begin as begin
    from calque.engines.in_threads import begin_awaited as begin_awaited
    from calque.engines.in_threads import threads_for as threads_for
    from calque.engines.programs import Answer as Answer
    from calque.engines.programs import answer as answer
    from calque.engines.telling import Meter as Meter
    from calque.engines.telling import heard as heard
    from calque.engines.telling import meter as meter
    from calque.engines.telling import remark as remark
    from calque.engines.telling import watched as watched

_HOME = {
    "Ahead": "calque.engines.in_threads",
    "Answer": "calque.engines.programs",
    "Begun": "calque.engines.in_threads",
    "Engine": "calque.engines.engine",
    "Meter": "calque.engines.telling",
    "Serial": "calque.engines.engine",
    "ahead": "calque.engines.in_threads",
    "alarms": "calque.engines.guard",
    "answer": "calque.engines.programs",
    "at_once": "calque.engines.in_threads",
    "begin": "calque.engines.in_threads",
    "begin_awaited": "calque.engines.in_threads",
    "heard": "calque.engines.telling",
    "in_time": "calque.engines.guard",
    "kept": "calque.engines.engine",
    "meter": "calque.engines.telling",
    "portable": "calque.engines.engine",
    "processes": "calque.engines.engine",
    "remark": "calque.engines.telling",
    "threads": "calque.engines.engine",
    "threads_for": "calque.engines.in_threads",
    "using": "calque.engines.engine",
    "watched": "calque.engines.telling",
}

__getattr__, __dir__, __all__ = lazily(__name__, _HOME)
