"""What an export tells of tasks' pasts: who had them, and what was written in them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from agent_memory.cli.lines import WITH_ORIGIN, Line, read_lines
from agent_memory.cli.tenant.archives import TaskArchives

Document = Mapping[str, Any]
_ENDED = ("completed", "failed", "cancelled", "skipped")


class Roles(NamedTuple):
    """Who works on a task, and who directs it."""

    assignee: str | None
    coordinator: str | None

    @classmethod
    def of(cls, document: Document) -> "Roles":
        """Return those that a task, or an audit record of one, names."""
        return cls(document["assigned_agent"], document["coordinator"])


def is_ended(task: Document) -> bool:
    """Return whether a task has ended."""
    return task["status"] in _ENDED


class TaskHistory:
    """The past of the tasks of an export.

    Args:
        tasks: the tasks.
        audit: the audit log, newest first; empty if the export has none.
        files: the entries.
        archives: what ended tasks held.
    """

    def __init__(
        self,
        tasks: Iterable[Document],
        audit: Iterable[Document],
        files: Iterable[Path],
        archives: TaskArchives,
    ) -> None:
        present = {}
        self._parents = set()
        for task in tasks:
            present[task["id"]] = Roles.of(task)
            self._parents.add(task["parent_task_id"])
        self._roles = _read_roles(present, audit)
        self._entries = _read_left_entries(present, files)
        self._archives = archives
        archived = {task_id: archives.get_entries(task_id) for task_id in present}
        self._entries |= {task_id: each for task_id, each in archived.items() if each}

    def list_roles(self, task: Document) -> list[Roles]:
        """Return who had a task, the first ones first, the present ones last."""
        return self._roles.get(task["id"], [Roles.of(task)])

    def is_parent(self, task_id: str) -> bool:
        """Return whether a task has sub-tasks."""
        return task_id in self._parents

    def get_entries(self, task_id: str) -> Mapping[str, list[Line]]:
        """Return the entries that are written with a task, by owner.

        Of an ended task these are all that it held; of an open one, those of writers who are
        neither its assignee nor its coordinator.
        """
        return self._entries.get(task_id, {})

    def get_ender(self, task: Document) -> str | None:
        """Return which of those with a role in a task ended it, as far as its archive says."""
        ender = self._archives.get_ender(task["id"])
        return ender if ender in Roles.of(task) else None

    def is_left(self, line: Line) -> bool:
        """Return whether a line is an entry of one who isn't its task's assignee or coordinator."""
        return line.is_of_task and line.body.get("agent_id") in self.get_entries(str(line.task))

    def list_principals(self) -> Iterator[tuple[str, bool]]:
        """Yield all who had a task or wrote in one, and whether they coordinated it."""
        for roles in chain.from_iterable(self._roles.values()):
            if roles.coordinator is not None:
                yield roles.coordinator, True
            if roles.assignee is not None:
                yield roles.assignee, False
        for owners in self._entries.values():
            yield from ((owner, False) for owner in owners)


def _read_roles(present: Mapping[str, Roles], audit: Iterable[Document]) -> dict[str, list[Roles]]:
    """Return the roles in each task, one after another.

    An adoption isn't among them: the task begins as it was afterwards.
    """
    changes: dict[str, list[Document]] = defaultdict(list)
    for record in audit:
        task_id = record["target"].removeprefix("task:")
        if record["action"] == "task.change" and task_id in present:
            changes[task_id].append(record)
    roles = {}
    for task_id, last in present.items():
        records = changes[task_id][::-1]
        past = [Roles.of(record["before"]) for record in records]
        past = [each for each in past if (each.coordinator is None) == (last.coordinator is None)]
        roles[task_id] = _drop_repeated([*past, last])
    return roles


def _drop_repeated(roles: list[Roles]) -> list[Roles]:
    return [each for before, each in zip([None, *roles], roles, strict=False) if each != before]


def _read_left_entries(
    present: Mapping[str, Roles], files: Iterable[Path]
) -> dict[str, Mapping[str, list[Line]]]:
    """Return the working entries of those who have no role in their task, by task and owner."""
    found: dict[str, dict[str, dict[str, Line]]] = defaultdict(lambda: defaultdict(dict))
    for file in files:
        with file.open("rb") as source:
            for line in read_lines(source, lambda _: None, WITH_ORIGIN):
                task_id, owner = line.task, line.body.get("agent_id")
                roles = present.get(task_id or "")
                if roles is not None and line.is_of_task and owner not in roles:
                    found[task_id or ""][str(owner)].setdefault(line.slot, line)
    return {
        task_id: {owner: list(lines.values()) for owner, lines in owners.items()}
        for task_id, owners in found.items()
    }
