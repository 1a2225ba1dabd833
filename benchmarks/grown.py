"""Entries that grow in number while their operations are measured, in the worst case.

Every subject keeps all that it stores in the one partition that its operations work on.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any, Protocol
from urllib.parse import urlencode

from benchmarks.capacity import Call
from benchmarks.inprocess import Caller, Function
from benchmarks.seeding import build_entry_puts
from benchmarks.workload import entry, value
from functions.entries.tiers import Tier
from functions.platform.bulk_writes import write_parallel
from functions.platform.clock import now_ms
from functions.platform.table import Table
from functions.platform.writes import Write

TENANT = "bench"
Operation = Callable[[], list[Call]]
_MEMORY = "/api/v1/memory"
_MATCHES, _PAGE = 10, 10
_MOST_OWNED = 100_000
_MOST_COUNTED = 100_000  # that are counted in bearable time
BY_BATCHES, ONE_BY_ONE = 1_000_000, 10_000
_FULLNESS = 0.8  # below 90 %, from which on reads count (decision 0012)


class Subject(Protocol):
    """A memory that grows.

    `growing`: the operations that are allowed to cost more as it does. `examined`: those that
    examine more of it, up to the limit of a page. `lists`: the routes of the lists of which it
    measures pages. `most`: how many it is filled with in bearable time. `operations` gives them one
    after another, each made of what those before it left; together they leave it as it was, or a
    few entries larger.
    """

    growing: frozenset[str]
    examined: frozenset[str]
    lists: tuple[str, ...]
    most: int

    def grow(self, to: int) -> None: ...

    def operations(self) -> Iterator[tuple[str, Operation]]: ...


Maker = Callable[[Function, Caller], Subject]


class Entries:
    """Entries of one tier, stored past the service, and one entry's life.

    Their counters don't know of those that are stored, which nothing that is measured depends on.
    """

    growing: frozenset[str] = frozenset()
    examined: frozenset[str] = frozenset()
    lists: tuple[str, ...] = ("/api/v1/memory",)
    most = BY_BATCHES
    _tier: Tier
    _owner_id: str
    _tags: tuple[str, ...]
    _age = 0  # ms, of the newest entry that is stored past the service

    def __init__(self, function: Function, owner: Caller, size: int) -> None:
        self.owner = owner
        self._table = Table(function.client, "memory")
        self._size = size
        self._numbers = count()
        self._made: Any = None
        self._create()  # the first one is measured nowhere: it makes counters and permissions,
        self.owner.call("DELETE", self._target)  # and would be among those that are listed

    @staticmethod
    def _count(size: int) -> int:
        """Return how many entries a store of a size holds."""
        raise NotImplementedError

    @classmethod
    def build_puts(cls, to: int, size: int = 0) -> Iterator[Write]:
        """Build what a store needs to grow to a size."""
        numbers = range(cls._count(size), cls._count(to))
        newest = now_ms() - cls._age
        return build_entry_puts(TENANT, cls._owner_id, cls._tier, numbers, cls._tags, newest)

    def grow(self, to: int) -> None:
        write_parallel(self._table, self.build_puts(to, self._size))
        self._size = to

    def operations(self) -> Iterator[tuple[str, Operation]]:
        """Give the operations that are measured, as `Subject` says."""
        raise NotImplementedError

    def _life(self) -> Iterator[tuple[str, Operation]]:
        yield f"create {self._tier}", self._create
        yield f"get {self._tier} by id", lambda: self.owner.call("GET", self._target).calls
        yield f"get {self._tier} by key", self._by_key
        yield f"patch {self._tier}", self._patch
        yield f"delete {self._tier}", lambda: self.owner.call("DELETE", self._target).calls

    @property
    def _target(self) -> str:
        return f"{_MEMORY}/{self._made['id']}"

    def _create(self) -> list[Call]:
        body = entry(self.owner.id, f"measured-{next(self._numbers):05}", self._tier, ["step"])
        answer = self.owner.call("POST", _MEMORY, body)
        self._made = answer.body
        return answer.calls

    def _by_key(self) -> list[Call]:
        place = {name: self._made[name] for name in ("namespace", "key", "memory_type")}
        return self._query(**place)

    def _patch(self) -> list[Call]:
        return self.owner.call("PATCH", self._target, {"value": value(15)}, if_match="1").calls

    def _query(self, **filters: str | int) -> list[Call]:
        return self.owner.call("GET", f"{_MEMORY}?{urlencode(filters)}").calls


class OwnMemory(Entries):
    """One agent's episodic memory."""

    _tier, _owner_id, _tags = "episodic", "owner", ("billing",)
    growing: frozenset[str] = frozenset({"query own memory, counted"})
    examined: frozenset[str] = frozenset(
        {"own memory, of a tag that none has", "own memory, changed lately"}
    )
    lists: tuple[str, ...] = (
        "/api/v1/memory",
        "/api/v1/agents/{agent_id+}/memory",
        "/api/v1/agents/{agent_id+}/memory/eviction",
    )

    def __init__(self, function: Function, admin: Caller, size: int = 0) -> None:
        super().__init__(function, function.new_agent(admin, self._owner_id), size)
        target = f"/api/v1/agents/{self.owner.id}/memory"
        admin.send("PATCH", f"{target}/config", {"episodic": {"capacity": _MOST_OWNED}})
        self._summary = f"{target}/summary"

    @staticmethod
    def _count(size: int) -> int:
        return int(size * _FULLNESS)

    def operations(self) -> Iterator[tuple[str, Operation]]:
        yield from self._life()
        yield "summary", lambda: self.owner.call("GET", self._summary).calls
        yield "query own memory", lambda: self._own(total="none")
        after = self._find_later()
        yield "later page of own memory", lambda: self._own(total="none", after=after)
        for name, path in (
            ("first page of own memory, bare", f"/api/v1/agents/{self.owner.id}/memory"),
            ("first page to be evicted", f"/api/v1/agents/{self.owner.id}/memory/eviction"),
        ):
            yield name, partial(self.owner.get, f"{path}?total=none&limit={_PAGE}")
        yield "own memory, of a tag that none has", lambda: self._own(total="none", tags="rare")
        yield (
            "own memory, changed lately",
            lambda: self._own(total="none", updated_after="2100-01-01T00:00:00Z"),
        )
        if self._size <= _MOST_COUNTED:
            yield "query own memory, counted", self._own

    def _own(self, **filters: str) -> list[Call]:
        of: dict[str, str | int] = {"agent_id": self.owner.id, "tags": "billing", "limit": _PAGE}
        return self._query(**(of | filters))

    def _find_later(self) -> str:
        """Find the cursor of a page of 10 after a quarter, at most 1,000 from the begin."""
        skipped = min(self._count(self._size) // 4, 1000)
        query = {"agent_id": self.owner.id, "tags": "billing", "total": "none", "values": "omit"}
        target = f"{_MEMORY}?{urlencode(query | {'limit': skipped})}"
        cursor: str = self.owner.call("GET", target).body["next"]
        return cursor


class SharedMemory(Entries):
    """One namespace's semantic memory: 10 entries have two rare tags, all others a third one."""

    _tier, _owner_id, _tags = "semantic", "admin", ("other",)
    _age = 3_600_000  # counted queries read what was created within the last seconds
    growing: frozenset[str] = frozenset(
        {"query by a tag of all, counted", "query a namespace, counted"}
    )
    examined: frozenset[str] = frozenset({"shared memory, of an intent that none has"})

    def __init__(self, function: Function, admin: Caller, size: int = 0) -> None:
        super().__init__(function, admin, size)
        for number in range(_MATCHES):
            body = entry(admin.id, f"match-{number}", self._tier, ["urgent", "billing", "other"])
            admin.send("POST", _MEMORY, body)

    @staticmethod
    def _count(size: int) -> int:
        return max(size - _MATCHES, 0)

    def operations(self) -> Iterator[tuple[str, Operation]]:
        yield from self._life()
        yield "query by two tags, 10 match", lambda: self._in_namespace(tags="urgent,billing")
        yield "query by a tag of all", lambda: self._in_namespace(tags="other", total="none")
        yield "query a namespace", lambda: self._in_namespace(total="none")
        yield (
            "query by a rare tag and one of all",
            lambda: self._in_namespace(tags="urgent,other", total="none"),
        )
        yield (
            "shared memory, of an intent that none has",
            lambda: self._in_namespace(total="none", **{"scope.intent_id": "none"}),
        )
        if self._size <= _MOST_COUNTED:
            yield "query by a tag of all, counted", lambda: self._in_namespace(tags="other")
            yield "query a namespace, counted", self._in_namespace

    def _in_namespace(self, **filters: str) -> list[Call]:
        place = {"memory_type": "semantic", "namespace": "invoice_processing"}
        return self._query(**place, **filters, limit=_PAGE)
