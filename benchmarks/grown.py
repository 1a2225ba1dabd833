"""What grows while its operations are measured: each kind of memory, in its worst case.

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
_AT_ONCE = 50
_MOST_OWNED = 100_000
_FULLNESS = 0.8  # below 90 %, from which on reads count (decision 0012)
_MESSAGE = {"role": "user", "content": "x" * 800}
_RUN_ENTRY = {"content": "x" * 800, "tags": ["billing"]}


class Subject(Protocol):
    """A memory that grows.

    `growing`: the operations that are allowed to cost more as it does. `operations` gives them
    one after another, each made of what those before it left; together they leave it as it was,
    or a few entries larger.
    """

    growing: frozenset[str]

    def grow(self, to: int) -> None: ...

    def operations(self) -> Iterator[tuple[str, Operation]]: ...


Maker = Callable[[Function, Caller], Subject]


class _Entries:
    """Entries of one tier, made in batches, and one entry's life."""

    growing: frozenset[str] = frozenset()
    _tier: str

    def __init__(self, owner: Caller) -> None:
        self._owner = owner
        self._stored = 0
        self._numbers = count()
        self._made: Any = None

    def _fill(self, to: int, tags: list[str]) -> None:
        while self._stored < to:
            many = min(_AT_ONCE // 2, to - self._stored)
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
    growing = frozenset({"query own memory"})

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
        yield "query own memory", self._own

    def _own(self) -> list[Call]:
        return self._query(agent_id=self._owner.id, tags="billing", limit=_PAGE)


class SharedMemory(_Entries):
    """One namespace's semantic memory: 10 entries have two rare tags, all others a third one."""

    _tier = "semantic"
    growing = frozenset({"query by a tag of all", "query a namespace"})

    def __init__(self, _function: Function, admin: Caller) -> None:
        super().__init__(admin)
        for number in range(_MATCHES):
            body = entry(admin.id, f"match-{number}", self._tier, ["urgent", "billing", "other"])
            admin.send("POST", _MEMORY, body)

    def grow(self, to: int) -> None:
        self._fill(to - _MATCHES, ["other"])

    def operations(self) -> Iterator[tuple[str, Operation]]:
        yield from self._life()
        yield "query by two tags, 10 match", lambda: self._tagged("urgent,billing")
        yield "query by a tag of all", lambda: self._tagged("other")
        yield "query a namespace", self._in_namespace

    def _tagged(self, tags: str) -> list[Call]:
        return self._in_namespace(tags=tags)

    def _in_namespace(self, **filters: str) -> list[Call]:
        place = {"memory_type": "semantic", "namespace": "invoice_processing"}
        return self._query(**place, **filters, limit=_PAGE)


class Conversation:
    """One conversation's messages."""

    growing: frozenset[str] = frozenset()
    _target = "/api/v1/conversations/long"

    def __init__(self, _function: Function, admin: Caller) -> None:
        self._admin = admin
        self._stored = 0
        admin.send("PUT", self._target, {"user_id": "user_1"})

    def grow(self, to: int) -> None:
        while self._stored < to:
            many = min(_AT_ONCE, to - self._stored)
            body = {"messages": [_MESSAGE] * many}
            self._admin.send("POST", f"{self._target}/messages", body)
            self._stored += many

    def operations(self) -> Iterator[tuple[str, Operation]]:
        yield "append a message", self._append
        for place, offset in (("first", 0), ("middle", self._stored // 2)):
            target = f"{self._target}?offset={offset}&limit={_PAGE}"
            yield f"{place} page of 10 messages", lambda at=target: self._admin.get(at)
        yield "conversations of a user", lambda: self._admin.get("/api/v1/users/user_1/conversations")

    def _append(self) -> list[Call]:
        return self._admin.call("POST", f"{self._target}/messages", _MESSAGE).calls


class RunMemory:
    """One memory of OpenWOP's runs; a run sees the 10 entries that were there when it began."""

    growing: frozenset[str] = frozenset()

    def __init__(self, _function: Function, admin: Caller) -> None:
        self._admin = admin
        self._stored = _MATCHES
        self._memory = f"/v1/memory/{self._start()['memoryRef']}"
        self._made: Any = None
        for _ in range(_MATCHES):
            admin.send("POST", self._memory, _RUN_ENTRY)
        self._run = f"runId={self._start()['runId']}"

    def _start(self) -> Any:
        return self._admin.send("POST", "/v1/runs", {"agent": "a"})

    def grow(self, to: int) -> None:
        for _ in range(to - self._stored):
            self._admin.send("POST", self._memory, _RUN_ENTRY)
        self._stored = to

    def operations(self) -> Iterator[tuple[str, Operation]]:
        yield "OpenWOP: put, 1 tag", self._put
        target = f"{self._memory}/{{}}"
        yield "OpenWOP: get", lambda: self._admin.get(target.format(self._made["id"]))
        yield "OpenWOP: list 10 in a run", lambda: self._admin.get(f"{self._memory}?{self._run}")
        yield "OpenWOP: delete", lambda: self._delete(target)

    def _put(self) -> list[Call]:
        answer = self._admin.call("POST", self._memory, _RUN_ENTRY)
        self._made = answer.body
        return answer.calls

    def _delete(self, target: str) -> list[Call]:
        return self._admin.call("DELETE", target.format(self._made["id"])).calls


class States:
    """An agent's states for one owner."""

    growing: frozenset[str] = frozenset()

    def __init__(self, _function: Function, admin: Caller) -> None:
        self._admin = admin
        self._stored = 0

    def grow(self, to: int) -> None:
        for number in range(self._stored, to):
            self._admin.send("PUT", self._target(number), {"value": value(number)})
        self._stored = to

    def operations(self) -> Iterator[tuple[str, Operation]]:
        target = self._target(self._stored // 2)
        yield "put state", lambda: self._admin.call("PUT", target, {"value": value(7)}).calls
        yield "get state", lambda: self._admin.get(target)

    def _target(self, number: int) -> str:
        return f"/api/v1/agents/a/state/user_1/key-{number}"


SUBJECTS: tuple[Maker, ...] = (OwnMemory, SharedMemory, Conversation, RunMemory, States)
