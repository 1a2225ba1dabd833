"""DynamoDB calls and capacity units of each operation, compared with their limits."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode

from benchmarks import behind, rows
from benchmarks.capacity import TRIES, Call, find_promptest, in_sequence
from benchmarks.inprocess import Caller, function
from benchmarks.tables import text_table
from benchmarks.workload import entry

_OWNED, _MATCHES = 100, 10
_MEMORY = "/api/v1/memory"


class Limit(NamedTuple):
    """The maximum of calls in sequence and of the table's units; None is no limit."""

    calls: int
    write: float
    read: float | None


@dataclass(frozen=True, slots=True)
class Cost:
    """The calls and units of one operation on an entry of 1 KB."""

    operation: str
    limit: Limit
    calls: int
    in_sequence: int
    write: float
    index_write: float
    read: float

    @property
    def above(self) -> bool:
        """Tell whether a figure exceeds its limit."""
        used = (self.in_sequence, self.write, self.read)
        return any(a is not None and u > a for u, a in zip(used, self.limit, strict=True))


def measure() -> list[Cost]:
    """Measure each operation once on empty tables in memory. Raises `RequestError`."""
    with function() as running:
        admin = running.new_tenant("bench")
        owned = [*_own(_agent(admin, "owner")), _at_capacity(admin)]
        target = f"{_MEMORY}?agent_id=newcomer&namespace=none&key=none"
        first = admin.function.new_agent(admin, "newcomer").get(target)  # its key is not cached
        owned.append(_cost("get by key, unknown caller", Limit(2, 0, 2), first))
        others = [
            _cost(name, Limit(*limit), calls)
            for part in (rows, behind)
            for name, limit, calls in part.operations(admin)
        ]
        return [*owned, *_shared(admin), *others]


def _agent(admin: Caller, name: str) -> Caller:
    agent = admin.function.new_agent(admin, name)
    _query(agent, memory_type="episodic", limit=1)  # the first request of a key reads it
    return agent


def _create(
    caller: Caller, name: str, tier: str, tags: Sequence[str] = ()
) -> tuple[Any, list[Call]]:
    answer = caller.call("POST", _MEMORY, entry(caller.id, name, tier, tags))
    return answer.body, answer.calls


def _query(caller: Caller, **filters: str | int) -> list[Call]:
    return caller.get(f"{_MEMORY}?{urlencode(filters)}")


def _own(agent: Caller) -> Iterator[Cost]:
    """Yield the costs of an agent's private memory."""
    for tier in ("working", "episodic"):
        _create(agent, f"first-{tier}", tier)
        made, calls = _create(agent, f"measured-{tier}", tier, ["billing"])
        yield _cost(f"create {tier}", Limit(1, 4, 0), calls)
        yield from _reads(agent, made, tier)
    target = f"{_MEMORY}/{made['id']}"
    yield from _changes(agent, target, made["value"])
    yield from _puts(agent)
    yield _cost("delete", Limit(2, 6, 1), agent.calls("DELETE", target))
    for number in range(_OWNED - 3):
        _create(agent, f"more-{number}", "episodic")
    calls = _query(agent, agent_id=agent.id, limit=_MATCHES, tags="billing")
    yield _cost(f"query own, {_OWNED} of 1 KB", Limit(1, 0, _OWNED / 4), calls)


def _changes(agent: Caller, target: str, present: dict[str, Any]) -> Iterator[Cost]:
    """Change a value to one of the same size, and to a larger one, which changes counters."""
    calls = agent.calls("PATCH", target, {"value": present}, if_match="1")
    yield _cost("patch value", Limit(1, 1, 0), calls)
    calls = agent.calls("PATCH", target, {"value": present | {"more": 1}}, if_match="2")
    yield _cost("patch value of another size", Limit(2, 5, 0), calls)


def _puts(agent: Caller) -> Iterator[Cost]:
    """Put a new entry, and put it again with a value of the same size."""
    body = entry(agent.id, "put", "working", ())
    for name, limit in (("put new working", Limit(2, 4, 0)), ("put value", Limit(1, 1, 0))):
        yield _cost(name, limit, agent.calls("PUT", _MEMORY, body))


