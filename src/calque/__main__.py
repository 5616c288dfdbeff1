"""The process of a command, ``calque`` or ``python -m calque``: what has to be settled before anything is imported."""

import gc
import os
import sys

INTERRUPTED, ENDED = 130, 143


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
    # one's time: that happens rarely here, and not once more at the end, when the system takes back everything anyway.
    gc.set_threshold(100_000, 50, 100)
    # NumPy's linear algebra would start a thread for each core; nothing here uses it.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Arrow's own allocator keeps what it once had; the system's gives back what was copied, and the next columns take it.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    from calque.cli import app, inputs

    try:
        app.main(inputs.OwnProcess())
    except SystemExit as ending:
        if ending.code in (INTERRUPTED, ENDED) or _others_work():
            _leave(ending.code)
        raise
    finally:
        gc.freeze()


def _others_work() -> bool:
    """Whether threads are at work that nobody waits for: a scan or a digest that is no longer needed."""
    threading = sys.modules.get("threading")
    return threading is not None and any(thread.daemon for thread in threading.enumerate())


def _leave(code: object) -> None:
    """End the process at once: everything is in order by now.

    A thread that came back from a kernel while Python takes itself apart would crash it, once in some hundred times.
    """
    from contextlib import suppress

    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # its reader has gone, or it is closed
            stream.flush()
    if isinstance(code, int):
        os._exit(code)


if __name__ == "__main__":
    main()
