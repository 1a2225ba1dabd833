"""A model of the service with a million agents at work, checked against AWS's published limits.

Units are what `benchmarks.costs` measures. Rates are those of docs/explanation/cost.md, with all
agents at work at once.
Limits: AWS's developer guides as of November 2026 (DynamoDB: ServiceQuotas.html,
bp-partition-key-design.html, on-demand-capacity-mode.html, gsi-throttling.html; Lambda:
scaling-behavior.html; API Gateway: limits.html; EventBridge: eb-quota.html).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from random import Random

from benchmarks import costs
from benchmarks.sweep import GOAL
from benchmarks.tables import text_table
from functions.platform.keys import DUE_SHARDS

AGENTS = 1_000_000
NAMESPACES, AGENT_TYPES = 10_000, 20
PER_MINUTE = {  # by each agent
    "put value": 1.0,
    "get working by id": 1.0,
    "create episodic": 0.1,
    "query own, 100 of 1 KB": 0.1,
    "create semantic, 5 tags": 0.01,
    "get semantic by id": 0.1,
    "append episode": 0.1,
}
PARTITION_WRITES, PARTITION_READS = 1_000, 3_000
_EXPIRING = 1.0  # of creates: the worst case
_REQUEST_SECONDS = 0.010
_BURST_SECONDS = 300  # of unused capacity that a partition may spend
_SIMULATED_SECONDS = 600
_LOGGED = "log an event"
_MAKES_EVENT = ("put value", "create episodic", "create semantic, 5 tags")


@dataclass(frozen=True, slots=True)
class Total:
    """What everything together takes, beside a default quota; all of them can be raised."""

    what: str
    used: float
    quota: float
    then: str = "raise the quota"

    @property
    def share(self) -> float:
        """Of the quota."""
        return self.used / self.quota


@dataclass(frozen=True, slots=True)
class Key:
    """The most loaded partition key of its kind: units a second."""

    kind: str
    writes: float
    reads: float
    then: str

    @property
    def share(self) -> float:
        """Of what a partition gives."""
        return max(self.writes / PARTITION_WRITES, self.reads / PARTITION_READS)


@dataclass(frozen=True, slots=True)
class Model:
    """Everything at `agents`; keys by load, the hottest first."""

    agents: int
    partitions: int
    totals: list[Total]
    keys: list[Key]
    throttled: dict[str, float]

    def list_limits(self, count: int = 5) -> list[tuple[str, float, str]]:
        """List what is reached first: its name, how much of it is used, and what raises it."""
        totals = [(each.what, each.share, each.then) for each in self.totals]
        keys = [(each.kind, each.share, each.then) for each in self.keys]
        return sorted(totals + keys, key=lambda each: each[1], reverse=True)[:count]


@dataclass(frozen=True, slots=True)
class _Units:
    write: float
    index: float
    read: float


def model(agents: int = AGENTS) -> Model:
    """The model on units that are measured now. Raises `RequestError`."""
    measured = {each.operation: each for each in costs.measure()}
    units = {
        name: _Units(measured[name].write, measured[name].index_write, measured[name].read)
        for name in (*PER_MINUTE, _LOGGED)
    }
    rates = {name: agents * rate / 60 for name, rate in PER_MINUTE.items()}
    keys = sorted(_keys(rates, units, agents), key=lambda key: key.share, reverse=True)
    totals = _totals(rates, units, agents)
    return Model(agents, _partitions(totals), totals, keys, _simulated(rates, units))


def _totals(rates: Mapping[str, float], units: Mapping[str, _Units], agents: int) -> list[Total]:
    requests = sum(rates.values())
    events = sum(rates[name] for name in _MAKES_EVENT)
    reads = sum(rates[name] * units[name].read for name in rates) + requests
    return [
        Total("API: requests/s", requests, 10_000, "raise the quota; or more regions or accounts"),
        Total("Lambda: requests under way", requests * _REQUEST_SECONDS, 1_000),
        Total("memory table: write units/s", _sum(rates, units, "write"), 40_000),
        Total("all its indexes: write units/s", _sum(rates, units, "index"), 40_000),
        Total("memory table: read units/s, each key looked up", reads, 40_000),
        Total("log table: write units/s", events * units[_LOGGED].write, 40_000),
        Total(
            "EventBridge: events/s (us-east-1), if it carries all types",
            events,
            10_000,
            "name the types that somebody subscribes to, or raise the quota",
        ),
        Total(
            "schedule: expiries/s, one an hour of each agent, by one part",
            agents / 3600,
            GOAL,
            "more parts (`sweep_parts`)",
        ),
    ]


def _sum(rates: Mapping[str, float], units: Mapping[str, _Units], kind: str) -> float:
    return sum(rate * float(getattr(units[name], kind)) for name, rate in rates.items())


def _partitions(totals: Sequence[Total]) -> int:
    used = {total.what: total.used for total in totals}
    writes = used["memory table: write units/s"] / PARTITION_WRITES
    reads = used["memory table: read units/s, each key looked up"] / PARTITION_READS
    return math.ceil(max(writes, reads))


def _keys(rates: Mapping[str, float], units: Mapping[str, _Units], agents: int) -> list[Key]:
    created = rates["create episodic"]
    own = ("put value", "get working by id", "create episodic", "query own, 100 of 1 KB")
    popular = _popularity(NAMESPACES)[0]
    new, got = rates["create semantic, 5 tags"], rates["get semantic by id"]
    return [
        Key(
            "an agent: its memory",
            sum(rates[name] * units[name].write for name in own) / agents,
            sum(rates[name] * units[name].read for name in own) / agents,
            "429 THROTTLED; nothing to do: 30,000 times the rate fits",
        ),
        Key(
            "index by_due: one of its shards",
            created * _EXPIRING * 2 / len(DUE_SHARDS),
            0,
            "back-pressure on creates with a ttl: more shards (a constant of `functions/platform`)",
        ),
        Key(
            "a namespace: the most popular",
            new * popular * units["create semantic, 5 tags"].write,
            got * popular * (units["get semantic by id"].read - 1),
            "429 THROTTLED for its writers alone: split the namespace",
        ),
        Key(
            "a tenant's namespaces: who may use them",
            0,
            got + new,
            "DynamoDB splits the partition by sort key, as no local index forbids it",
        ),
        Key(
            "index by_type: the most popular agent type's episodes",
            rates["append episode"] * units["append episode"].index * _popularity(AGENT_TYPES)[0],
            0,
            "back-pressure on its episodes: split the agent type",
        ),
        Key(
            "an API key: who calls",
            0,
            sum(rates.values()) / agents,
            "each function remembers a key for 60 s",
        ),
        Key(
            "an agent's log",
            sum(rates[name] for name in _MAKES_EVENT) * units[_LOGGED].write / agents,
            sum(rates[name] for name in _MAKES_EVENT) * units[_LOGGED].read / agents,
            "the stream function retries; the event comes later",
        ),
    ]


def _popularity(many: int) -> list[float]:
    """Shares by Zipf's law, the most popular first."""
    weights = [1 / rank for rank in range(1, many + 1)]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def _simulated(rates: Mapping[str, float], units: Mapping[str, _Units]) -> dict[str, float]:
    """Shares of semantic writes that a minute-long surge leaves throttled, by how strong it is.

    Each namespace is a token bucket of a partition's write units that keeps 300 s of them; arrivals
    are Poisson, normally approximated. Namespaces are as popular as Zipf's law has it.
    """
    cost = units["create semantic, 5 tags"].write
    arrivals = rates["create semantic, 5 tags"]
    shares = _popularity(NAMESPACES)[:50]
    return {
        f"{factor} times the rate": sum(
            _refused(arrivals * factor * share * cost, cost) for share in shares
        )
        / (arrivals * factor * _SIMULATED_SECONDS)
        for factor in (1, 4, 16, 64)
    }


