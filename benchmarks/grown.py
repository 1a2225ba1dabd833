"""Entries that grow in number while their operations are measured, in the worst case.

Every subject keeps all that it stores in the one partition that its operations work on.
"""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, Protocol
from urllib.parse import urlencode

from benchmarks.capacity import Call
from benchmarks.inprocess import Caller, Function
from benchmarks.workload import entry, value

Operation = Callable[[], list[Call]]
_MEMORY = "/api/v1/memory"
_MATCHES, _PAGE = 10, 10
_AT_ONCE = 25  # an entry with a tag takes three of the 100 items of a transaction
_MOST_OWNED = 100_000
BY_BATCHES, ONE_BY_ONE = 1_000_000, 10_000
_FULLNESS = 0.8  # below 90 %, from which on reads count (decision 0012)


class Subject(Protocol):
    """A memory that grows.

    `growing`: the operations that are allowed to cost more as it does. `most`: how many it is
    filled with in bearable time. `operations` gives them one after another, each made of what those
    before it left; together they leave it as it was, or a few entries larger.
    """

    growing: frozenset[str]
    most: int

    def grow(self, to: int) -> None: ...

    def operations(self) -> Iterator[tuple[str, Operation]]: ...


Maker = Callable[[Function, Caller], Subject]


class _Entries:
    """Entries of one tier, made in batches, and one entry's life."""

    growing: frozenset[str] = frozenset()
    most = BY_BATCHES
    _tier: str

    def __init__(self, owner: Caller) -> None:
        self._owner = owner
        self._stored = 0
        self._numbers = count()
        self._made: Any = None

    def _fill(self, to: int, tags: list[str]) -> None:
        while self._stored < to:
            many = min(_AT_ONCE, to - self._stored)
            keys = [f"filling-{self._stored + number}" for number in range(many)]
            bodies = [entry(self._owner.id, key, self._tier, tags) for key in keys]
            self._owner.send("POST", f"{_MEMORY}/batch", {"entries": bodies})
            self._stored += many

    def _life(self) -> Iterator[tuple[str, Operation]]:
        yield f"create {self._tier}", self._create
        yield f"get {self._tier} by id", lambda: self._owner.call("GET", self._target).calls
        yield f"get {self._tier} by key", self._by_key
        yield f"patch {self._tier}", self._patch
        yield f"delete {self._tier}", lambda: self._owner.call("DELETE", self._target).calls

    @property
    def _target(self) -> str:
        return f"{_MEMORY}/{self._made['id']}"

    def _create(self) -> list[Call]:
        body = entry(self._owner.id, f"measured-{next(self._numbers)}", self._tier, ["step"])
        answer = self._owner.call("POST", _MEMORY, body)
        self._made = answer.body
        return answer.calls

    def _by_key(self) -> list[Call]:
        place = {name: self._made[name] for name in ("namespace", "key", "memory_type")}
        return self._query(**place)

    def _patch(self) -> list[Call]:
        return self._owner.call("PATCH", self._target, {"value": value(7)}, if_match="1").calls

    def _query(self, **filters: str | int) -> list[Call]:
        return self._owner.call("GET", f"{_MEMORY}?{urlencode(filters)}").calls


class OwnMemory(_Entries):
    """One agent's episodic memory."""

    _tier = "episodic"
    growing = frozenset({"query own memory, counted"})

    def __init__(self, function: Function, admin: Caller) -> None:
        super().__init__(function.new_agent(admin, "owner"))
        target = f"/api/v1/agents/{self._owner.id}/memory"
        admin.send("PATCH", f"{target}/config", {"episodic": {"capacity": _MOST_OWNED}})
        self._summary = f"{target}/summary"

    def grow(self, to: int) -> None:
        self._fill(int(to * _FULLNESS), ["billing"])

    def operations(self) -> Iterator[tuple[str, Operation]]:
        yield from self._life()
        yield "summary", lambda: self._owner.call("GET", self._summary).calls
        yield "query own memory", lambda: self._own(total="none")
        after = self._find_later()
        yield "later page of own memory", lambda: self._own(total="none", after=after)
        yield "query own memory, counted", self._own

    def _own(self, **paging: str) -> list[Call]:
        return self._query(agent_id=self._owner.id, tags="billing", limit=_PAGE, **paging)

    def _find_later(self) -> str:
        """Find the cursor of a page of 10 after a quarter, at most 1,000 from the begin."""
        skipped = min(self._stored // 4, 1000)
        query = {"agent_id": self._owner.id, "tags": "billing", "total": "none", "values": "omit"}
        target = f"{_MEMORY}?{urlencode(query | {'limit': skipped})}"
        cursor: str = self._owner.call("GET", target).body["next"]
        return cursor


class SharedMemory(_Entries):
    """One namespace's semantic memory: 10 entries have two rare tags, all others a third one."""

    _tier = "semantic"
    growing = frozenset({"query by a tag of all, counted", "query a namespace, counted"})

    def __init__(self, _function: Function, admin: Caller) -> None:
        super().__init__(admin)
        for number in range(_MATCHES):
            body = entry(admin.id, f"match-{number}", self._tier, ["urgent", "billing", "other"])
            admin.send("POST", _MEMORY, body)

    def grow(self, to: int) -> None:
        self._fill(to - _MATCHES, ["other"])

    def operations(self) -> Iterator[tuple[str, Operation]]:
        yield from self._life()
        yield "query by two tags, 10 match", lambda: self._in_namespace(tags="urgent,billing")
        yield "query by a tag of all", lambda: self._in_namespace(tags="other", total="none")
        yield "query a namespace", lambda: self._in_namespace(total="none")
        yield "query by a tag of all, counted", lambda: self._in_namespace(tags="other")
        yield "query a namespace, counted", self._in_namespace

    def _in_namespace(self, **filters: str) -> list[Call]:
        place = {"memory_type": "semantic", "namespace": "invoice_processing"}
        return self._query(**place, **filters, limit=_PAGE)
