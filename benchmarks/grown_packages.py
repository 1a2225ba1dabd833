"""Measure operations of other packages while the partition that they read grows."""

from collections.abc import Iterator
from typing import Any

from benchmarks.capacity import Call
from benchmarks.grown import Operation, Subject
from benchmarks.inprocess import Answer, Caller, Function
from benchmarks.workload import value

_AT_ONCE = 50
_MATCHES, _PAGE = 10, 10
_MESSAGE = {"role": "user", "content": "x" * 800}
_RUN_ENTRY = {"content": "x" * 800, "tags": ["billing"]}


class Conversation(Subject):
    """One conversation's messages."""

    lists = ("/api/v1/conversations/{session_id+}",)
    most = 1_000_000
    _target = "/api/v1/conversations/long"

    def __init__(self, function: Function, admin: Caller) -> None:
        super().__init__(function, admin)
        admin.send("PUT", self._target, {"user_id": "user_1"})

    def grow(self, to: int) -> None:
        """Append messages in groups."""
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
        return self._admin.calls("POST", f"{self._target}/messages", _MESSAGE)

    def _page(self, offset: int) -> list[Call]:
        return self._admin.get(f"{self._target}?offset={offset}&limit={_PAGE}")


class RunMemory(Subject):
    """One OpenWOP memory; a run sees the 10 entries that existed at its start."""

    lists = ("/v1/memory/{memoryRef+}", "/v1/runs/{runId}/entries")

    def __init__(self, function: Function, admin: Caller) -> None:
        super().__init__(function, admin)
        self._memory = f"/v1/memory/{self._start()['memoryRef']}"
        self._made: Any = None
        for number in range(_MATCHES):
            self._add(number)
        self._stored = _MATCHES
        self._run: str = self._start()["runId"]

    def _start(self) -> Any:
        return self._admin.send("POST", "/v1/runs", {"agent": "a"})

    def _add(self, number: int) -> None:  # noqa: ARG002 - entries have no number
        self._admin.send("POST", self._memory, _RUN_ENTRY)

    def operations(self) -> Iterator[tuple[str, Operation]]:
        get = self._admin.get
        yield "OpenWOP: put, 1 tag", self._put
        yield "OpenWOP: get", lambda: get(self._target)
        yield "OpenWOP: list 10 in a run", lambda: get(f"{self._memory}?runId={self._run}")
        newest = f"{self._memory}?limit={_PAGE}&tag=billing"
        yield "OpenWOP: newest 10 by a tag", lambda: get(newest)
        seen = f"/v1/runs/{self._run}/entries?limit={_PAGE}"
        yield "OpenWOP: what a run saw", lambda: get(seen)
        yield "OpenWOP: delete", lambda: self._admin.calls("DELETE", self._target)

    @property
    def _target(self) -> str:
        return f"{self._memory}/{self._made['id']}"

    def _put(self) -> list[Call]:
        answer = self._admin.call("POST", self._memory, _RUN_ENTRY)
        self._made = answer.body
        return answer.calls


class States(Subject):
    """An agent's states for one owner."""

    lists = ("/api/v1/agents/{agent_id+}/state/{owner_id}", "/api/v1/agents/{agent_id+}/state")

    def _add(self, number: int) -> None:
        self._admin.send("PUT", self._target(number), {"value": value(number)})

    def operations(self) -> Iterator[tuple[str, Operation]]:
        target = self._target(self._stored // 2)
        yield "put state", lambda: self._admin.calls("PUT", target, {"value": value(7)})
        yield "get state", lambda: self._admin.get(target)
        states = f"/api/v1/agents/admin/state/user_1?total=none&limit={_PAGE}"
        yield "first page of states", lambda: self._admin.get(states)
        of_agent = f"/api/v1/agents/admin/state?limit={_PAGE}"
        yield "first page of all states", lambda: self._admin.get(of_agent)

    def _target(self, number: int) -> str:
        return f"/api/v1/agents/admin/state/user_1/key-{number}"


class Episodes(Subject):
    """One run's episodes, which are all episodes of its agent type."""

    lists = ("/api/v1/episodes",)

    def __init__(self, function: Function, admin: Caller) -> None:
        super().__init__(function, admin)
        self._run = f"/api/v1/runs/{self._start().body['id']}"
        self._append()  # the first append reads the tenant's count, which is cached for a minute

    def _start(self) -> Answer:
        return self._admin.call("POST", "/api/v1/runs", {"agent_type": "sdr"})

    def _add(self, number: int) -> None:
        self._admin.send("POST", f"{self._run}/episodes", {"content": value(number)})

    def operations(self) -> Iterator[tuple[str, Operation]]:
        yield "start a run", lambda: self._start().calls
        yield "append an episode", self._append
        recall = f"/api/v1/episodes?agent_type=sdr&limit={_PAGE}"
        yield "recall the last 10 episodes", lambda: self._admin.get(recall)
        of_run = f"/api/v1/episodes?run_id={self._run.rpartition('/')[2]}&limit={_PAGE}"
        yield "last 10 episodes of a run", lambda: self._admin.get(of_run)

    def _append(self) -> list[Call]:
        return self._admin.calls("POST", f"{self._run}/episodes", {"content": value(7)})
