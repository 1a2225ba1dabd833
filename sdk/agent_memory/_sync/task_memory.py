"""Memory for a worker's function, scoped to its task (RFC-0015 "Worker Context", §8)."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Unpack

from agent_memory._waiting import sleep, run_check
from agent_memory.exceptions import MemoryConflictError, MemoryNotFoundError
from agent_memory.model import Entry, EntryFields, MemoryType
from agent_memory.requests import to_entry_fields
from agent_memory.responses import may_be_own_write, parse
from agent_memory.task_at_work import Slot, TaskAtWork, working_on
from agent_memory.updates import Retry, compute_value

if TYPE_CHECKING:
    from agent_memory._sync.client import Client

_LONGEST_KEY = 255
_MEMORY = "/api/v1/memory"
_WORKING = (None, "working")
Value = dict[str, Any]


class TaskMemory:
    """`ctx.memory`: working memory of one task, and the other calls of `client.memory`.

    Reads return entries of all agents in the task, so that a successor continues from its
    predecessor's checkpoint; in a sub-task that inherits, entries of the parent follow. Writes
    change only the agent's own entries (RFC-0015 §8.2).

    An agent has one entry for each namespace and key in all its tasks. If another open task uses
    the name, the entry of this task is stored under `KEY@TASK_ID`; reads here find both.
    """

    def __init__(
        self,
        client: "Client",
        at_work: TaskAtWork,
    ) -> None:
        self._client = client
        self._at_work = at_work
        self._task_id = at_work.task.id
        self._agent_id = at_work.agent_id
        self._own = at_work.own
        self._written = at_work.written

    def get(
        self, namespace: str, key: str, *, memory_type: MemoryType | None = None
    ) -> dict[str, Any] | None:
        """Return the value of `get_entry`; None if there is none.

        ctx.memory.get("invoices", "progress")
        """
        entry = self.get_entry(namespace, key, memory_type=memory_type)
        return None if entry is None else entry.value

    def get_entry(
        self, namespace: str, key: str, *, memory_type: MemoryType | None = None
    ) -> Entry | None:
        """Return this worker's entry in the task, or else the newest entry of another author.

            ctx.memory.get_entry("invoices", "progress").agent_id

        If there is none, return the parent's entry in a sub-task that inherits, then the agent's
        entry outside tasks, then the shared one. None if there is none.

        Raises:
            TaskLostError: this worker no longer has the task.
        """
        self._check()
        if memory_type in _WORKING:
            entry = self._in_task((namespace, key))
            if entry is not None or memory_type is not None:
                return entry
        return self._outside(namespace, key, memory_type)

    def set(
        self,
        namespace: str,
        key: str,
        value: dict[str, Any],
        *,
        memory_type: MemoryType | None = None,
        version: int | None = None,
        **fields: Unpack[EntryFields],
    ) -> Entry:
        """Write the agent's own entry: working memory of the task, unless `memory_type` is given.

        It takes the fields of `client.memory.set`. An entry that was read or written here is
        changed at the version that was seen last. The agent's own entry that was never read here
        is overwritten.

        Raises:
            MemoryConflictError: another writer has changed it, or it is of another kind.
            MemoryCapacityError: the task has no room for it.
            TaskLostError: this worker no longer has the task.
        """
        self._check()
        if memory_type in _WORKING:
            given = to_entry_fields(value, fields)
            with self._at_work.losing_when_reassigned():
                return self._set_in_task((namespace, key), given, version)
        return self._set_outside(
            namespace, key, value, memory_type=memory_type, version=version, **fields
        )

    def put(
        self,
        namespace: str,
        key: str,
        value: Value,
        *,
        version: int | None = None,
        **fields: Unpack[EntryFields],
    ) -> Entry:
        """Create or replace the agent's own entry of the task.

            ctx.memory.put("invoices", "progress", {"completed": 23})

        Args:
            version, fields: as for `client.memory.put`.

        Raises:
            MemoryConflictError: raised when `version` is given, and another one is there.
            MemoryCapacityError: raised when the task has no room for it.
            TaskLostError: this worker no longer has the task.
        """
        slot = (namespace, key)
        self.get_entry(namespace, key, memory_type="working")
        own = self._own.get(slot)
        stored = key if own is None else own.key
        if own is None and self._is_of_another_task(namespace, key):
            stored = self._key_apart(key) or key
        with self._at_work.losing_when_reassigned():
            entry = self._client.memory.put(
                namespace, stored, value, task_id=self._task_id, version=version, **fields
            )
        self._own[slot] = entry
        self._written.add(slot)
        return entry

    def update(
        self,
        namespace: str,
        key: str,
        fn: Callable[[Value], Value],
        *,
        initial: Value | None = None,
        deadline: float = 30.0,
        **fields: Unpack[EntryFields],
    ) -> Entry:
        """Read the value, and write `fn(value)` as the agent's own entry of the task.

            ctx.memory.update("invoices", "progress", lambda v: v | {"completed": 24})

        Args:
            initial, deadline, fields: as for `client.memory.update`.

        Raises:
            MemoryNotFoundError: raised when there is no entry, and no `initial`.
            MemoryConflictError: raised when other writers were faster until the deadline.
            TaskLostError: this worker no longer has the task.
            TypeError: raised when `fn` returns no dict, or a field is unknown.
        """
        retry = Retry(deadline)
        while True:
            found = self.get_entry(namespace, key)
            value = compute_value(fn, found, initial)
            try:
                return self.set(namespace, key, value, **fields)
            except MemoryConflictError as refusal:
                known = self._own.pop((namespace, key), None)
                if may_be_own_write(refusal, None if known is None else known.version):
                    raise
                sleep(retry.next_pause(refusal))

    def delete(self, namespace: str, key: str, *, version: int | None = None) -> bool:
        """Delete the agent's own entry of the task; return True if it existed.

            ctx.memory.delete("invoices", "progress")

        Args:
            version: delete only this version.

        Raises:
            MemoryConflictError: raised when it has another version.
            TaskLostError: this worker no longer has the task.
        """
        self._check()
        self._forget((namespace, key))
        own = [entry for entry in self._versions(namespace, key) if self._is_own(entry)]
        with self._at_work.losing_when_reassigned():
            deleted = [
                self._client.memory.delete(id=entry.id, version=version) for entry in own
            ]
        return any(deleted)

    def query(self, **filters: Any) -> list[Entry]:
        """Return all working entries of the task that match, of all authors; newest first.

        In a sub-task that inherits, those of the parent follow, marked `inherited`.

        Args:
            filters: those of `client.memory.query`, except agent, scope and type.

        Raises:
            TaskLostError: this worker no longer has the task.
        """
        self._check()
        found = self._entries(**filters)
        return sorted(found, key=lambda entry: entry.inherited)

    def check_filters(self) -> dict[str, str]:
        """Return the filters of the task's working entries.

        Raises:
            TaskLostError: this worker no longer has the task.
        """
        self._check()
        return {"memory_type": "working", "scope.task_id": self._task_id}

    def _check(self) -> None:
        run_check(self._at_work.check)

    def _is_own(self, entry: Entry) -> bool:
        return entry.agent_id == self._agent_id and not entry.inherited

    def _is_of_another_task(self, namespace: str, key: str) -> bool:
        """Return whether the agent's entry of this name belongs to another task."""
        entry = self._client.memory.get_entry(
            namespace, key, agent_id=self._agent_id, memory_type="working"
        )
        return entry is not None and entry.task_id not in (None, self._task_id)

    def _forget(self, slot: Slot) -> None:
        self._own.pop(slot, None)
        self._written.discard(slot)

    def _entries(self, **filters: Any) -> list[Entry]:
        found = self._client.memory.query(task_id=self._task_id, memory_type="working", **filters)
        return [entry for entry in found]

    def _versions(self, namespace: str, key: str) -> list[Entry]:
        """Return the entries under this key: the task's own first, each part newest first."""
        entries = self._entries(namespace=namespace, key=key)
        for task_id in (self._task_id, self._at_work.inherited_task_id):
            if (apart := _key_apart(key, task_id)) is not None:
                entries += self._entries(namespace=namespace, key=apart)
        named = [entry for entry in entries if entry.namespace == namespace]  # `x*` is a prefix
        named.sort(key=lambda entry: entry.updated_at, reverse=True)
        return sorted(named, key=lambda entry: entry.inherited)

    def _in_task(self, slot: Slot) -> Entry | None:
        if slot in self._written:
            own = self._client.memory.get_entry(id=self._own[slot].id)
            if own is not None:
                self._own[slot] = own
                return own
            self._forget(slot)
        entries = self._versions(*slot)
        own = next(filter(self._is_own, entries), None)
        if own is not None:
            self._own[slot] = own
        return entries[0] if entries else None

    def _outside(
        self, namespace: str, key: str, memory_type: MemoryType | None
    ) -> Entry | None:
        with working_on(None):
            entry = self._client.memory.get_entry(namespace, key, memory_type=memory_type)
            if entry is None or entry.task_id is None:
                return entry
            return self._client.memory.get_entry(namespace, key, memory_type="semantic")

    def _set_in_task(self, slot: Slot, given: dict[str, Any], version: int | None) -> Entry:
        known = self._own.get(slot)
        if known is None:
            entry = self._create(slot[0], slot[1], given)
        else:
            entry = self._change(slot, known, given, version)
        self._own[slot] = entry
        self._written.add(slot)
        return entry

    def _change(
        self, slot: Slot, known: Entry, given: dict[str, Any], version: int | None
    ) -> Entry:
        try:
            return self._patch(known.id, version or known.version, given)
        except MemoryNotFoundError:  # deleted or expired
            if version is not None:
                raise
            self._forget(slot)
            return self._create(slot[0], slot[1], given)

    def _create(self, namespace: str, key: str, given: dict[str, Any]) -> Entry:
        body = {
            "namespace": namespace,
            "key": key,
            "memory_type": "working",
            "scope": {"task_id": self._task_id},
        }
        try:
            answer = self._client.request("POST", _MEMORY, json=body | given)
        except MemoryConflictError as taken:
            return self._instead(taken, namespace, key, given)
        return parse(Entry.from_document, answer.json())

    def _instead(
        self, taken: MemoryConflictError, namespace: str, key: str, given: dict[str, Any]
    ) -> Entry:
        """Overwrite an existing entry of the agent."""
        present = taken.current
        if present is None or present.memory_type != "working" or present.task_id is None:
            raise taken
        if present.task_id == self._task_id:
            return self._patch(present.id, present.version, given)
        apart = self._key_apart(key)
        if apart is None or key == apart:
            raise taken
        return self._create(namespace, apart, given)

    def _key_apart(self, key: str) -> str | None:
        return _key_apart(key, self._task_id)

    def _patch(self, entry_id: str, version: int, given: dict[str, Any]) -> Entry:
        headers = {"If-Match": str(version)}
        path = f"{_MEMORY}/{entry_id}"
        return parse(
            Entry.from_document,
            (self._client.request("PATCH", path, json=given, headers=headers)).json(),
        )

    def _set_outside(
        self, namespace: str, key: str, value: dict[str, Any], *, version: int | None, **given: Any
    ) -> Entry:
        memory = self._client.memory
        try:
            return memory.set(namespace, key, value, version=version, **given)
        except MemoryConflictError as conflict:
            present = conflict.current
            unseen = version is None and conflict.code == "ENTRY_EXISTS"
            if not unseen or present is None or present.memory_type != given["memory_type"]:
                raise
            if not self._is_own(present) or present.memory_type == "semantic":
                raise
        return memory.set(namespace, key, value, version=present.version, **given)


def _key_apart(key: str, task_id: str | None) -> str | None:
    """Return the key to use if another task has the entry; None if it is too long."""
    suffix = f"@{task_id}"
    if task_id is None or key.endswith(suffix):
        return None
    apart = key + suffix
    return apart if len(apart) <= _LONGEST_KEY else None
