"""Measure operations on tasks while assignments, sub-tasks, grants and participants grow."""

from collections.abc import Iterator
from functools import partial

from benchmarks.capacity import Call
from benchmarks.grown import Operation, Subject
from benchmarks.inprocess import Caller, Function
from benchmarks.workload import entry

_TASKS, _MEMORY = "/api/v1/tasks", "/api/v1/memory"
_PAGE = 2
_INHERIT = {"inherit_from_parent": True}


class TaskLists(Subject):
    """A task with inheriting sub-tasks, and with the same number of grants.

    One agent has half of the sub-tasks. Each other one has a different agent, so that the intent's
    participants grow, too.
    """

    examined = frozenset({"an intent's tasks, of a status that none has"})
    lists = (
        "/api/v1/intents/{intent_id+}/tasks",
        "/api/v1/agents/{agent_id+}/tasks",
        "/api/v1/tasks/{task_id+}/grants",
    )

    def __init__(self, function: Function, admin: Caller) -> None:
        super().__init__(function, admin)
        self._worker, self._heir, self._guest = (
            function.new_agent(admin, name) for name in ("worker", "inheritor", "guest")
        )
        admin.send("POST", _TASKS, _task(id="parent", assigned_agent="worker"))
        made = entry("worker", "checkpoint", "working", ()) | {"scope": {"task_id": "parent"}}
        self._checkpoint = f"{_MEMORY}/{self._worker.send('POST', _MEMORY, made)['id']}"
        self._register("inheritor")
        self._grant("guest")
        self._write()  # the first write also creates the guest's counters
        self._heir.get(self._checkpoint)

    def _add(self, number: int) -> None:
        self._register("worker" if number % 2 else f"agent-{number}")
        self._grant(f"holder-{number}")

    def operations(self) -> Iterator[tuple[str, Operation]]:
        yield "register an inheriting sub-task", lambda: self._register("worker")
        yield "grant on a task", lambda: self._grant("guest")
        yield "read by a grant", lambda: self._guest.get(self._checkpoint)
        yield "read by inheritance", lambda: self._heir.get(self._checkpoint)
        yield "write by a grant", self._write
        for name, path in (
            ("first page of an intent's tasks", "/api/v1/intents/growing/tasks"),
            ("first page of an agent's tasks", "/api/v1/agents/worker/tasks"),
            ("first page of grants", f"{_TASKS}/parent/grants"),
            (
                "an intent's tasks, of a status that none has",
                "/api/v1/intents/growing/tasks?status=failed",
            ),
        ):
            paging = f"total=none&limit={_PAGE}"
            yield name, partial(self._admin.get, f"{path}{'&' if '?' in path else '?'}{paging}")
        yield "hand a task over", lambda: self._hand_over("inheritor")
        yield "hand a task back", lambda: self._hand_over("worker")

    def _register(self, agent: str) -> list[Call]:
        body = _task(parent_task_id="parent", assigned_agent=agent, memory_policy=_INHERIT)
        return self._admin.calls("POST", _TASKS, body)

    def _grant(self, principal: str) -> list[Call]:
        target = f"{_TASKS}/parent/grants/{principal}"
        return self._admin.calls("PUT", target, {"access": "write"})

    def _write(self) -> list[Call]:
        made = entry("guest", "note", "working", ()) | {"scope": {"task_id": "parent"}}
        answer = self._guest.call("POST", _MEMORY, made)
        self._guest.call("DELETE", f"{_MEMORY}/{answer.body['id']}")
        return answer.calls

    def _hand_over(self, agent: str) -> list[Call]:
        target = f"{_TASKS}/parent"
        version = str(self._admin.call("GET", target).body["version"])
        change = {"assigned_agent": agent}
        return self._admin.calls("PATCH", target, change, if_match=version)


def _task(**fields: object) -> dict[str, object]:
    return {"intent_id": "growing", "name": "work"} | fields
