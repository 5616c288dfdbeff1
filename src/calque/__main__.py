"""The process of a command, ``calque`` or ``python -m calque``: what has to be settled before anything is imported."""

import gc
import os

INTERRUPTED = 130


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
    finally:
        gc.freeze()


if __name__ == "__main__":
    main()