def _refused(demand: float, cost: float) -> float:
    """How many writes a namespace refuses, at a demand of so many units a second."""
    rng = Random(int(demand))  # noqa: S311 - the same figures each time
    tokens, refused = float(PARTITION_WRITES * _BURST_SECONDS), 0.0
    for _ in range(_SIMULATED_SECONDS):
        tokens = min(tokens + PARTITION_WRITES, PARTITION_WRITES * _BURST_SECONDS)
        asked = max(rng.gauss(demand / cost, math.sqrt(demand / cost)), 0) * cost
        given = min(asked, tokens)
        tokens -= given
        refused += (asked - given) / cost
    return refused


def as_data(found: Model) -> dict[str, object]:
    """All figures."""
    keys = [asdict(key) | {"share": round(key.share, 4)} for key in found.keys]
    return asdict(found) | {"keys": keys, "per_minute": PER_MINUTE}


def as_text(found: Model) -> str:
    """The tables."""
    totals = [
        [each.what, f"{each.used:,.0f}", f"{each.quota:,}", f"{each.used / each.quota:.2f}"]
        for each in found.totals
    ]
    keys = [
        [
            key.kind,
            f"{key.writes:,.2f}",
            f"{key.reads:,.2f}",
            f"{key.share:.1%}",
            _agents(key, found),
        ]
        for key in found.keys
    ]
    limits = [[what, f"{share:.0%}", then] for what, share, then in found.list_limits()]
    refused = ", ".join(f"{share:.1%} at {at}" for at, share in found.throttled.items())
    return "\n\n".join(
        [
            text_table([f"{found.agents:,} agents", "used", "default quota", "ratio"], totals),
            text_table(
                ["hottest key", "write units/s", "read units/s", "of its limit", "full at"], keys
            ),
            text_table(["first limits", "used", "what raises it"], limits),
            f"Partitions that the load needs: {found.partitions}; hashed keys spread over them.",
            f"Semantic writes refused in ten minutes, popularity by Zipf's law: {refused}.",
        ]
    )


def _agents(key: Key, found: Model) -> str:
    return f"{found.agents / key.share:,.0f} agents"
