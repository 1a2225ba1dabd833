"""Memories that grow, and the operations that are measured on them, in the worst case.

All elements are in the one partition that the operations read. The cost of an operation whose name
ends with `counted` may grow with the memory. A search for elements that do not exist examines more
of it, up to the limit of a page.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any
from urllib.parse import urlencode

from benchmarks import behind
from benchmarks.capacity import Call
from benchmarks.inprocess import Answer, Caller
from benchmarks.workload import entry, value
from functions.entries.tiers import Tier

TENANT = "bench"
Operation = Callable[[], list[Call]]
Named = Iterator[tuple[str, Operation]]
_MEMORY, _TASKS, _RUNS = "/api/v1/memory", "/api/v1/tasks", "/api/v1/runs"
_OBJECTS, _PROCEDURES = "/api/v1/objects", "/api/v1/procedures/sdr"
_FACTS = "/api/v1/facts"
_STATE, _USER = "/api/v1/agents/admin/state", "/api/v1/users/ada/conversations"
_CONVERSATION, _INTENT = "/api/v1/conversations/long", "/api/v1/intents/growing/tasks"
_MATCHES, _AT_ONCE, _FEW, _MOST_OWNED = 10, 50, 3, 100_000
_MESSAGE = {"role": "user", "content": "x" * 800}
_RUN_ENTRY = {"content": "x" * 800, "tags": ["billing"]}


class Subject:
    """A memory that grows, and the operations that are measured on it.

    Operations run in order, and each can use the results of earlier ones. Together they leave the
    memory as it was, or a few elements larger.

    Attributes:
        lists: the routes of the lists whose pages are measured.
        pages: the name of each page of a list, and its path with filters.
        page: the number of elements of a page.
        most: the largest size that can be filled in acceptable time.
    """

    lists: tuple[str, ...] = ()
    pages: tuple[tuple[str, str], ...] = ()
    page = 10
    most = 10_000

    def __init__(self, admin: Caller) -> None:
        self._admin, self._stored = admin, 0

    def grow(self, to: int) -> None:
        """Add elements until there are `to`."""
        for number in range(self._stored, to):
            self._add(number)
        self._stored = to

    def _add(self, number: int) -> None:
        raise NotImplementedError

    def operations(self) -> Named:
        """Yield the operations with their names; unless more is said, the first page of lists."""
        for name, path in self.pages:
            # logs have no totals, and reject the parameter
            paging = f"limit={self.page}" + ("" if "/audit" in path else "&total=none")
            yield name, partial(self._admin.get, f"{path}{'&' if '?' in path else '?'}{paging}")


class Entries(Subject):
    """Entries of one tier, and the life of one more entry."""

    lists: tuple[str, ...] = (_MEMORY,)
    _tier: Tier
    _tags: tuple[str, ...]

    def __init__(self, owner: Caller) -> None:
        super().__init__(owner)
        self._numbers, self._made = count(), dict[str, Any]()
        self._create()  # the first create also writes counters and permissions
        self._admin.call("DELETE", self._target)

    def _add(self, number: int) -> None:
        body = entry(self._admin.id, f"filling-{number}", self._tier, self._tags)
        self._admin.send("POST", _MEMORY, body)

    def operations(self) -> Named:
        yield f"create {self._tier}", self._create
        yield f"get {self._tier} by id", lambda: self._admin.get(self._target)
        yield f"get {self._tier} by key", self._get_by_key
        yield f"patch {self._tier}", self._patch
        yield f"delete {self._tier}", lambda: self._admin.calls("DELETE", self._target)
        yield from super().operations()

    @property
    def _target(self) -> str:
        return f"{_MEMORY}/{self._made['id']}"

    def _create(self) -> list[Call]:
        body = entry(self._admin.id, f"measured-{next(self._numbers):05}", self._tier, ["step"])
        answer = self._admin.call("POST", _MEMORY, body)
        self._made = answer.body
        return answer.calls

    def _get_by_key(self) -> list[Call]:
        place = {name: self._made[name] for name in ("namespace", "key", "memory_type")}
        return self._admin.get(f"{_MEMORY}?{urlencode(place)}")

    def _patch(self) -> list[Call]:
        return self._admin.calls("PATCH", self._target, {"value": value(15)}, if_match="1")


class OwnMemory(Entries):
    """One agent's episodic memory."""

    _tier, _tags = "episodic", ("billing",)
    _agent = "/api/v1/agents/owner/memory"
    _own = f"{_MEMORY}?agent_id=owner&tags=billing"
    lists = (_MEMORY, *(f"/api/v1/agents/{{agent_id+}}/memory{e}" for e in ("", "/eviction")))
    pages = (
        ("query own memory", _own),
        ("first page of own memory, bare", _agent),
        ("first page to be evicted", f"{_agent}/eviction"),
        ("own memory, of a tag that none has", f"{_MEMORY}?agent_id=owner&tags=rare"),
        ("own memory, of a time that none has", f"{_own}&updated_after=2100-01-01T00:00:00Z"),
    )

    def __init__(self, admin: Caller) -> None:
        super().__init__(admin.function.new_agent(admin, "owner"))
        admin.send("PATCH", f"{self._agent}/config", {"episodic": {"capacity": _MOST_OWNED}})

    def operations(self) -> Named:
        yield from super().operations()
        yield "summary", lambda: self._admin.get(f"{self._agent}/summary")
        skipped = min(self._stored // 4, 1000)  # a cursor after a quarter, at most
        page = self._admin.call("GET", f"{self._own}&total=none&values=omit&limit={skipped}").body
        later = f"{self._own}&total=none&limit={self.page}&{urlencode({'after': page['next']})}"
        yield "later page of own memory", lambda: self._admin.get(later)
        yield "query own memory, counted", lambda: self._admin.get(f"{self._own}&limit={self.page}")


class SharedMemory(Entries):
    """One namespace's semantic memory: 10 entries have two rare tags, and all have a third one."""

    _tier, _tags = "semantic", ("other",)
    _all = f"{_MEMORY}?memory_type=semantic&namespace=invoice_processing"
    pages = (
        ("query by a tag of all", f"{_all}&tags=other"),
        ("query a namespace", _all),
        ("query by a rare tag and one of all", f"{_all}&tags=urgent,other"),
        ("shared memory, of an intent that none has", f"{_all}&scope.intent_id=none"),
    )

    def __init__(self, admin: Caller) -> None:
        super().__init__(admin)
        for number in range(_MATCHES):
            body = entry(admin.id, f"match-{number}", self._tier, ["urgent", "billing", "other"])
            admin.send("POST", _MEMORY, body)

    def operations(self) -> Named:
        yield from super().operations()
        for name, filters in (
            ("query by two tags, 10 match", "&tags=urgent,billing"),
            ("query by a tag of all, counted", "&tags=other"),
            ("query a namespace, counted", ""),
        ):
            yield name, partial(self._admin.get, f"{self._all}{filters}&limit={self.page}")


class Conversation(Subject):
    """One conversation's messages."""

    lists = ("/api/v1/conversations/{session_id+}",)
    most = 1_000_000

    def __init__(self, admin: Caller) -> None:
        super().__init__(admin)
        admin.send("PUT", _CONVERSATION, {"user_id": "user_1"})

    def grow(self, to: int) -> None:
        """Append messages in groups."""
        while self._stored < to:
            many = min(_AT_ONCE, to - self._stored)
            self._admin.send("POST", f"{_CONVERSATION}/messages", {"messages": [_MESSAGE] * many})
            self._stored += many

    def operations(self) -> Named:
        append, page = f"{_CONVERSATION}/messages", f"{_CONVERSATION}?limit={self.page}&offset="
        yield "append a message", lambda: self._admin.calls("POST", append, _MESSAGE)
        yield "first page of 10 messages", lambda: self._admin.get(f"{page}0")
        yield "middle page of 10 messages", lambda: self._admin.get(f"{page}{self._stored // 2}")


class RunMemory(Subject):
    """One OpenWOP memory; a run sees the 10 entries that existed at its start."""

    lists = ("/v1/memory/{memoryRef+}", "/v1/runs/{runId}/entries")

    def __init__(self, admin: Caller) -> None:
        super().__init__(admin)
        self._memory = f"/v1/memory/{self._start()['memoryRef']}"
        self._target = ""
        self.grow(_MATCHES)
        self._run: str = self._start()["runId"]

    def _start(self) -> Any:
        return self._admin.send("POST", "/v1/runs", {"agent": "a"})

    def _add(self, number: int) -> None:  # noqa: ARG002 - entries have no number
        self._admin.send("POST", self._memory, _RUN_ENTRY)

    def operations(self) -> Named:
        yield "OpenWOP: put, 1 tag", self._put
        for name, path in (
            ("list 10 in a run", f"{self._memory}?runId={self._run}"),
            ("newest 10 by a tag", f"{self._memory}?limit={self.page}&tag=billing"),
            ("what a run saw", f"/v1/runs/{self._run}/entries?limit={self.page}"),
        ):
            yield f"OpenWOP: {name}", partial(self._admin.get, path)
        yield "OpenWOP: get", lambda: self._admin.get(self._target)
        yield "OpenWOP: delete", lambda: self._admin.calls("DELETE", self._target)

    def _put(self) -> list[Call]:
        answer = self._admin.call("POST", self._memory, _RUN_ENTRY)
        self._target = f"{self._memory}/{answer.body['id']}"
        return answer.calls


class States(Subject):
    """An agent's states for one owner."""

    lists = ("/api/v1/agents/{agent_id+}/state/{owner_id}", "/api/v1/agents/{agent_id+}/state")
    pages = (("first page of states", f"{_STATE}/user_1"), ("first page of all states", _STATE))

    def _add(self, number: int) -> None:
        self._admin.send("PUT", f"{_STATE}/user_1/key-{number}", {"value": value(number)})

    def operations(self) -> Named:
        target = f"{_STATE}/user_1/key-{self._stored // 2}"
        yield "put state", lambda: self._admin.calls("PUT", target, {"value": value(7)})
        yield "get state", lambda: self._admin.get(target)
        yield from super().operations()


class Episodes(Subject):
    """One run's episodes, which are all episodes of its agent type."""

    lists = ("/api/v1/episodes",)

    def __init__(self, admin: Caller) -> None:
        super().__init__(admin)
        self._run: str = self._start().body["id"]
        self.pages = (
            ("recall the last 10 episodes", "/api/v1/episodes?agent_type=sdr"),
            ("last 10 episodes of a run", f"/api/v1/episodes?run_id={self._run}"),
        )
        self._add(0)  # the first append reads the tenant's count, which is cached for a minute

    def _start(self) -> Answer:
        return self._admin.call("POST", _RUNS, {"agent_type": "sdr"})

    def _add(self, number: int) -> None:
        self._append(number)

    def _append(self, number: int) -> list[Call]:
        body = {"content": value(number)}
        return self._admin.calls("POST", f"{_RUNS}/{self._run}/episodes", body)

    def operations(self) -> Named:
        yield "start a run", lambda: self._start().calls
        yield "append an episode", lambda: self._append(7)
        yield from super().operations()


class Log(Subject):
    """One agent's log; each event is appended separately."""

    lists = tuple(
        f"/api/v1/{each}/events"
        for each in ("intents/{intent_id+}", "agents/{agent_id+}", "memory/namespaces/{namespace+}")
    )

    def __init__(self, admin: Caller) -> None:
        super().__init__(admin)
        for _ in range(2):  # the function caches the key, then the tenant's limits
            admin.get(f"/api/v1/agents/{behind.LOG.name}/events")

    def grow(self, to: int) -> None:
        """Append events until there are `to`."""
        while self._stored < to:
            self._append()

    def _append(self) -> list[Call]:
        self._stored += 1
        return behind.log(self._admin.function, [behind.build_event(self._stored)])

    def operations(self) -> Named:
        yield "log an event", self._append
        middle = behind.find_position(self._admin.function, self._stored // 2)
        for name, asked in (
            ("first page of 10 events", "after=0"),
            ("middle page of 10 events", f"after={middle}"),
            ("newest 10 events", f"after={middle}&order=desc"),
            ("events, of a type that none has", "after=0&type=memory.archived"),
        ):
            target = f"/api/v1/agents/{behind.LOG.name}/events?{asked}&limit={self.page}"
            yield name, partial(self._admin.get, target)


class TaskLists(Subject):
    """A task with inheriting sub-tasks, and with the same number of grants.

    One agent has half of the sub-tasks. Each other one has a different agent, so that the intent's
    participants grow, too.
    """

    page = 2
    lists = (
        "/api/v1/intents/{intent_id+}/tasks",
        "/api/v1/agents/{agent_id+}/tasks",
        "/api/v1/tasks/{task_id+}/grants",
    )
    pages = (
        ("first page of an intent's tasks", _INTENT),
        ("first page of an agent's tasks", "/api/v1/agents/worker/tasks"),
        ("first page of grants", f"{_TASKS}/parent/grants"),
        ("an intent's tasks, of a status that none has", f"{_INTENT}?status=failed"),
    )

    def __init__(self, admin: Caller) -> None:
        super().__init__(admin)
        worker, self._heir, self._guest = (
            admin.function.new_agent(admin, name) for name in ("worker", "inheritor", "guest")
        )
        parent = {"intent_id": "growing", "id": "parent", "assigned_agent": "worker"}
        admin.send("POST", _TASKS, parent)
        made = entry("worker", "checkpoint", "working", ()) | {"scope": {"task_id": "parent"}}
        self._checkpoint = f"{_MEMORY}/{worker.send('POST', _MEMORY, made)['id']}"
        self._register("inheritor")
        self._grant("guest")
        self._write()  # the first write also creates the guest's counters
        self._heir.get(self._checkpoint)

    def _add(self, number: int) -> None:
        self._register("worker" if number % 2 else f"agent-{number}")
        self._grant(f"holder-{number}")

    def operations(self) -> Named:
        yield "register an inheriting sub-task", lambda: self._register("worker")
        yield "grant on a task", lambda: self._grant("guest")
        yield "read by a grant", lambda: self._guest.get(self._checkpoint)
        yield "read by inheritance", lambda: self._heir.get(self._checkpoint)
        yield "write by a grant", self._write
        yield from super().operations()
        yield "hand a task over", lambda: self._hand_over("inheritor")
        yield "hand a task back", lambda: self._hand_over("worker")

    def _register(self, agent: str) -> list[Call]:
        body = {"intent_id": "growing", "parent_task_id": "parent", "assigned_agent": agent}
        policy = {"memory_policy": {"inherit_from_parent": True}}
        return self._admin.calls("POST", _TASKS, body | policy)

    def _grant(self, principal: str) -> list[Call]:
        target = f"{_TASKS}/parent/grants/{principal}"
        return self._admin.calls("PUT", target, {"access": "write"})

    def _write(self) -> list[Call]:
        made = entry("guest", "note", "working", ()) | {"scope": {"task_id": "parent"}}
        answer = self._guest.call("POST", _MEMORY, made)
        self._guest.call("DELETE", f"{_MEMORY}/{answer.body['id']}")
        return answer.calls

    def _hand_over(self, agent: str) -> list[Call]:
        target, change = f"{_TASKS}/parent", {"assigned_agent": agent}
        version = str(self._admin.call("GET", target).body["version"])
        return self._admin.calls("PATCH", target, change, if_match=version)


class Rows(Subject):
    """Elements of lists, each stored by some requests, in which `#` is its number."""

    adds: tuple[tuple[str, str, dict[str, Any]], ...] = ()

    def _add(self, number: int) -> None:
        for method, path, body in self.adds:
            filled = json.loads(json.dumps([path, body]).replace("#", str(number)))
            self._admin.send(method, *filled)


class TenantLists(Rows):
    """A tenant's principals, namespaces, intents, and audit log, which grow together."""

    lists = (
        *(f"/api/v1/{each}" for each in ("principals", "agents", "intents", "audit")),
        f"{_MEMORY}/namespaces",
    )
    adds = (
        ("POST", "/api/v1/principals", {"id": "agent-#", "kind": "agent"}),
        ("PUT", "/api/v1/intents/intent-#/acl", {"entries": []}),
        ("POST", _MEMORY, entry("admin", "rate", "semantic", ()) | {"namespace": "n-#"}),
    )
    pages = (
        *((f"first page of {e}", f"/api/v1/{e}") for e in ("principals", "agents", "intents")),
        ("first page of namespaces", f"{_MEMORY}/namespaces"),
        ("first page of the audit log", "/api/v1/audit?order=desc"),
        ("audit log, of an actor that none has", "/api/v1/audit?order=desc&actor=absent"),
        ("query by a prefix of 3 namespaces", f"{_MEMORY}?memory_type=semantic&namespace=few.*"),
        ("query by a prefix of all namespaces", f"{_MEMORY}?memory_type=semantic&namespace=n*"),
    )

    def __init__(self, admin: Caller) -> None:
        super().__init__(admin)
        for number in range(_FEW):
            body = entry("admin", "rate", "semantic", ()) | {"namespace": f"few.{number}"}
            admin.send("POST", _MEMORY, body)


def _declare(
    lists: tuple[str, ...],
    pages: tuple[tuple[str, str], ...],
    *adds: tuple[str, str, dict[str, Any]],
) -> type[Subject]:
    return type("Lists", (Rows,), {"lists": lists, "pages": pages, "adds": adds})


# fmt: off
LISTS = (
    TenantLists,
    _declare(  # one instance's runs, each of a different agent type
        (_RUNS, "/api/v1/agent-types"),
        (("first page of runs", _RUNS),
         ("first page of an instance's runs", f"{_RUNS}?instance_id=one"),
         ("runs, of a status that none has", f"{_RUNS}?status=failed"),
         ("first page of agent types", "/api/v1/agent-types")),
        ("POST", _RUNS, {"agent_type": "type-#", "instance_id": "one"})),
    _declare(  # OpenWOP's runs that one principal started
        ("/v1/runs", "/v1/memories"),
        (("OpenWOP: first page of runs", "/v1/runs"),
         ("OpenWOP: first page of memories", "/v1/memories")),
        ("POST", "/v1/runs", {"agent": "agent-#"})),
    _declare(  # one subject's facts, each with a different predicate
        (_FACTS,),
        (("first page of facts", _FACTS),
         ("first page of a subject's facts", f"{_FACTS}?subject=acme"),
         ("facts, of a predicate that none has", f"{_FACTS}?predicate=nothing")),
        ("POST", _FACTS, {"subject": "acme", "predicate": "p#", "object": "x"})),
    _declare(  # the answers that were made from one item, each in a different conversation
        ("/api/v1/recall/{reference}/answers",),
        (("first page of an item's answers", "/api/v1/recall/f.used/answers"),),
        ("PUT", "/api/v1/conversations/answer-#",
         {"user_id": "admin", "messages": [{**_MESSAGE, "uses": ["f.used"]}]})),
    _declare(  # one user's conversations, and those that the caller can read
        ("/api/v1/users/{user_id+}/conversations", "/api/v1/conversations"),
        (("first page of readable conversations", "/api/v1/conversations"),
         ("first page of a user's conversations", _USER),
         ("conversations, of a tag that none has", f"{_USER}?tags=rare")),
        ("PUT", "/api/v1/conversations/session-#", {"user_id": "ada", "tags": ["common"]})),
    _declare(  # one space's objects, and the same number of spaces
        (_OBJECTS, f"{_OBJECTS}/{{space}}"),
        (("first page of spaces", _OBJECTS),
         ("first page of a space's objects", f"{_OBJECTS}/one"),
         ("objects, of an absent prefix", f"{_OBJECTS}/one?prefix=none")),
        ("PUT", f"{_OBJECTS}/one/key-#", {"n": "#"}),
        ("PUT", f"{_OBJECTS}/space-#/key", {"n": "#"})),
    _declare(  # a task type's workflows, and the same number of task types of one agent type
        tuple(f"/api/v1/procedures/{{agent_type}}{each}" for each in ("", "/{task_type}")),
        (("first page of task types", _PROCEDURES),
         ("first page of a task type's workflows", f"{_PROCEDURES}/one")),
        ("PUT", f"{_PROCEDURES}/one/w-#", {"spec": {"n": "#"}}),
        ("PUT", f"{_PROCEDURES}/type-#/only", {"spec": {"n": "#"}})),
)
# fmt: on
MEMORIES = (OwnMemory, SharedMemory, Conversation, RunMemory, States, Episodes, Log)
SUBJECTS: tuple[type[Subject], ...] = (*MEMORIES, TaskLists, *LISTS)
UNMEASURED = {
    "/api/v1/agents/{agent_id}/objects/{space}": "the list of a shared space, by another address",
    "/api/v1/conversations/{session_id+}/archive": "an archive is one file, read from its begin",
    "/api/v1/consolidation/{id}": "a page of a run's steps is one query",
    "/api/v1/strategies": "a tenant has 20 at most",
    "/api/v1/memory/{id}/history": "one query for a page of 20 versions, however many there are",
}
"""Lists without a measured page, each with the reason."""
