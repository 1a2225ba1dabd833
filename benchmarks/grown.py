"""Measure operations on entries while their number grows, in the worst case.

All elements are in the one partition that the operations read.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any
from urllib.parse import urlencode

from benchmarks.capacity import Call
from benchmarks.inprocess import Caller, Function
from benchmarks.workload import entry, value
from functions.entries.tiers import Tier

TENANT = "bench"
Operation = Callable[[], list[Call]]
_MEMORY = "/api/v1/memory"
_MATCHES, _PAGE = 10, 10
_MOST_OWNED = 100_000


class Subject:
    """A memory that grows, and the operations that are measured on it.

    Operations run in order, and each can use the results of earlier ones. Together they leave the
    memory as it was, or a few elements larger.

    Attributes:
        growing: the operations whose cost may grow with the memory.
        examined: the operations that examine more of it, up to the limit of a page.
        lists: the routes of the lists whose pages are measured.
        most: the largest size that can be filled in acceptable time.
    """

    growing: frozenset[str] = frozenset()
    examined: frozenset[str] = frozenset()
    lists: tuple[str, ...] = ()
    most = 10_000

    def __init__(self, _function: Function, admin: Caller) -> None:
        self._admin = admin
        self._stored = 0

    def grow(self, to: int) -> None:
        """Add elements until there are `to`."""
        for number in range(self._stored, to):
            self._add(number)
        self._stored = to

    def _add(self, number: int) -> None:
        raise NotImplementedError

    def operations(self) -> Iterator[tuple[str, Operation]]:
        """Yield the operations with their names."""
        raise NotImplementedError


Maker = Callable[[Function, Caller], Subject]


class Entries(Subject):
    """Entries of one type, and the life of one more entry."""

    lists: tuple[str, ...] = ("/api/v1/memory",)
    _tier: Tier
    _tags: tuple[str, ...]

    def __init__(self, function: Function, owner: Caller) -> None:
        super().__init__(function, owner)
        self.owner = owner
        self._numbers = count()
        self._made: Any = None
        self._create()  # the first create also writes counters and permissions
        self.owner.call("DELETE", self._target)

    def _add(self, number: int) -> None:
        body = entry(self.owner.id, f"filling-{number}", self._tier, self._tags)
        self.owner.send("POST", _MEMORY, body)

    def _life(self) -> Iterator[tuple[str, Operation]]:
        yield f"create {self._tier}", self._create
        yield f"get {self._tier} by id", lambda: self.owner.calls("GET", self._target)
        yield f"get {self._tier} by key", self._by_key
        yield f"patch {self._tier}", self._patch
        yield f"delete {self._tier}", lambda: self.owner.calls("DELETE", self._target)

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
        return self.owner.calls("PATCH", self._target, {"value": value(15)}, if_match="1")

    def _query(self, **filters: str | int) -> list[Call]:
        return self.owner.calls("GET", f"{_MEMORY}?{urlencode(filters)}")


class OwnMemory(Entries):
    """One agent's episodic memory."""

    _tier, _tags = "episodic", ("billing",)
    growing: frozenset[str] = frozenset({"query own memory, counted"})
    examined: frozenset[str] = frozenset(
        {"own memory, of a tag that none has", "own memory, changed lately"}
    )
    lists: tuple[str, ...] = (
        "/api/v1/memory",
        "/api/v1/agents/{agent_id+}/memory",
        "/api/v1/agents/{agent_id+}/memory/eviction",
    )

    def __init__(self, function: Function, admin: Caller) -> None:
        super().__init__(function, function.new_agent(admin, "owner"))
        target = f"/api/v1/agents/{self.owner.id}/memory"
        admin.send("PATCH", f"{target}/config", {"episodic": {"capacity": _MOST_OWNED}})
        self._summary = f"{target}/summary"

    def operations(self) -> Iterator[tuple[str, Operation]]:
        yield from self._life()
        yield "summary", lambda: self.owner.calls("GET", self._summary)
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
        yield "query own memory, counted", self._own

    def _own(self, **filters: str) -> list[Call]:
        of: dict[str, str | int] = {"agent_id": self.owner.id, "tags": "billing", "limit": _PAGE}
        return self._query(**(of | filters))

    def _find_later(self) -> str:
        """Find the cursor after a quarter of the entries, at most 1,000."""
        skipped = min(self._stored // 4, 1000)
        query = {"agent_id": self.owner.id, "tags": "billing", "total": "none", "values": "omit"}
        target = f"{_MEMORY}?{urlencode(query | {'limit': skipped})}"
        cursor: str = self.owner.call("GET", target).body["next"]
        return cursor


class SharedMemory(Entries):
    """One namespace's semantic memory: 10 entries have two rare tags, and all have a third one."""

    _tier, _tags = "semantic", ("other",)
    growing: frozenset[str] = frozenset(
        {"query by a tag of all, counted", "query a namespace, counted"}
    )
    examined: frozenset[str] = frozenset({"shared memory, of an intent that none has"})

    def __init__(self, function: Function, admin: Caller) -> None:
        super().__init__(function, admin)
        for number in range(_MATCHES):
            body = entry(admin.id, f"match-{number}", self._tier, ["urgent", "billing", "other"])
            admin.send("POST", _MEMORY, body)

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
        yield "query by a tag of all, counted", lambda: self._in_namespace(tags="other")
        yield "query a namespace, counted", self._in_namespace

    def _in_namespace(self, **filters: str) -> list[Call]:
        place = {"memory_type": "semantic", "namespace": "invoice_processing"}
        return self._query(**place, **filters, limit=_PAGE)
