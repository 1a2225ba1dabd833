"""What a flood costs other tenants' PATCHes in Lambda, where the store can't take all of it.

A simulation. Every tenant may send its share of the units that a table gives; one sends ten times
that. A request meets some instance, which knows nothing of others, and changes an entry by one
unit. DynamoDB throttles what is beyond; botocore tries again three times, then it is 429, and a
quiet tenant's SDK tries again. The instances shed load by the function's own code, or don't.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from heapq import heappop, heappush
from random import Random

from benchmarks.load import percentile
from benchmarks.tables import text_table
from functions.api.fairness import LoadShedder
from functions.identity.model import Principal
from functions.platform.errors import Throttled

TENANTS, FLOOD = 10, 10
UNITS = 1_000  # write units a second that the table gives, all of them in use but for a tenth
GOAL = 1.20
_USED = 0.9  # of its share that a quiet tenant sends
_INSTANCES = 20
_SECONDS, _WARM = 120.0, 20.0
_CALL, _REFUSAL = 0.006, 0.003  # s of a request that writes, and of one that is refused
_ATTEMPTS, _LONGEST_WAIT = 4, 20.0  # of botocore, which waits up to 1, 2 and 4 seconds
_SDK_WAIT = 1.0  # s: Retry-After


@dataclass(frozen=True, slots=True)
class Crowding:
    """Quiet tenants' PATCHes: milliseconds, with the SDK's own retries.

    Attributes:
        case: who sends, and whether instances shed load.
        refused: the share of the quiet tenants' requests that had a 429.
        flood_taken: what the flood wrote, in times of a share.
    """

    case: str
    p50: float
    p99: float
    mean: float
    refused: float
    flood_taken: float


def simulate() -> list[Crowding]:
    """Simulate the quiet tenants alone, beside the flood, and beside it with shedding."""
    return [
        _Simulation(flood=0, sheds=True).run("alone"),
        _Simulation(flood=FLOOD, sheds=False).run("beside the flood, without shedding"),
        _Simulation(flood=FLOOD, sheds=True).run("beside the flood"),
    ]


@dataclass(slots=True)
class _Request:
    """A request on its way: `tries` counts what botocore has sent of it."""

    tenant: int
    began: float
    instance: int
    tries: int = 0
    was_refused: bool = False


class _Simulation:
    """Requests in the order of time; the store is a bucket of units that holds a second's."""

    def __init__(self, *, flood: float, sheds: bool) -> None:
        self._random = Random(7)  # noqa: S311 - the same figures each time
        self._now = 0.0
        self._units, self._filled_at = float(UNITS), 0.0
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._number = 0
        self._sheds = sheds
        self._instances = [LoadShedder(lambda: self._now) for _ in range(_INSTANCES)]
        self._callers = [
            Principal(f"tenant-{number}", "agent", "agent", frozenset())
            for number in range(TENANTS)
        ]
        self._times: list[float] = []
        self._refused, self._written = 0, Counter[int]()
        share = UNITS / TENANTS
        self._rates = [flood * share, *[_USED * share] * (TENANTS - 1)]

    def run(self, case: str) -> Crowding:
        """Run all of it."""
        for tenant, rate in enumerate(self._rates):
            if rate:
                self._arrive_later(tenant, rate)
        while self._events and self._events[0][0] < _SECONDS:
            self._now, _, happen = heappop(self._events)
            happen()
        times = [each * 1000 for each in self._times]
        seconds, share = _SECONDS - _WARM, UNITS / TENANTS
        return Crowding(
            case,
            percentile(times, 50),
            percentile(times, 99),
            sum(times) / len(times),
            self._refused / len(times),
            self._written[0] / seconds / share,
        )

    def _at(self, time: float, happen: Callable[[], None]) -> None:
        self._number += 1
        heappush(self._events, (time, self._number, happen))

    def _arrive_later(self, tenant: int, rate: float) -> None:
        def arrive() -> None:
            self._begin(_Request(tenant, self._now, self._choose_instance()))
            self._arrive_later(tenant, rate)

        self._at(self._now + self._random.expovariate(rate), arrive)

    def _choose_instance(self) -> int:
        return self._random.randrange(_INSTANCES)

    def _begin(self, request: _Request) -> None:
        request.tries = 0
        try:
            if self._sheds:
                self._instances[request.instance].check(self._callers[request.tenant])
        except Throttled:
            self._refuse(request)
        else:
            self._send(request)

    def _send(self, request: _Request) -> None:
        """Write by one call of botocore; wait and call again where the store throttles."""
        request.tries += 1
        self._units = min(UNITS, self._units + (self._now - self._filled_at) * UNITS)
        self._filled_at = self._now
        if self._units >= 1:
            self._units -= 1
            self._end(request)
            return
        self._instances[request.instance].note_throttles(self._callers[request.tenant])
        if request.tries == _ATTEMPTS:
            self._refuse(request)
        else:
            wait = self._random.random() * min(2 ** (request.tries - 1), _LONGEST_WAIT)
            self._at(self._now + _CALL + wait, lambda: self._send(request))

    def _end(self, request: _Request) -> None:
        if request.began < _WARM:
            return
        self._written[request.tenant] += 1
        if request.tenant:
            self._times.append(self._now + _CALL - request.began)
            self._refused += request.was_refused

    def _refuse(self, request: _Request) -> None:
        """Let a quiet tenant's SDK send it again; the flood continues with other requests."""
        if request.tenant == 0:
            return
        request.was_refused, request.instance = True, self._choose_instance()
        self._at(self._now + _REFUSAL + _SDK_WAIT, lambda: self._begin(request))


def as_data(found: Sequence[Crowding]) -> list[dict[str, object]]:
    """All figures."""
    return [asdict(each) for each in found]


def as_text(found: Sequence[Crowding]) -> str:
    """The table."""
    heads = ["PATCHes of nine quiet tenants", "p50 ms", "p99 ms", "mean ms", "ratio of means"]
    heads += ["had a 429", "the flood wrote, shares"]
    rows = [
        [
            each.case,
            f"{each.p50:.1f}",
            f"{each.p99:.1f}",
            f"{each.mean:.1f}",
            f"{each.mean / found[0].mean:.2f}",
            f"{each.refused:.1%}",
            f"{each.flood_taken:.1f}",
        ]
        for each in found
    ]
    return text_table(heads, rows)
