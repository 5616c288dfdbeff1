"""What every Python process of a workplace does first: while lines are recorded, it notes those that run, and for which test.

A ``.pth`` file of the workplace's environment imports this module, so processes that tests start take part too, whatever
environment variables they are given. It knows its own folder only: ``record`` is there while lines are recorded, and
``current`` holds the name of the test.
"""

import os

HERE = os.path.dirname(os.path.abspath(__file__))
QUIET = ["no-data-collected", "module-not-measured", "module-not-imported", "already-imported", "couldnt-parse"]


def record() -> None:
    """Start to note lines; the notes are kept when the process ends, and when a worker that it forked ends."""
    import atexit
    from multiprocessing import util

    from coverage import Coverage

    with open(os.path.join(HERE, "record"), encoding="utf-8") as told:
        source = told.read()
    with open(os.path.join(HERE, "current"), encoding="utf-8") as told:
        test = told.read()
    notes = os.path.join(HERE, "lines")
    watch = Coverage(data_file=notes, data_suffix=True, config_file=False, source=[source], context=test or None)
    watch.set_option("run:disable_warnings", QUIET)

    def keep(*_: object) -> None:
        watch.stop()
        watch.save()

    def keep_at_the_end_of_a_worker(_: object) -> None:
        util.Finalize(None, keep, exitpriority=0)

    atexit.register(keep)
    util.register_after_fork(watch, keep_at_the_end_of_a_worker)
    watch.start()


if os.path.exists(os.path.join(HERE, "record")):
    os.environ["COVERAGE_CORE"] = "ctrace"  # the other tracers see a line once and not once for each test
    record()
