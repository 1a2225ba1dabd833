"""What it takes many functions to append to one log at once: a simulation, call by call.

Each appender reads the log's end and puts the item behind it; one put of a number succeeds, and who
fails waits as `functions.event_log.store` does, and begins again. A call takes 5 ms, give or take
a fifth.
"""

import heapq
from dataclasses import asdict, dataclass
from random import Random
from statistics import mean

from benchmarks.tables import text_table
from functions.event_log.store import FIRST_WAIT, LONGEST_WAIT

APPENDERS = (1, 2, 8, 40)  # 40: ten shards of which each has four batches under way
_CALL_SECONDS, _JITTER = 0.005, 0.2
_ROUNDS = 50


@dataclass(frozen=True, slots=True)
class Row:
    """So many appenders that begin together.

    Attributes:
        calls: of each append, on average.
        seconds: how long an append takes, on average.
        last: when the last one is done, in seconds.
    """

    appenders: int
    calls: float
    seconds: float
    last: float


def measure() -> list[Row]:
    """Simulate some numbers of appenders; the figures are the same each time."""
    return [
        _average([_simulate(count, Random(seed)) for seed in range(_ROUNDS)])  # noqa: S311 - as before
        for count in APPENDERS
    ]


def _average(rows: list[Row]) -> Row:
    return Row(
        rows[0].appenders,
        mean(row.calls for row in rows),
        mean(row.seconds for row in rows),
        mean(row.last for row in rows),
    )


def _simulate(appenders: int, random: Random) -> Row:
    """Simulate appenders that begin together; a call counts when it is done."""

    def take_call() -> float:
        return _CALL_SECONDS * random.uniform(1 - _JITTER, 1 + _JITTER)

    end, calls, done = 0, 0, list[float]()
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
            done.append(now)
        else:
            wait = random.uniform(0, min(FIRST_WAIT * 2**failed, LONGEST_WAIT))
            heapq.heappush(events, (now + wait + take_call(), number, failed + 1, None))
    return Row(appenders, calls / appenders, mean(done), max(done))


def as_data(found: list[Row]) -> list[dict[str, object]]:
    """All figures."""
    return [asdict(row) for row in found]


def as_text(found: list[Row]) -> str:
    """The table."""
    heads = ["appenders of one log at once", "calls of each", "seconds of each", "of all"]
    rows = [
        [str(row.appenders), f"{row.calls:.1f}", f"{row.seconds:.2f}", f"{row.last:.2f}"]
        for row in found
    ]
    return text_table(heads, rows)
