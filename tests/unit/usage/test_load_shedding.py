"""Test that, while the store is overloaded, only the tenant that sends most is refused."""

import pytest

from functions.identity.model import Principal
from functions.platform.errors import Throttled
from functions.usage.admission import LoadShedder

LOUD, QUIET, OTHER = (
    Principal(name, "agent", "agent", frozenset()) for name in ("loud", "quiet", "other")
)


class Time:
    """A time that a test advances."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def send(shedder: LoadShedder, caller: Principal, count: int) -> int:
    taken = 0
    for _ in range(count):
        try:
            shedder.check(caller)
        except Throttled:
            continue
        taken += 1
    return taken


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def shedder(time: Time) -> LoadShedder:
    """An instance to which one tenant has sent ten times as much as each of two others."""
    shedder = LoadShedder(time)
    for caller, count in ((LOUD, 100), (QUIET, 10), (OTHER, 10)):
        assert send(shedder, caller, count) == count
    return shedder


def test_nothing_is_refused_while_the_store_keeps_up(shedder: LoadShedder) -> None:
    assert send(shedder, LOUD, 500) == 500


def test_who_overloads_the_store_is_refused_more_and_more(shedder: LoadShedder) -> None:
    taken = []
    for _ in range(6):
        shedder.note_throttles(LOUD)
        taken.append(send(shedder, LOUD, 100))
    assert taken == sorted(taken, reverse=True)
    assert taken[0] == pytest.approx(75, abs=1)
    assert 4 <= taken[-1] <= 6  # enough to see that the store keeps up again


def test_others_are_never_refused_though_the_store_throttles_them_too(
    shedder: LoadShedder,
) -> None:
    for caller in (LOUD, QUIET, OTHER) * 5:
        shedder.note_throttles(caller)
    assert (send(shedder, QUIET, 10), send(shedder, OTHER, 10)) == (10, 10)


def test_who_sends_less_is_refused_no_more(shedder: LoadShedder, time: Time) -> None:
    shedder.note_throttles(LOUD, 10)
    assert send(shedder, LOUD, 100) < 10
    time.seconds += 60
    assert send(shedder, LOUD, 10) == 10


def test_who_goes_on_is_refused_less_and_less_while_the_store_keeps_up(
    shedder: LoadShedder, time: Time
) -> None:
    shedder.note_throttles(LOUD, 10)
    taken = []
    for _ in range(4):
        time.seconds += 300
        send(shedder, LOUD, 100)  # what it sent before is forgotten
        taken.append(send(shedder, LOUD, 100))
    assert taken == sorted(taken)
    assert taken[0] < 60 < taken[-1]


def test_a_tenant_alone_is_left_to_the_store(time: Time) -> None:
    shedder = LoadShedder(time)
    send(shedder, LOUD, 100)
    shedder.note_throttles(LOUD)
    assert send(shedder, LOUD, 100) == 100


def test_few_requests_say_nothing_of_shares(time: Time) -> None:
    shedder = LoadShedder(time)
    assert (send(shedder, LOUD, 8), send(shedder, QUIET, 1)) == (8, 1)
    shedder.note_throttles(LOUD)
    assert send(shedder, LOUD, 10) == 10
