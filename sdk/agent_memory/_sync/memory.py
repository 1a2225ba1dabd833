"""`client.memory`: entries of the three tiers (RFC-0015 "Client Interface")."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Unpack

from agent_memory._sync.entry_history import EntryHistory
from agent_memory._waiting import Turns, sleep
from agent_memory.exceptions import MemoryConflictError, MemoryNotFoundError
from agent_memory.hints import REMEMBER, explain_call, refuse_name
from agent_memory.model import Entry, EntryFields, MemoryType
from agent_memory.requests import (
    drop_none,
    join_scope,
    quote_segment,
    render_time,
    to_entry_fields,
    to_list,
)
from agent_memory.responses import get_member, may_be_own_write, parse, parse_items, parse_object
from agent_memory.task_at_work import find_task_at_work
from agent_memory.updates import Retry, assert_in_scope, compute_value
from agent_memory.versions import Versions

if TYPE_CHECKING:
    from agent_memory._sync.client import Client

_MEMORY = "/api/v1/memory"
Value = dict[str, Any]


class Memory(EntryHistory):
    """Entries of all three tiers.

    In a worker's function, calls on working memory without a scope belong to the task at work, as
    those on `ctx.memory` do.

    By `get` or `set`, the client remembers the last version of each entry under (namespace, key).
    Its writes name this version, so they never overwrite a change that the client has not seen.
    """

    def __init__(self, client: "Client") -> None:
        super().__init__(client)
        self._versions = Versions()
        self._turns = Turns()
        self.namespaces = client.namespaces

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            refuse_name(type(self).__name__, name)

    def set(
        self,
        namespace: str,
        key: str,
        value: Value,
        *,
        memory_type: MemoryType | None = None,
        scope: Mapping[str, str] | None = None,
        task_id: str | None = None,
        intent_id: str | None = None,
        version: int | None = None,
        **fields: Unpack[EntryFields],
    ) -> Entry:
        """Create an entry, or change the one that this client saw last under namespace and key.

        If this client has read the entry, it is changed at the version that was read. An entry
        that was deleted since is created again, in the same tier and scope.

            client.memory.set("invoices", "progress", {"completed": 23}, tags=["batch"])

        Args:
            value: a JSON object, up to `memory.limits.value_bytes`.
            memory_type: the tier; `working` for a new entry, unless given.
            scope: the task and intent that the entry belongs to, `{"task_id": …, "intent_id": …}`.
                An entry keeps the scope that it was created in.
            task_id, intent_id: the parts of `scope`.
            version: change this version, instead of the one that was read.
            fields: `tags`, `ttl`, `expires_at`, `occurred_at`, `pinned`, `priority`, `sensitivity`,
                `vector`. Other fields stay unchanged. `ttl` takes seconds, a `timedelta`, an ISO
                8601 duration, `task_lifetime`, or None for no expiry. `expires_at` takes
                precedence.

        Raises:
            MemoryConflictError: raised when another writer changed or created the entry.
            MemoryCapacityError: raised when there is no room.
            TaskClosedError: raised when the entry's task has ended.
            MemoryNotFoundError: raised when `version` is given, and there is no such entry.
            TypeError: raised when the value is no dict, a field is unknown, or scopes contradict.
        """
        bound = join_scope(scope, task_id, intent_id)
        changes = to_entry_fields(value, fields)
        if (task := self._find_task_memory(memory_type, *bound)) is not None:
            return task.set(namespace, key, value, version=version, **fields)
        seen = self._versions.of(namespace, key, memory_type)
        if version is not None:
            found = seen.id if seen else self._id(namespace, key, memory_type)
            return self._patched(found, version, changes)
        if seen is not None and seen.is_in(bound):
            try:
                return self._patched(seen.id, seen.version, changes)
            except MemoryNotFoundError:  # deleted, evicted, or expired
                bound, memory_type = bound or dict(seen.scope), seen.memory_type
        body = _new_entry(namespace, key, memory_type, bound, changes)
        return self._saw(self._call("POST", _MEMORY, json=body))

    def put(
        self,
        namespace: str,
        key: str,
        value: Value,
        *,
        memory_type: MemoryType | None = None,
        scope: Mapping[str, str] | None = None,
        task_id: str | None = None,
        intent_id: str | None = None,
        version: int | None = None,
        **fields: Unpack[EntryFields],
    ) -> Entry:
        """Create or replace the entry under namespace and key; the last write wins.

        The whole entry is replaced: omitted fields, such as tags, get the defaults of a new entry.

            client.memory.put("cache", "rates", {"eur": 1.08}, ttl=3600)

        Args:
            memory_type: the tier; `working` unless given.
            version: replace only this version; 0: only if nothing is there.
            value, scope, task_id, intent_id, fields: as for `set`.

        Raises:
            MemoryConflictError: raised when `version` is given, and the entry has another one.
            MemoryNotFoundError: raised when `version` is given, and there is no entry.
            MemoryCapacityError: raised when there is no room.
            TaskClosedError: raised when the entry's task has ended.
            TypeError: raised when the value is no dict, a field is unknown, or scopes contradict.
        """
        bound = join_scope(scope, task_id, intent_id)
        changes = to_entry_fields(value, fields)
        if (task := self._find_task_memory(memory_type, *bound)) is not None:
            return task.put(namespace, key, value, version=version, **fields)
        body = _new_entry(namespace, key, memory_type, bound, changes)
        headers = None if version is None else _precondition(version)
        answer = self._client.request("PUT", _MEMORY, json=body, headers=headers)
        return self._saw(parse_object(answer))

    @explain_call(REMEMBER)
    def remember(
        self,
        memory: str | Value,
        *,
        user_id: str | None = None,
        key: str | None = None,
        tags: Iterable[str] | None = None,
        ttl: Any = None,
        sensitivity: str | None = None,
        source: str | None = None,
        occurred_at: str | datetime | None = None,
    ) -> Entry:
        """Store a text or a value about a user, or for the caller; the same text is stored once.

            client.memory.remember("Invoices go out on Fridays", tags=["billing"])

        Args:
            memory: a text, or a JSON object.
            user_id: the user whom it is about; by default, it belongs to the caller.
            key: the entry's name; by default, it is derived from the words.
            tags: labels to query by.
            ttl: seconds, a `timedelta` or an ISO 8601 duration; by default, it does not expire.
            sensitivity: `internal`, `confidential` or `restricted`; the latter two are encrypted.
            source: where it comes from; stored in the value.
            occurred_at: when the content happened.

        Returns:
            The new entry, or an existing one with the same words.

        Raises:
            MemoryAccessError: raised when the key may not write there, or when the memory of users
                isn't private yet.
            MemoryConflictError: raised when another memory has this key.
        """
        body = drop_none(
            user_id=user_id,
            key=key,
            tags=None if tags is None else to_list(tags),
            ttl=render_time(ttl),
            sensitivity=sensitivity,
            source=source,
            occurred_at=render_time(occurred_at),
        )
        if not isinstance(memory, str | Mapping):
            raise TypeError(
                f"remember needs a text or a dict, not {type(memory).__name__}; {REMEMBER}; "
                "for messages, use client.say(session_id, user=..., assistant=...)"
            )
        body["text" if isinstance(memory, str) else "value"] = memory
        answer = self._client.request("POST", "/api/v1/remember", json=body)
        return self._saw(parse_object(answer))

    def get(
        self,
        namespace: str,
        key: str,
        *,
        agent_id: str | None = None,
        memory_type: MemoryType | None = None,
        as_of: str | datetime | None = None,
    ) -> Value | None:
        """Return the value of `get_entry`, or of `get_past` at a time; None if there is none.

        client.memory.get("invoices", "progress")
        """
        if as_of is not None:
            past = self.get_past(namespace, key, memory_type=memory_type, as_of=as_of)
            return None if past is None else past.value
        found = self.get_entry(namespace, key, agent_id=agent_id, memory_type=memory_type)
        return None if found is None else found.value

    def get_entry(
        self,
        namespace: str | None = None,
        key: str | None = None,
        *,
        id: str | None = None,
        agent_id: str | None = None,
        memory_type: MemoryType | None = None,
        with_vector: bool = False,
    ) -> Entry | None:
        """Return the entry with this id, or the one under this namespace and key.

            client.memory.get_entry("invoices", "progress").version

        By name, it is the private entry of the caller (or of `agent_id`), or else the semantic one.
        None if there is none.

        Args:
            with_vector: whether to read the client's own vector, too; with `id` alone.

        Raises:
            MemoryAccessError: the caller may not read it.
            TypeError: neither `id` nor namespace and key are given.
        """
        if id is not None:
            return self._by_id(id, with_vector=with_vector)
        if with_vector:
            raise TypeError("with_vector needs id")
        if namespace is None or key is None:
            raise TypeError("give namespace and key, or id")
        if (task := self._find_task_memory(memory_type, agent_id)) is not None:
            return task.get_entry(namespace, key, memory_type=memory_type)
        found = self._by_key(namespace, key, agent_id, memory_type)
        if agent_id is None and found is not None:
            self._versions.saw(found)
        elif agent_id is None:
            self._versions.forget(namespace, key, memory_type)
        return found

    def update(
        self,
        namespace: str,
        key: str,
        fn: Callable[[Value], Value],
        *,
        initial: Value | None = None,
        memory_type: MemoryType | None = None,
        scope: Mapping[str, str] | None = None,
        task_id: str | None = None,
        intent_id: str | None = None,
        deadline: float = 30.0,
        **fields: Unpack[EntryFields],
    ) -> Entry:
        """Read the value, and write `fn(value)` at the version that was read.

        After another writer's change, `fn` is called again with the newer value, after growing
        pauses, until the write succeeds or the deadline has passed. No update is lost. An exception
        of `fn` ends the update (RFC-0015 §3.3).

            client.memory.update("jobs", "count", lambda v: {"n": v["n"] + 1}, initial={"n": 0})

        Args:
            fn: returns the new value.
            initial: the argument of `fn` if there is no entry; the entry is created.
            memory_type: the tier; by default, the caller's entry, or else the shared one.
            scope, task_id, intent_id: the scope that the entry must have.
            deadline: seconds for which to try.
            fields: as for `set`.

        Raises:
            MemoryNotFoundError: raised when there is no entry, and no `initial`.
            MemoryConflictError: raised when other writers were faster until the deadline, when the
                entry has another scope, or when an answer was lost and other writes followed. In
                the last case, `may_have_happened` is true.
            TypeError: raised when `fn` returns no dict, a field is unknown, or scopes contradict.
        """
        bound = join_scope(scope, task_id, intent_id)
        given = to_entry_fields({}, fields)
        if (task := self._find_task_memory(memory_type, *bound)) is not None:
            return task.update(
                namespace, key, fn, initial=initial, deadline=deadline, **fields
            )
        with self._turns.of((namespace, key)):
            retry = Retry(deadline)
            found = self.get_entry(namespace, key, memory_type=memory_type)
            while True:
                assert_in_scope(found, bound)
                given["value"] = compute_value(fn, found, initial)
                try:
                    if found is not None:
                        return self._patched(found.id, found.version, given)
                    body = _new_entry(namespace, key, memory_type, bound, given)
                    return self._saw(self._call("POST", _MEMORY, json=body))
                except (MemoryConflictError, MemoryNotFoundError) as refusal:
                    if may_be_own_write(refusal, None if found is None else found.version):
                        raise
                    sleep(retry.next_pause(refusal))
                    found = self._read_again(found, namespace, key, memory_type)

    def delete(
        self,
        namespace: str | None = None,
        key: str | None = None,
        *,
        id: str | None = None,
        memory_type: MemoryType | None = None,
        version: int | None = None,
    ) -> bool:
        """Delete the entry with this id, or the caller's entry under this namespace and key.

        A shared entry is deleted by name only if `memory_type` is given, or if this client last
        read that entry under the name.

            client.memory.delete("invoices", "progress")

        Args:
            version: delete only this version.

        Returns:
            True if there was one.

        Raises:
            MemoryConflictError: it has another version.
        """
        if id is not None:
            return self._delete(f"{_MEMORY}/{quote_segment(id)}", version)
        if namespace is None or key is None:
            raise TypeError("give namespace and key, or id")
        if (task := self._find_task_memory(memory_type)) is not None:
            return task.delete(namespace, key, version=version)
        seen = self._versions.of(namespace, key, memory_type)
        found = self._by_key(namespace, key, None, memory_type)
        unasked = memory_type is None and (seen is None or seen.memory_type != "semantic")
        if found is None or (unasked and found.memory_type == "semantic"):
            return False
        deleted = self._delete(f"{_MEMORY}/{quote_segment(found.id)}", version)
        self._versions.forget(namespace, key, found.memory_type)
        return deleted

    def batch(self, entries: Iterable[Mapping[str, Any]]) -> list[Entry]:
        """Create and update several entries, all or none.

            names = {"namespace": "invoices", "memory_type": "working"}
            client.memory.batch([{**names, "key": each, "value": {}} for each in ("a", "b")])

        Args:
            entries: bodies of creates, or of updates: `id` or the natural key, and `version`.

        Raises:
            AgentMemoryError: the first failure; `problem["index"]` is the index of its entry.
            TypeError: raised when an entry is no dict.
        """
        body = {"entries": [self._in_task(entry) for entry in entries]}
        answer = self._call("POST", f"{_MEMORY}/batch", json=body)
        return [self._saw(entry) for entry in parse_items(get_member(answer, "entries"))]

    def _in_task(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Return an entry of a batch; a new working entry without scope gets the task's scope."""
        if not isinstance(entry, Mapping):
            raise TypeError(f"an entry of a batch must be a dict, not {type(entry).__name__}")
        is_scoped = entry.get("memory_type") != "working" or {"scope", "version"} & entry.keys()
        at_work = None if is_scoped else find_task_at_work(self._client.settings)
        return {**entry} if at_work is None else {**entry, "scope": {"task_id": at_work.task.id}}

    def _id(self, namespace: str, key: str, memory_type: MemoryType | None) -> str:
        found = self._by_key(namespace, key, None, memory_type)
        if found is None:
            raise MemoryNotFoundError("there is no entry under this namespace and key")
        return found.id

    def _patched(self, id: str, version: int, fields: Mapping[str, Any]) -> Entry:
        path = f"{_MEMORY}/{quote_segment(id)}"
        return self._saw(self._call("PATCH", path, json=dict(fields), version=version))

    def _read_again(
        self, found: Entry | None, namespace: str, key: str, memory_type: MemoryType | None
    ) -> Entry | None:
        """Return the present entry: by its id, which is cheaper, unless it was replaced."""
        present = None if found is None else self._by_id(found.id)
        if present is not None:
            self._versions.saw(present)
            return present
        return self.get_entry(namespace, key, memory_type=memory_type)

    def _saw(self, document: Mapping[str, Any]) -> Entry:
        entry = parse(Entry.from_document, document)
        self._versions.saw(entry)
        return entry


def _new_entry(
    namespace: str,
    key: str,
    memory_type: MemoryType | None,
    scope: Mapping[str, str],
    fields: Mapping[str, Any],
) -> dict[str, Any]:
    named = {"namespace": namespace, "key": key, "memory_type": memory_type or "working"}
    return named | dict(fields) | ({"scope": dict(scope)} if scope else {})


def _precondition(version: int) -> dict[str, str]:
    return {"If-Match": str(version)} if version else {"If-None-Match": "*"}
