"""Where work runs: here, in threads, or in processes. Whatever is done at the same time as something else passes through here.

An `Engine` does the same work for many items and hands out the results in the order of the items, to the same bits for any
number of workers. Whoever has the work chooses by what it is made of: `threads` where arrays and kernels let go of the
interpreter, `processes` where Python itself is busy; one job is plain `Serial`, and starts nothing. Beside them there are
`at_once` for a few different pieces of work, `ahead` for reading before somebody asks, `begin` for a single piece,
`in_time` for work that may take only so long, `answer` for programs in any language, `meter` for saying how far work
is, and `remark` for what people should hear of it.

Kernels have threads of their own inside, as many as their ``jobs`` says: that is their own matter, and none of this one's.
"""

from typing import TYPE_CHECKING

from calque.core.start_up import lazily

if TYPE_CHECKING:
    from calque.engines.choice import kept as kept
    from calque.engines.choice import portable as portable
    from calque.engines.choice import processes as processes
    from calque.engines.choice import threads as threads
    from calque.engines.choice import using as using
    from calque.engines.in_threads import Begun as Begun
    from calque.engines.in_threads import at_once as at_once
    from calque.engines.in_threads import begin as begin
    from calque.engines.in_threads import threads_for as threads_for
    from calque.engines.interface import Engine as Engine
    from calque.engines.interface import Serial as Serial
    from calque.engines.metering import Meter as Meter
    from calque.engines.metering import meter as meter
    from calque.engines.metering import watched as watched
    from calque.engines.programs import Answer as Answer
    from calque.engines.programs import answer as answer
    from calque.engines.reading_ahead import Ahead as Ahead
    from calque.engines.reading_ahead import ahead as ahead
    from calque.engines.remarking import heard as heard
    from calque.engines.remarking import remark as remark
    from calque.engines.time_limit import alarms as alarms
    from calque.engines.time_limit import in_time as in_time

_HOME = {
    "Ahead": "calque.engines.reading_ahead",
    "Answer": "calque.engines.programs",
    "Begun": "calque.engines.in_threads",
    "Engine": "calque.engines.interface",
    "Meter": "calque.engines.metering",
    "Serial": "calque.engines.interface",
    "ahead": "calque.engines.reading_ahead",
    "alarms": "calque.engines.time_limit",
    "answer": "calque.engines.programs",
    "at_once": "calque.engines.in_threads",
    "begin": "calque.engines.in_threads",
    "heard": "calque.engines.remarking",
    "in_time": "calque.engines.time_limit",
    "kept": "calque.engines.choice",
    "meter": "calque.engines.metering",
    "portable": "calque.engines.choice",
    "processes": "calque.engines.choice",
    "remark": "calque.engines.remarking",
    "threads": "calque.engines.choice",
    "threads_for": "calque.engines.in_threads",
    "using": "calque.engines.choice",
    "watched": "calque.engines.metering",
}

__getattr__, __dir__, __all__ = lazily(__name__, _HOME)
