"""Writes tasks as they came to be: who had them one after another, grants, and their end.

Who left a task left entries in it. So a task begins with its first assignee, and is handed over
once what that one wrote is there; the last one is the present assignee. An ended task ends once it
holds again what it held then: so it is archived as it was.
"""

from contextlib import suppress

from agent_memory import Client
from agent_memory.cli.importing import Import, Policy
from agent_memory.cli.lines import Line
from agent_memory.cli.output import note
from agent_memory.cli.tenant.import_context import (
    Document,
    ImportContext,
    select_fields,
    send_once,
)
from agent_memory.cli.tenant.task_history import Roles, TaskHistory, is_ended
from agent_memory.exceptions import MemoryConflictError, MemoryNotFoundError
from agent_memory.model import Task, TaskFields
from agent_memory.requests import quote_segment

_TASKS = "tasks.jsonl"
_LAST = ("status", "updated_at", "version")
_BY_END = ("output", "error", "artifacts", "blocked_reason")


class TaskWriter:
    """Writes the tasks of an export, each as often as one likes.

    Args:
        context: where to, and under whose keys.
        history: what the export tells of the tasks' pasts.
        policy: what happens where another entry stands.
    """

    def __init__(self, context: ImportContext, history: TaskHistory, policy: Policy) -> None:
        self._context = context
        self._history = history
        self._policy = policy
        self._done = context.state.read(_TASKS)

    def write_task(self, document: Document) -> None:
        """Register a task as its coordinator, else as its assignee, and take it through its past.

        A parent that has ended stays open, so that its sub-tasks can be registered.
        """
        if document["id"] in self._done:
            return
        roles = self._history.list_roles(document)
        if not self._can_register(document, roles[0]):
            note(f"the task {document['id']} is left out: no intent names it, and it holds nothing")
            self._done[document["id"]] = ""
            return
        task = self._register(document, roles[0])
        if not is_ended(task.raw):  # by a run that was cut off
            self._continue(document, roles, Roles(task.assigned_agent, task.coordinator))
        if not is_ended(document) or not self._history.is_parent(task.id):
            self._finish(document)

    def _continue(self, document: Document, roles: list[Roles], present: Roles) -> None:
        """Take a task from its present roles to the last ones, with what was written meanwhile."""
        entries, written = self._history.get_entries(document["id"]), set[str]()
        for each in roles[roles.index(present) if present in roles else len(roles) :]:
            if each != present:
                self._hand_over(document["id"], each)
            present = each
            for owner in entries.keys() & {*each} - written:
                self._write_entries(owner, entries[owner])
                written.add(owner)
        for grant in document["grants"]:
            self._grant(document, grant["granted_by"], grant)
        self._write_of_others(document, {owner for each in roles for owner in each})

    def end_task(self, document: Document) -> None:
        """End a task that has ended, if it is still open."""
        if is_ended(document) and document["id"] not in self._done:
            self._finish(document)

    def _finish(self, document: Document) -> None:
        """Give a task its status, times and version, of which the import has changed some."""
        ender, director = self._history.get_ender(document), _find_director(Roles.of(document))
        client = self._context.get_client(ender if self._context.has_key(ender) else director)
        task = client.tasks.get(document["id"])
        if any(task.raw[name] != document[name] for name in _LAST):
            results = _BY_END if is_ended(document) else ()
            fields = select_fields(document, (*_LAST, "started_at", *results))
            path, match = f"/api/v1/tasks/{quote_segment(task.id)}", {"If-Match": str(task.version)}
            client.request("PATCH", path, json=fields, headers=match)
        self._done[task.id] = ""
        self._context.state.add(_TASKS, task.id, "")

    def _can_register(self, document: Document, roles: Roles) -> bool:
        """Return whether an intent names a task, or its assignee wrote in it."""
        entries = self._history.get_entries(document["id"])
        return document["intent_id"] is not None or roles.assignee in entries

    def _register(self, document: Document, roles: Roles) -> Task:
        if document["intent_id"] is None:
            return self._register_by_write(document["id"], roles)
        creator = self._get_director(roles)
        fields = select_fields(document, (*TaskFields.__annotations__, "created_at"))
        left = _BY_END if is_ended(document) else ()
        for name in ("status", "coordinator", "assigned_agent", *left):
            fields.pop(name, None)
        if not fields.get("delegates"):
            fields.pop("delegates", None)  # an agent that registers its own task names none
        if roles.coordinator is not None and creator is self._context.client:
            fields["coordinator"] = roles.coordinator
        fields["assigned_agent"] = roles.assignee
        fields = {name: each for name, each in fields.items() if each is not None}
        try:
            body = {"intent_id": document["intent_id"], **fields}
            return Task.from_document(send_once(creator, "POST", "/api/v1/tasks", body))
        except MemoryConflictError:
            return creator.tasks.get(document["id"])

    def _register_by_write(self, task_id: str, roles: Roles) -> Task:
        """Register a task that no intent names as it was: by what its assignee writes in it."""
        assignee = self._get_director(roles)
        with suppress(MemoryNotFoundError):
            return assignee.tasks.get(task_id)
        owner = str(roles.assignee)
        self._write_entries(owner, self._history.get_entries(task_id).get(owner, []))
        return assignee.tasks.get(task_id)

    def _get_director(self, roles: Roles) -> Client:
        """Return a client of who directs a task."""
        return self._context.get_client(_find_director(roles))

    def _hand_over(self, task_id: str, to: Roles) -> None:
        task = self._context.client.tasks.get(task_id)
        director = self._get_director(Roles(task.assigned_agent, task.coordinator))
        changes = {"assigned_agent": to.assignee, "coordinator": to.coordinator}
        given = {name: each for name, each in changes.items() if each != getattr(task, name)}
        if given:
            director.tasks.update(task_id, version=task.version, **given)  # type: ignore[arg-type]

    def _write_entries(self, owner: str, lines: list[Line]) -> None:
        Import(self._context.get_client(owner), self._policy, self._context.now).run(
            lines, lambda: None
        )

    def _write_of_others(self, document: Document, known: set[str | None]) -> None:
        """Write the entries of those who had a grant, by one that is taken back if it is over."""
        granted = {grant["principal"] for grant in document["grants"]}
        director = document["coordinator"] or document["assigned_agent"]
        for owner, lines in self._history.get_entries(document["id"]).items():
            if owner in known:
                continue
            if owner not in granted:
                self._grant(document, director, {"principal": owner, "access": "write"})
            self._write_entries(owner, lines)
            if owner not in granted:
                self._context.get_client(director).tasks.revoke(document["id"], owner)

    def _grant(self, task: Document, granted_by: str, grant: Document) -> None:
        if self._context.has_expired(grant.get("expires_at")):
            note(f"a grant of {task['id']} has expired and is left out")
            return
        client = self._context.get_client(granted_by)
        with client.keep(**select_fields(grant, ["created_at"])):
            client.tasks.grant(
                task["id"], grant["principal"], grant["access"], expires_at=grant.get("expires_at")
            )


def _find_director(roles: Roles) -> str | None:
    """Return who directs a task."""
    return roles.coordinator or roles.assignee
