"""Count the calls of an append while others append to the same log at the same moment."""

import heapq
from random import Random
from statistics import mean

import pytest

from functions.events.store import FIRST_WAIT, LONGEST_WAIT

CALL_SECONDS, JITTER = 0.005, 0.2


def simulate(appenders: int, random: Random) -> float:
    """Simulate appenders that begin together; return the number of calls of each.

    Each appender reads the log's end and puts its item behind it. One put at a position succeeds;
    the others wait as the store does, and begin again.
    """

    def take_call() -> float:
        return CALL_SECONDS * random.uniform(1 - JITTER, 1 + JITTER)

    end = calls = 0
    events: list[tuple[float, int, int, int | None]] = [
        (take_call(), number, 0, None) for number in range(appenders)
    ]
    heapq.heapify(events)
    while events:
        now, number, failed, position = heapq.heappop(events)
        calls += 1
        if position is None:
            heapq.heappush(events, (now + take_call(), number, failed, end))
        elif position == end:
            end += 1
        else:
            wait = random.uniform(0, min(FIRST_WAIT * 2**failed, LONGEST_WAIT))
            heapq.heappush(events, (now + wait + take_call(), number, failed + 1, None))
    return calls / appenders


@pytest.mark.parametrize(("appenders", "most"), [(1, 2), (2, 3.1), (8, 4.4), (40, 6.2)])
def test_appenders_that_meet_make_a_bounded_number_of_calls(appenders: int, most: float) -> None:
    rounds = [Random(seed) for seed in range(50)]  # noqa: S311 - the same figures each time
    assert mean(simulate(appenders, each) for each in rounds) <= most
