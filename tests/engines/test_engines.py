"""What every engine promises: order, bounds, failures, and the same outcomes for any number of workers."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from calque import engines
from calque.base.errors import CalqueError, ConfigError, ContractError, MergeError, MissingExtra
from calque.engines.engine import ITEMS_PER_WORKER
from calque.engines.processes import KILLED, Processes
from calque.engines.threads import Threads
from tests.engines import works

ENGINES = [
    pytest.param(engines.Serial, 1, id="serial"),
    *(pytest.param(lambda jobs=jobs: Threads(jobs), jobs, id=f"threads-{jobs}") for jobs in (1, 2, 3)),
    *(pytest.param(lambda jobs=jobs: Processes(jobs), jobs, id=f"processes-{jobs}") for jobs in (1, 2, 3)),
]


@pytest.mark.parametrize(("make", "jobs"), ENGINES)
def test_outcomes_come_in_the_order_of_the_items(make: Any, jobs: int) -> None:
    assert list(make().map(works.late_square, range(12))) == [number**2 for number in range(12)]
    assert list(make().map(works.square, [])) == []
    assert list(make().map(works.square, [7])) == [49]


@pytest.mark.parametrize(("make", "jobs"), ENGINES)
def test_items_are_drawn_when_there_is_room(make: Any, jobs: int) -> None:
    drawn = []

    def items() -> Iterator[int]:
        for number in range(100):
            drawn.append(number)
            yield number

    for taken, outcome in enumerate(make().map(works.square, items()), 1):
        assert outcome == (taken - 1) ** 2
        assert len(drawn) - taken < max(ITEMS_PER_WORKER * jobs, 1)


@pytest.mark.parametrize(("make", "jobs"), ENGINES)
def test_the_first_failure_in_the_order_of_the_items_is_raised_in_its_place(make: Any, jobs: int) -> None:
    outcomes = make().map(works.failing, range(20))
    assert [next(outcomes) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ContractError) as caught:
        next(outcomes)
    assert (caught.value.issues, caught.value.total, caught.value.hints) == ((works.ISSUE,) * 2, 6, ("look again",))
    assert list(outcomes) == []


@pytest.mark.parametrize(("make", "jobs"), ENGINES)
def test_what_the_items_raise_is_raised(make: Any, jobs: int) -> None:
    def items() -> Iterator[int]:
        yield from range(5)
        raise KeyError("no more")

    with pytest.raises(KeyError, match="no more"):
        list(make().map(works.square, items()))


@pytest.mark.parametrize(("make", "jobs"), ENGINES)
def test_whoever_asks_no_more_ends_it(make: Any, jobs: int) -> None:
    outcomes = make().map(works.square, iter(int, 1))  # zeros without end
    assert next(outcomes) == 0
    if hasattr(outcomes, "close"):
        outcomes.close()


@pytest.mark.parametrize(
    ("number", "kind", "text"),
    [
        (4, ConfigError, "no such setting"),
        (5, MissingExtra, r"pip install 'calque-eval\[xml\]'"),
        (6, MergeError, "apart"),
        (7, RuntimeError, "Stubborn: 1 and 2"),
        (8, ZeroDivisionError, "by nothing"),
    ],
)
def test_errors_come_from_processes_as_themselves(number: int, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        list(Processes(2).map(works.failing, [number, number]))


def test_an_error_from_a_process_says_where_it_was_raised() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        list(Processes(2).map(works.failing, [8, 8]))
    assert "in failing" in "".join(traceback.format_exception(caught.value))


def test_what_cannot_travel_is_told() -> None:
    with pytest.raises(Exception, match=r"pickle|local object"):
        list(Processes(2).map(lambda number: number, [1, 2]))
    with pytest.raises(Exception, match=r"pickle|local object"):
        list(Processes(2).map(works.square, [lambda: None, 2]))  # type: ignore[list-item]  # on purpose
    with pytest.raises(Exception, match=r"pickle|local object"):
        list(Processes(2).map(works.not_picklable, [1, 2]))


def test_a_worker_that_ends_is_told_in_clear_words() -> None:
    shown: list[str] = []
    with engines.warnings_to(shown.append):
        results = Processes(2).map(works.ends_itself, range(10))
        assert [next(results), next(results)] == [0, 1]
        with pytest.raises(CalqueError, match=f"{KILLED}; use fewer --jobs"):
            next(results)
    assert shown == [f"{KILLED}; calque does its part again"]


def test_what_a_worker_that_ends_was_asked_is_asked_once_more(tmp_path: Path) -> None:
    items = [str(tmp_path / name) for name in ("a.fine", "b", "c.fine", "d.fine", "e.fine", "f.fine")]
    shown: list[str] = []
    with engines.warnings_to(shown.append):
        assert list(Processes(2).map(works.ends_once, items)) == items
    assert shown == [f"{KILLED}; calque does its part again"]
    with pytest.warns(RuntimeWarning, match=KILLED):
        assert list(Processes(2).map(works.ends_once, [str(tmp_path / "g"), "fine"])) == [str(tmp_path / "g"), "fine"]


def test_the_work_is_sent_once_and_carries_what_items_share() -> None:
    outcomes = list(Processes(2).map(works.Times(3), range(20)))
    assert outcomes == [(3 * number, 1) for number in range(20)]


def test_what_work_prints_and_reads_touches_no_message(capfd: pytest.CaptureFixture[str]) -> None:
    assert list(Processes(2).map(works.writes_and_reads, range(4))) == ["null-empty"] * 4
    assert capfd.readouterr().out == ""
    with pytest.raises(EOFError):
        list(Processes(2).map(works.writes_and_reads, [-1, -1]))


def test_one_job_starts_nothing() -> None:
    assert isinstance(engines.thread_engine(1), engines.Serial)
    assert isinstance(engines.process_engine(1), engines.Serial)
    assert set(engines.process_engine(1).map(works.where, range(3))) == {os.getpid()}
    with engines.keep_workers(1):
        assert isinstance(engines.process_engine(2), Processes)


def test_workers_are_other_processes_and_kept_within_a_block() -> None:
    with engines.keep_workers(2):
        first, second = (set(engines.process_engine(2).map(works.where, range(20))) for _ in range(2))
        with engines.keep_workers(3):
            third = set(engines.process_engine(3).map(works.where, range(20)))
    assert os.getpid() not in first
    assert len(first | second | third) <= 2
    assert not {pid for pid in first | second if _alive(pid)}
    assert not set(engines.process_engine(2).map(works.where, range(20))) & first


def test_closing_while_workers_write_results_does_not_wait_for_them() -> None:
    results = Processes(2).map(bytes, [50_000_000] * 6)
    assert len(next(results)) == 50_000_000
    results.close()  # type: ignore[attr-defined]  # it is a generator


def test_few_items_start_few_workers() -> None:
    assert len(set(Processes(8).map(works.where, range(2)))) <= 2
    with engines.keep_workers(8):
        few, more = (set(engines.process_engine(8).map(works.where, range(count))) for count in (2, 3))
    assert len(few) <= 2
    assert len(more) <= 3
    assert not {pid for pid in few | more if _alive(pid)}


def test_kept_workers_that_failed_are_replaced() -> None:
    with engines.keep_workers(2):
        with engines.warnings_to(lambda _: None), pytest.raises(CalqueError, match=KILLED):
            list(engines.process_engine(2).map(works.ends_itself, range(10)))
        with pytest.raises(ContractError):
            list(engines.process_engine(2).map(works.failing, range(10)))
        one, other = (
            engines.process_engine(2).map(works.square, range(9)),
            engines.process_engine(2).map(works.Times(2), range(9)),
        )
        both = [(a, b[0]) for a, b in zip(one, other, strict=True)]
    assert both == [(number**2, 2 * number) for number in range(9)]


def test_an_engine_of_ones_own_takes_the_place_of_processes() -> None:
    class Backwards:
        """Stands for a cluster."""

        def map(self, work: Any, items: Any) -> Any:
            return reversed([work(item) for item in reversed(list(items))])

    cluster = Backwards()
    with engines.use_engine(cluster):
        with engines.keep_workers(2):
            assert engines.process_engine(2) is cluster
        assert isinstance(engines.process_engine(1), engines.Serial)
        assert list(engines.process_engine(4).map(works.square, range(4))) == [0, 1, 4, 9]
    assert isinstance(engines.process_engine(2), Processes)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_workers_leave_the_environment_of_programs_as_it_is() -> None:
    before = dict(os.environ)
    found = list(Processes(2).map(os.getenv, ["PYTHONSAFEPATH", "PYTHONWARNINGS", "PYTHONSAFEPATH"]))
    assert found == [os.getenv("PYTHONSAFEPATH"), os.getenv("PYTHONWARNINGS"), os.getenv("PYTHONSAFEPATH")]
    assert dict(os.environ) == before


def test_workers_import_nothing_from_the_current_folder(tmp_path: Path) -> None:
    for name in ("multiprocessing", "pickle", "signal", "runpy", "warnings"):
        (tmp_path / f"{name}.py").write_text(f"import os; os.mkdir('{name} was imported')\n")
    code = "import sys; sys.path.pop(0)\n"
    code += "from calque.engines.processes import Processes; print(*Processes(2).map(abs, [-1, -2]))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("1 2\n", "")
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


def test_processes_in_a_thread_give_the_same_results() -> None:
    assert engines.run_in_background(lambda: list(Processes(2).map(works.square, range(5)))).result() == [0, 1, 4, 9, 16]


@pytest.mark.parametrize("mode", [0, 1])
def test_workers_take_text_for_utf_8_only_where_this_process_does(mode: int) -> None:
    code = "from calque.engines.processes import Processes\n"
    code += "print(*Processes(2).map(eval, ['__import__(\"sys\").flags.utf8_mode'] * 2))"
    command = [sys.executable, "-X", f"utf8={mode}", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(mode)] * 2


def test_portable_text_that_names_main_is_data_and_a_class_of_main_is_not() -> None:
    script = """
from calque.engines import is_portable

class Own:
    pass

print(is_portable({"field": "see __main__.py"}), is_portable(Own()), is_portable([Own, "__main__"]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False", "False"]
