"""`client.memory`: entries, in the seed's words (RFC-0015 "Client Interface"; contract §4, §10)."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Unpack

from agent_memory._sync.queries import Queries
from agent_memory._waiting import Turns
from agent_memory.exceptions import MemoryConflictError, MemoryNotFoundError
from agent_memory.model import ENTRY_CHANGES, Entry, EntryFields, MemoryType
from agent_memory.requests import drop_none, quote_segment, to_entry_fields, to_list
from agent_memory.responses import get_member, may_be_own_write, parse, parse_items
from agent_memory.versions import Versions

if TYPE_CHECKING:
    from agent_memory._sync.client import Client

_MEMORY = "/api/v1/memory"
Value = dict[str, Any]


class Memory(Queries):
    """Entries of all three tiers.

    The client remembers the version that it last saw of each entry under (namespace, key), by `get`
    or `set`, and names it when it writes: who wrote in between is never overwritten unseen.
    """

    def __init__(self, client: "Client") -> None:
        super().__init__(client)
        self._versions = Versions()
        self._turns = Turns()
        self.namespaces = client.namespaces

    def set(
        self,
        namespace: str,
        key: str,
        value: Value,
        *,
        task_id: str | None = None,
        intent_id: str | None = None,
        version: int | None = None,
        **fields: Unpack[EntryFields],
    ) -> Entry:
        """Create an entry (`working`, unless `memory_type` says otherwise), or writes the one that
        this client saw last under the same namespace and key, at the version that it saw. If that
        is gone, it is created anew, of the same tier and in the same scope.

        Args:
            value: a JSON object, up to 65,536 bytes.
            task_id, intent_id: the scope, or give `scope`. An entry keeps the scope that it was
                created in; what is in another one isn't written.
            fields: `memory_type`, `tags`, `ttl` and all others that an entry has; what isn't given
                stays as it is. `ttl` is `task_lifetime`, `duration:PT24H` and the like, or
                `forever`: no end any more; `expires_at` wins over it.
            version: write this version, whatever was seen.

        Raises:
            MemoryConflictError: somebody wrote it meanwhile, or created it before.
            MemoryCapacityError: there is no room.
            TaskClosedError: its task has ended.
            MemoryNotFoundError: `version` is given, and there is no such entry.
        """
        memory_type: MemoryType | None = fields.pop("memory_type", None)
        scope = fields.pop("scope", None) or {}
        bound = {**scope, **drop_none(task_id=task_id, intent_id=intent_id)}
        changes = to_entry_fields(value=value, **fields)
        seen = self._versions.of(namespace, key, memory_type)
        if version is not None:
            found = seen.id if seen else self._id(namespace, key, memory_type)
            return self._patched(found, version, changes)
        if seen is not None and seen.is_in(bound):
            try:
                return self._patched(seen.id, seen.version, changes)
            except MemoryNotFoundError:  # deleted, evicted, or its time was over
                bound, memory_type = bound or dict(seen.scope), seen.memory_type
        named = {"namespace": namespace, "key": key, "memory_type": memory_type or "working"}
        body = named | changes | ({"scope": bound} if bound else {})
        return self._saw(self._call("POST", _MEMORY, json=body))

    def get(
        self,
        namespace: str,
        key: str,
        *,
        agent_id: str | None = None,
        memory_type: MemoryType | None = None,
    ) -> Value | None:
        """Return the value of `get_entry`; None if there is none."""
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
    ) -> Entry | None:
        """Return the entry with this id, or the one under this namespace and key.

        By name it is the caller's own (or that of `agent_id`) under this namespace
        and key, and if there is none, the semantic one. None if there is none.

        Raises:
            MemoryAccessError: the caller may not read it.
            TypeError: neither `id` nor namespace and key are given.
        """
        if id is not None:
            return self._by_id(id)
        if namespace is None or key is None:
            raise TypeError("give namespace and key, or id")
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
        attempts: int = 20,
        **fields: Unpack[EntryFields],
    ) -> Entry:
        """Read the value, write `fn(value)` at the version read, and start again if somebody was
        faster: to retry, to merge, or (by raising in `fn`) to give up (RFC-0015 §3.3).

        Args:
            initial: what `fn` is given if there is no entry, which is then created.
            attempts: how often to try.
            fields: further fields of `set`.

        Raises:
            MemoryNotFoundError: there is no entry, and no `initial`.
            MemoryConflictError: others were faster each time; or an attempt's answer was lost and
                others wrote since, so that it can't be told whether it was carried out
                (`may_have_happened`).
        """
        if fields.get("tags") is not None:
            fields["tags"] = to_list(
                fields["tags"]
            )  # an iterator would be empty at a second attempt
        with self._turns.of((namespace, key)):
            for attempt in range(attempts):
                found = self.get_entry(namespace, key, memory_type=fields.get("memory_type"))
                if found is None and initial is None:
                    raise MemoryNotFoundError("there is no entry to update; give initial")
                value = fn(found.value if found is not None else dict(initial or {}))
                try:
                    if found is None:
                        return self.set(namespace, key, value, **fields)
                    return self._replaced(found, value, fields)
                except (MemoryConflictError, MemoryNotFoundError) as refusal:
                    version = None if found is None else found.version
                    if attempt + 1 == attempts or may_be_own_write(refusal, version):
                        raise
        raise ValueError("attempts must be at least 1")

    def delete(
        self,
        namespace: str | None = None,
        key: str | None = None,
        *,
        id: str | None = None,
        memory_type: MemoryType | None = None,
        version: int | None = None,
    ) -> bool:
        """Delete the entry with this id, or the caller's own under this namespace and key; the
        shared one only if `memory_type` says so, or if it is what this client last saw there.

        Args:
            version: delete only this version.

        Returns:
            Whether there was one.

        Raises:
            MemoryConflictError: it is at another version.
        """
        if id is not None:
            return self._delete(f"{_MEMORY}/{quote_segment(id)}", version)
        if namespace is None or key is None:
            raise TypeError("give namespace and key, or id")
        seen = self._versions.of(namespace, key, memory_type)
        found = self._by_key(namespace, key, None, memory_type)
        unasked = memory_type is None and (seen is None or seen.memory_type != "semantic")
        if found is None or (unasked and found.memory_type == "semantic"):
            return False
        deleted = self._delete(f"{_MEMORY}/{quote_segment(found.id)}", version)
        self._versions.forget(namespace, key, found.memory_type)
        return deleted

    def batch(self, entries: Iterable[Mapping[str, Any]]) -> list[Entry]:
        """Create and update up to 50 entries, all or none (contract §4).

        Args:
            entries: bodies of creates, or of updates: `id` or the natural key, and `version`.

        Raises:
            AgentMemoryError: the first failure; `problem["index"]` says whose.
        """
        body = {"entries": [dict(entry) for entry in entries]}
        answer = self._call("POST", f"{_MEMORY}/batch", json=body)
        return [self._saw(entry) for entry in parse_items(get_member(answer, "entries"))]

    def _id(self, namespace: str, key: str, memory_type: MemoryType | None) -> str:
        found = self._by_key(namespace, key, None, memory_type)
        if found is None:
            raise MemoryNotFoundError("there is no entry under this namespace and key")
        return found.id

    def _patched(self, id: str, version: int, fields: Mapping[str, Any]) -> Entry:
        path = f"{_MEMORY}/{quote_segment(id)}"
        return self._saw(self._call("PATCH", path, json=dict(fields), version=version))

    def _replaced(self, found: Entry, value: Value, fields: Mapping[str, Any]) -> Entry:
        """Write the very entry that was read, whatever was seen under its name since."""
        changes = {name: each for name, each in fields.items() if name in ENTRY_CHANGES}
        return self._patched(found.id, found.version, to_entry_fields(value=value, **changes))

    def _saw(self, document: Mapping[str, Any]) -> Entry:
        entry = parse(Entry.from_document, document)
        self._versions.saw(entry)
        return entry
