"""Parallel calls: results in order, and no call is left running."""

from collections.abc import Callable
from functools import partial
from threading import Event

import pytest

from functions.platform.parallel import run_parallel


def test_results_come_in_the_order_of_their_calls() -> None:
    second_ended = Event()

    def first() -> int:
        assert second_ended.wait(10)
        return 1

    def second() -> int:
        second_ended.set()
        return 2

    assert run_parallel([first, second]) == [1, 2]


def test_an_error_is_raised_when_no_call_is_at_work_anymore() -> None:
    begun, ended = Event(), []

    def fails() -> None:
        assert begun.wait(10)
        raise LookupError

    def ends_later() -> None:
        begun.set()
        Event().wait(0.05)
        ended.append(1)

    with pytest.raises(LookupError):
        run_parallel([fails, ends_later])
    assert ended == [1]


def test_after_an_error_what_has_not_begun_does_not_begin() -> None:
    begun: list[int] = []

    def fails() -> None:
        raise LookupError

    def later(number: int) -> None:
        begun.append(number)
        Event().wait(0.05)

    calls: list[Callable[[], None]] = [fails, *[partial(later, number) for number in range(100)]]
    with pytest.raises(LookupError):
        run_parallel(calls)
    assert len(begun) < 100