def _reads(agent: Caller, made: Any, tier: str) -> Iterator[Cost]:
    """Read one entry; reads of an episodic entry include the agent's counters (decision 12)."""
    most = 1 if tier == "working" else 2
    by_id, by_key = Limit(1, 0, most), Limit(most, 0, most)
    yield _cost(f"get {tier} by id", by_id, agent.get(f"{_MEMORY}/{made['id']}"))
    place = {"agent_id": agent.id, "namespace": made["namespace"], "key": made["key"]}
    yield _cost(f"get {tier} by key", by_key, _query(agent, **place))


def _at_capacity(admin: Caller) -> Cost:
    """Create an entry that evicts another, after the function has seen the agent at capacity."""
    agent = _agent(admin, "full")
    target = f"/api/v1/agents/{agent.id}/memory/config"
    admin.call("PATCH", target, {"episodic": {"capacity": 2}})
    for number in range(3):
        _create(agent, f"filling-{number}", "episodic")
    names = (f"measured-{number}" for number in range(TRIES))
    calls = find_promptest(lambda: _create(agent, next(names), "episodic")[1])
    return _cost("create episodic at capacity", Limit(2, 12, 2), calls)


def _shared(admin: Caller) -> Iterator[Cost]:
    """Yield the costs of semantic memory, after a first write that creates the namespace."""
    _create(admin, "first", "semantic")
    for count in (0, 5):
        tags = [f"tag-{number}" for number in range(count)]
        made, calls = _create(admin, f"tagged-{count}", "semantic", tags)
        yield _cost(f"create semantic, {count} tags", Limit(2, 2 * count + 4, 2), calls)
    calls = find_promptest(lambda: admin.get(f"{_MEMORY}/{made['id']}"))
    yield _cost("get semantic by id", Limit(1, 0, 3), calls)
    yield from _shared_queries(admin)


def _shared_queries(admin: Caller) -> Iterator[Cost]:
    """Query the same matches among few and among many entries, at the same cost."""
    for number in range(_MATCHES):
        _create(admin, f"match-{number}", "semantic", ["urgent", "billing"])
    few = _tag_query(admin)
    yield _cost(f"query semantic by 2 tags, {_MATCHES} of 13", Limit(3, 0, None), few)
    for number in range(_OWNED):
        _create(admin, f"other-{number}", "semantic", ["other"])
    most = sum(call.read + call.index_read for call in few)
    name = f"query semantic by 2 tags, {_MATCHES} of {_OWNED + 13}"
    yield _cost(name, Limit(3, 0, most), _tag_query(admin))


def _tag_query(admin: Caller) -> list[Call]:
    namespace = "invoice_processing"
    filters = {"memory_type": "semantic", "namespace": namespace, "tags": "urgent,billing"}
    return find_promptest(lambda: _query(admin, **filters, limit=_MATCHES))


def _cost(operation: str, limit: Limit, calls: Sequence[Call]) -> Cost:
    write = sum(each.write for each in calls)
    index_write = sum(each.index_write for each in calls)
    read = sum(each.read + each.index_read for each in calls)
    return Cost(operation, limit, len(calls), in_sequence(calls), write, index_write, read)


def as_text(costs: Sequence[Cost]) -> str:
    """Render the table."""
    heads = ["operation, entries of 1 KB", "calls", "in sequence", "limit", "write units", "limit"]
    heads += ["in indexes", "read units", "limit", ""]
    return text_table(heads, [_cells(cost) for cost in costs])


def _cells(cost: Cost) -> list[str]:
    limit = cost.limit
    calls = (cost.calls, cost.in_sequence, limit.calls)
    units = (cost.write, limit.write, cost.index_write, cost.read, limit.read)
    figures = ["-" if each is None else f"{each:g}" for each in (*calls, *units)]
    return [cost.operation, *figures, "ABOVE" if cost.above else ""]
