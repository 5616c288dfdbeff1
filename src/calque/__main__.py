"""The process of a command, ``calque`` or ``python -m calque``: what has to be settled before anything is imported."""

import atexit
import gc
import os
import sys
import threading
from contextlib import suppress

INTERRUPTED, ENDED = 130, 143
MONITORS = 6
"""How many tools can watch what Python runs."""


def main() -> None:
    """The entry point."""
    try:
        _run()
    except KeyboardInterrupt:
        # Ctrl-C while Python still imports, before anybody else could tell.
        os.write(2, b"error: interrupted; nothing was written\n")
        raise SystemExit(INTERRUPTED) from None


def _run() -> None:
    # Modules are all that lives long in one command. Looking through them again and again for garbage takes a tenth of a short
    # one's time: that happens rarely here.
    gc.set_threshold(100_000, 50, 100)
    # NumPy's linear algebra would start a thread for each core; nothing here uses it.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Arrow's own allocator keeps what it once had; the system's gives back what was copied, and the next columns take it.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    from calque.cli import app

    try:
        app.main()
    except SystemExit as ending:
        if isinstance(ending.code, int):
            _leave(ending.code)
        raise


def _leave(code: int) -> None:
    """End the process at once, without taking Python apart: everything is in order by now, and the system takes back the rest.

    What others have registered for the end is done first. A process that was interrupted waits for nobody: a thread that came
    back from a kernel meanwhile would crash it, once in some hundred times.
    """
    if code not in (INTERRUPTED, ENDED):
        if _awaited():
            return
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # its reader has gone, or it is closed
            stream.flush()
    os._exit(code)


def _awaited() -> bool:
    """Whether somebody needs the usual end: a profiler or a debugger around us, or a thread that Python would wait for."""
    monitoring = getattr(sys, "monitoring", None)  # since Python 3.12
    watched = sys.gettrace() or sys.getprofile() or (monitoring and any(map(monitoring.get_tool, range(MONITORS))))
    threads = [thread for thread in threading.enumerate() if not thread.daemon and thread is not threading.main_thread()]
    return bool(watched or threads)


if __name__ == "__main__":
    main()
