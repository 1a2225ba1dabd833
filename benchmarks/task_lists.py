"""What the first and the 5,001st of each thing around tasks costs: none is slower than the first.

Tasks of an agent, sub-tasks, grants and participants are rows of their own, so no item grows with
them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial

from benchmarks.capacity import Call, in_sequence
from benchmarks.inprocess import Caller, function
from benchmarks.tables import text_table
from benchmarks.workload import entry

MANY = 5_000
_TASKS, _MEMORY = "/api/v1/tasks", "/api/v1/memory"
_PAGE = "total=none&limit=2"
_INHERIT = {"inherit_from_parent": True}
Operation = Callable[[], list[Call]]


@dataclass(frozen=True, slots=True)
class Figure:
    """What an operation costs beside so many of what it is about."""

    operation: str
    beside: int
    calls: int
    in_sequence: int
    write: float
    read: float


class TaskList:
    """A list around a task, in a tenant of its own."""

    name = ""

    def __init__(self, admin: Caller, worker: Caller) -> None:
        self.admin, self.worker, self._made = admin, worker, 0
        admin.send("POST", _TASKS, _task(id="parent", assigned_agent="worker"))
        made = entry("worker", "checkpoint", "working", ()) | {"scope": {"task_id": "parent"}}
        self.checkpoint = f"{_MEMORY}/{worker.send('POST', _MEMORY, made)['id']}"

    def add(self) -> list[Call]:
        """Add one to the list."""
        self._made += 1
        return self.add_number(self._made)

    def add_number(self, number: int) -> list[Call]:
        """Add this one to the list."""
        raise NotImplementedError

    def operations(self) -> Iterator[tuple[str, Operation]]:
        """What else the list must not make dearer."""
        raise NotImplementedError

    def register(self, **fields: object) -> list[Call]:
        """Register a task."""
        return self.admin.call("POST", _TASKS, _task(**fields)).calls

    def change(self, task: str, **fields: object) -> list[Call]:
        """Change a task."""
        version = str(self.admin.call("GET", f"{_TASKS}/{task}").body["version"])
        return self.admin.call("PATCH", f"{_TASKS}/{task}", fields, if_match=version).calls


class AgentTasks(TaskList):
    """Open tasks of one agent."""

    name = "open task of an agent"

    def add_number(self, number: int) -> list[Call]:
        return self.register(id=f"t{number}", assigned_agent="worker")

    def operations(self) -> Iterator[tuple[str, Operation]]:
        polled = f"/api/v1/agents/worker/tasks?{_PAGE}"
        yield "first page of its tasks", partial(self.worker.get, polled)
        yield "read its task", partial(self.worker.get, f"{_TASKS}/parent")
        yield "hand one over", lambda: self.change(f"t{self._made}", assigned_agent="other")
        yield "end one", lambda: self.change(f"t{self._made - 1}", status="completed")


class SubTasks(TaskList):
    """Inheriting sub-tasks of one task, of one agent."""

    name = "inheriting sub-task"

    def add_number(self, number: int) -> list[Call]:
        fields = {"parent_task_id": "parent", "memory_policy": _INHERIT}
        return self.register(id=f"s{number}", assigned_agent="assignee", **fields)

    def operations(self) -> Iterator[tuple[str, Operation]]:
        assignee = self.admin.function.new_agent(self.admin, f"assignee-{self._made}")
        fields = {"parent_task_id": "parent", "memory_policy": _INHERIT}
        self.register(assigned_agent=assignee.id, **fields)
        assignee.get(self.checkpoint)
        yield "read by inheritance", partial(assignee.get, self.checkpoint)
        yield "write in the parent", partial(_write, self.worker, f"k{self._made}")
        yield "hand the parent over", lambda: self.change("parent", assigned_agent="other")
        yield "hand it back", lambda: self.change("parent", assigned_agent="worker")


class TaskGrants(TaskList):
    """Grants on one task."""

    name = "grant on a task"

    def add_number(self, number: int) -> list[Call]:
        target = f"{_TASKS}/parent/grants/holder-{number}"
        return self.admin.call("PUT", target, {"access": "read"}).calls

    def operations(self) -> Iterator[tuple[str, Operation]]:
        guest = self.admin.function.new_agent(self.admin, f"guest-{self._made}")
        self.admin.send("PUT", f"{_TASKS}/parent/grants/{guest.id}", {"access": "read"})
        guest.get(self.checkpoint)
        yield "read by a grant", partial(guest.get, self.checkpoint)
        yield "first page of grants", partial(self.admin.get, f"{_TASKS}/parent/grants?{_PAGE}")
        yield "write in the task", partial(_write, self.worker, f"k{self._made}")


class Participants(TaskList):
    """Agents that take part in one intent."""

    name = "participant of an intent"

    def add_number(self, number: int) -> list[Call]:
        return self.register(id=f"p{number}", assigned_agent=f"agent-{number}")

    def operations(self) -> Iterator[tuple[str, Operation]]:
        acl = {"entries": [{"principal": "guest", "access": "read"}]}
        target = "/api/v1/intents/growing/acl"
        yield "set the access list", lambda: self.admin.call("PUT", target, acl).calls
        yield "read the access list", partial(self.worker.get, target)
        yield (
            "first page of its tasks",
            partial(self.worker.get, f"/api/v1/intents/growing/tasks?{_PAGE}"),
        )


LISTS: tuple[type[TaskList], ...] = (AgentTasks, SubTasks, TaskGrants, Participants)


def measure(many: int = MANY) -> list[Figure]:
    """Measure each list with one element, and with so many more. Raises `RequestError`."""
    with function() as running:
        found: list[Figure] = []
        for number, each in enumerate(LISTS):
            admin = running.new_tenant(f"lists-{number}")
            found += _measure(each(admin, running.new_agent(admin, "worker")), many)
    return found


def _measure(subject: TaskList, many: int) -> Iterator[Figure]:
    for _ in range(2):  # the first ones make what lists them
        subject.add()
    for beside in (0, many):
        for _ in range(beside):
            subject.add()
        yield _to_figure(f"{subject.name}: add", beside, subject.add())
        subject.worker.get(f"{_TASKS}/parent")  # a key is remembered for a minute
        for name, operation in subject.operations():
            yield _to_figure(f"{subject.name}: {name}", beside, operation())


def _to_figure(name: str, beside: int, calls: Iterable[Call]) -> Figure:
    made = list(calls)
    write = sum(call.write + call.index_write for call in made)
    read = sum(call.read + call.index_read for call in made)
    return Figure(name, beside, len(made), in_sequence(made), write, read)


def list_growing(found: Iterable[Figure]) -> list[str]:
    """List the operations whose calls or units differ between the first and the last."""
    costs: dict[str, set[tuple[int, float, float]]] = {}
    for each in found:
        costs.setdefault(each.operation, set()).add((each.calls, each.write, each.read))
    return [name for name, different in costs.items() if len(different) > 1]


def as_data(found: Iterable[Figure]) -> list[dict[str, object]]:
    """The figures as JSON."""
    return [asdict(each) for each in found]


def as_text(found: Iterable[Figure]) -> str:
    """The figures as a table: the first beside the 5,001st."""
    rows = [
        (each.operation, f"{each.beside:,}", str(each.calls), f"{each.write:g}", f"{each.read:g}")
        for each in sorted(found, key=lambda each: (each.operation, each.beside))
    ]
    return text_table(("operation", "beside", "calls", "write", "read"), rows)


def _write(worker: Caller, key: str) -> list[Call]:
    made = entry("worker", key, "working", ()) | {"scope": {"task_id": "parent"}}
    answer = worker.call("POST", _MEMORY, made)
    worker.call("DELETE", f"{_MEMORY}/{answer.body['id']}")
    return answer.calls


def _task(**fields: object) -> dict[str, object]:
    return {"intent_id": "growing", "name": "work"} | fields
