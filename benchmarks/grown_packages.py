"""What else grows while its operations are measured: each in the one partition that it works on."""

from collections.abc import Iterator
from typing import Any

from benchmarks.capacity import Call
from benchmarks.grown import BY_BATCHES, ONE_BY_ONE, Operation
from benchmarks.inprocess import Answer, Caller, Function
from benchmarks.workload import value

_AT_ONCE = 50
_MATCHES, _PAGE = 10, 10
_MESSAGE = {"role": "user", "content": "x" * 800}
_RUN_ENTRY = {"content": "x" * 800, "tags": ["billing"]}


class Conversation:
    """One conversation's messages."""

    growing: frozenset[str] = frozenset()
    examined: frozenset[str] = frozenset()
    lists: tuple[str, ...] = ("/api/v1/conversations/{session_id+}",)
    most = BY_BATCHES
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
        yield "first page of 10 messages", lambda: self._page(0)
        yield "middle page of 10 messages", lambda: self._page(self._stored // 2)

    def _append(self) -> list[Call]:
        return self._admin.call("POST", f"{self._target}/messages", _MESSAGE).calls

    def _page(self, offset: int) -> list[Call]:
        return self._admin.get(f"{self._target}?offset={offset}&limit={_PAGE}")


class RunMemory:
    """One memory of OpenWOP's runs; a run sees the 10 entries that were there when it began."""

    growing: frozenset[str] = frozenset()
    examined: frozenset[str] = frozenset()
    lists: tuple[str, ...] = ("/v1/memory/{memoryRef+}", "/v1/runs/{runId}/entries")
    most = ONE_BY_ONE

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
        newest = f"{self._memory}?limit={_PAGE}"
        yield "OpenWOP: newest 10 by a tag", lambda: self._admin.get(f"{newest}&tag=billing")
        seen = f"/v1/runs/{self._run.removeprefix('runId=')}/entries?limit={_PAGE}"
        yield "OpenWOP: what a run saw", lambda: self._admin.get(seen)
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
    examined: frozenset[str] = frozenset()
    lists: tuple[str, ...] = (
        "/api/v1/agents/{agent_id+}/state/{owner_id}",
        "/api/v1/agents/{agent_id+}/state",
    )
    most = ONE_BY_ONE

    def __init__(self, _function: Function, admin: Caller) -> None:
        self._admin = admin
        self._stored = 0

    def grow(self, to: int) -> None:
        with self._admin.seeding() as admin:
            for number in range(self._stored, to):
                admin.send("PUT", self._target(number), {"value": value(number)})
        self._stored = to

    def operations(self) -> Iterator[tuple[str, Operation]]:
        target = self._target(self._stored // 2)
        yield "put state", lambda: self._admin.call("PUT", target, {"value": value(7)}).calls
        yield "get state", lambda: self._admin.get(target)
        states = f"/api/v1/agents/admin/state/user_1?total=none&limit={_PAGE}"
        yield "first page of states", lambda: self._admin.get(states)
        of_agent = f"/api/v1/agents/admin/state?limit={_PAGE}"
        yield "first page of all states", lambda: self._admin.get(of_agent)

    def _target(self, number: int) -> str:
        return f"/api/v1/agents/admin/state/user_1/key-{number}"


class Episodes:
    """One run's episodes, which are those of its agent type, too."""

    growing: frozenset[str] = frozenset()
    examined: frozenset[str] = frozenset()
    lists: tuple[str, ...] = ("/api/v1/episodes",)
    most = ONE_BY_ONE

    def __init__(self, _function: Function, admin: Caller) -> None:
        self._admin = admin
        self._stored = 0
        self._run = f"/api/v1/runs/{self._start().body['id']}"
        self._append()  # the first one reads the tenant's count, which is remembered for a minute

    def _start(self) -> Answer:
        return self._admin.call("POST", "/api/v1/runs", {"agent_type": "sdr"})

    def grow(self, to: int) -> None:
        with self._admin.seeding() as admin:
            for _ in range(to - self._stored):
                admin.send("POST", f"{self._run}/episodes", {"content": value(7)})
        self._stored = to

    def operations(self) -> Iterator[tuple[str, Operation]]:
        yield "start a run", lambda: self._start().calls
        yield "append an episode", self._append
        recall = f"/api/v1/episodes?agent_type=sdr&limit={_PAGE}"
        yield "recall the last 10 episodes", lambda: self._admin.get(recall)
        of_run = f"/api/v1/episodes?run_id={self._run.rpartition('/')[2]}&limit={_PAGE}"
        yield "last 10 episodes of a run", lambda: self._admin.get(of_run)

    def _append(self) -> list[Call]:
        return self._admin.call("POST", f"{self._run}/episodes", {"content": value(7)}).calls


class Procedures:
    """Procedures of other tasks; what is selected from has two workflows."""

    growing: frozenset[str] = frozenset()
    examined: frozenset[str] = frozenset()
    lists: tuple[str, ...] = ()
    most = ONE_BY_ONE
    _task = "/api/v1/procedures/sdr"

    def __init__(self, _function: Function, admin: Caller) -> None:
        self._admin = admin
        self._stored = 0
        for name in ("a", "b"):
            self._put(admin, "measured", name)

    def _put(self, admin: Caller, task: str, name: str) -> None:
        admin.send("PUT", f"{self._task}/{task}/{name}", {"spec": value(7)})

    def grow(self, to: int) -> None:
        with self._admin.seeding() as admin:
            for number in range(self._stored, to):
                self._put(admin, f"other-{number}", "a")
        self._stored = to

    def operations(self) -> Iterator[tuple[str, Operation]]:
        place = f"{self._task}/measured"
        yield "select a workflow", lambda: self._admin.call("POST", f"{place}/select").calls
        yield "report an outcome", lambda: self._outcome(f"{place}/a/outcome")

    def _outcome(self, target: str) -> list[Call]:
        return self._admin.call("POST", target, {"score": 1}).calls


class Instances:
    """Working values of other instances of an agent."""

    growing: frozenset[str] = frozenset()
    examined: frozenset[str] = frozenset()
    lists: tuple[str, ...] = ()
    most = ONE_BY_ONE

    def __init__(self, _function: Function, admin: Caller) -> None:
        self._admin = admin
        self._stored = 0

    def _target(self, number: int) -> str:
        return f"/api/v1/instances/instance-{number}/working/position"

    def grow(self, to: int) -> None:
        with self._admin.seeding() as admin:
            for number in range(self._stored, to):
                admin.send("PUT", self._target(number), {"value": value(7)})
        self._stored = to

    def operations(self) -> Iterator[tuple[str, Operation]]:
        target = self._target(self._stored // 2)
        yield "put a working value", lambda: self._admin.call("PUT", target, {"value": 7}).calls
        yield "get a working value", lambda: self._admin.get(target)
