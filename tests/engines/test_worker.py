"""A worker's own side of the conversation, without a process around it."""

from __future__ import annotations

import io
import os
import pickle
import threading
from typing import Any

import pytest

from calque.base.errors import CalqueError
from calque.engines import worker
from calque.engines.worker import Answering, Desk
from tests.engines import works


def answers(data: bytes) -> list[Any]:
    pipe, said = io.BytesIO(data), []
    while True:
        try:
            said.append(pickle.loads(worker.receive(pipe)[1]))
        except EOFError:
            return said


def test_it_answers_every_item_with_the_latest_work() -> None:
    read, write = os.pipe()
    out = io.BytesIO()
    with os.fdopen(write, "wb") as asking, os.fdopen(read, "rb") as asked:
        desk = threading.Thread(target=Desk(asked, out, lambda _: None).serve)
        desk.start()
        for kind, value in (
            (worker.WORK, works.square),
            (worker.ITEM, 3),
            (worker.ITEM, 4),
            (worker.WORK, abs),
            (worker.ITEM, -5),
        ):
            worker.send(asking, kind, pickle.dumps(value))
        while len(answers(out.getvalue())) < 3:
            pass
        asking.close()
        desk.join()
    assert answers(out.getvalue()) == [(True, 9), (True, 16), (True, 5)]


def test_it_leaves_at_once_when_who_asked_has_gone() -> None:
    left = threading.Event()
    read, write = os.pipe()
    with os.fdopen(read, "rb") as asked:
        with os.fdopen(write, "wb") as asking:
            desk = Desk(asked, io.BytesIO(), lambda _: left.set())
            taking = threading.Thread(target=desk._take_in)
            taking.start()
            worker.send(asking, worker.ITEM, b"x")
            assert desk._waiting.get() == (worker.ITEM, b"x")  # and nobody answers
            assert not left.is_set()
        taking.join()
    assert left.is_set()


@pytest.mark.parametrize(("item", "kind"), [(3, CalqueError), (7, RuntimeError), (8, ZeroDivisionError)])
def test_failures_are_answers(item: int, kind: type[Exception]) -> None:
    fine, error = pickle.loads(Answering(pickle.dumps(works.failing))(pickle.dumps(item)))
    assert not fine
    assert isinstance(error, kind)


def test_work_that_cannot_be_loaded_is_told_with_the_first_item() -> None:
    nowhere = b"cno.such.module\nthing\n."
    fine, error = pickle.loads(Answering(nowhere)(pickle.dumps(1)))
    assert not fine
    assert isinstance(error, ModuleNotFoundError)


def test_a_message_that_breaks_off_is_the_end() -> None:
    whole = io.BytesIO()
    worker.send(whole, worker.ITEM, b"12345")
    assert worker.receive(io.BytesIO(whole.getvalue())) == (worker.ITEM, b"12345")
    for end in range(len(whole.getvalue())):
        with pytest.raises(EOFError):
            worker.receive(io.BytesIO(whole.getvalue()[:end]))


def test_a_work_is_loaded_once_and_keeps_what_it_made() -> None:
    answering = Answering(pickle.dumps(works.Counting()))
    assert [pickle.loads(answering(pickle.dumps(None))) for _ in range(3)] == [(True, 1), (True, 2), (True, 3)]
