"""Put an entry into an empty or taken slot: an upsert, whose last writer wins."""

from dataclasses import dataclass

from functions.audit.service import AuditTrail
from functions.authorization.rules import authorize, is_allowed
from functions.entries.authority import REPLACE_ENTRY, WRITE_ENTRY, EntryTarget, SuccessionTarget
from functions.entries.create import build_entry
from functions.entries.model import Entry, Transition
from functions.entries.read import EntryReader
from functions.entries.requests import NewEntry
from functions.entries.store import EntryStore
from functions.entries.transaction_store import Transaction
from functions.entries.writer import EntryWriter
from functions.identity.model import Principal
from functions.namespaces.model import NamespaceTarget
from functions.namespaces.service import Namespaces
from functions.platform.clock import Clock
from functions.platform.errors import EntryExists, EntryNotFound, VersionMismatch
from functions.platform.idempotency import RequestToken
from functions.platform.keys import Digest
from functions.platform.retry import Backoff
from functions.platform.sensitivity import ENCRYPTED
from functions.tasks.model import Task
from functions.tasks.store import TaskStore

_ATTEMPTS = 30  # many may put one entry at once
_PLACE = ("memory_type", "task_id", "intent_id")  # where it differs, a put replaces the entry
_NO_ENTRY = "no entry has this namespace and key; leave If-Match out to create it"
_KEPT_BY_A_PUT = ("nonce", "agent_id", "created_by", "created_at", "history_since")


@dataclass(eq=False)
class Puts:
    """Puts entries: creates them, or replaces all that a create sets."""

    _reader: EntryReader
    _store: EntryStore
    _writer: EntryWriter
    _tasks: TaskStore
    _namespaces: Namespaces
    _audit: AuditTrail
    _clock: Clock

    def put(
        self, caller: Principal, new: NewEntry, version: int | None, token: RequestToken
    ) -> tuple[Entry, bool]:
        """Write an entry in its slot, and return it, and whether it is new there.

        An entry of the same tier and scope keeps its id and gets a new version. Another entry is
        deleted. A working entry of unchanged size is changed by one write. The first put of a
        task's present assignee replaces its predecessors' entries of this name.

        Args:
            version: the version that the slot must have; None for any, or none.
            token: of the request; a retry returns the entry that it wrote.

        Raises:
            VersionMismatch: when the slot has another version.
            EntryNotFound: when a version is given and the slot is empty.
            AccessDenied, TaskClosed, CapacityExceeded, ValidationFailed, ValueTooLarge: as in a
                create.
        """
        entry = build_entry(caller, new, self._clock(), token)
        if _may_put_by_one_write(entry):
            changed, present = self._store.put_own(entry, version)
            if changed is not None:
                return changed, False
            target = None
        else:
            present, target = self._reader.read_slot(caller, entry.address, entry.namespace)
        backoff = Backoff("others are writing this entry", attempts=_ATTEMPTS)
        while True:
            try:
                return self._put(caller, new, (present, target), version, token)
            except (EntryExists, EntryNotFound, VersionMismatch):
                if version is not None:
                    raise
            backoff.wait()
            present, target = self._reader.read_slot(caller, entry.address, entry.namespace)

    def _put(
        self,
        caller: Principal,
        new: NewEntry,
        found: tuple[Entry | None, NamespaceTarget | None],
        version: int | None,
        token: RequestToken,
    ) -> tuple[Entry, bool]:
        present, target = found
        now = self._clock()
        entry = build_entry(caller, new, now, token)
        live = None if present is None or present.is_expired(now) else present
        claims = () if target is None else self._namespaces.claim_if_new(caller, target)
        if live is not None:
            authorize(caller, WRITE_ENTRY, EntryTarget(live, target))
            if token.matches(live.request_token):
                return self._writer.repeat(caller, live), live.version == 1
        if version is not None and live is None:
            raise EntryNotFound(_NO_ENTRY)
        if live is not None and version not in (None, live.version):
            self._writer.refuse_version(caller, live)
        if live is not None and all(getattr(live, each) == getattr(entry, each) for each in _PLACE):
            entry = replace_fields(live, entry)
        replaced = self._find_replaced(caller, entry, now) if live is None else []
        transaction = Transaction(
            caller,
            (Transition(present, entry), *(Transition(each, None) for each in replaced)),
            now,
            tuple(
                self._audit.record(
                    caller, REPLACE_ENTRY, f"entry:{each.id}", {"agent_id": each.agent_id}, None
                )
                for each in replaced
            ),
            claims=claims,
        )
        written = self._writer.commit(transaction, token)[0]
        return written, written.version == 1

    def _find_replaced(self, caller: Principal, entry: Entry, now: int) -> list[Entry]:
        """Find entries of the caller's predecessors in a task that a new entry replaces (§8.2)."""
        if entry.task_id is None or not entry.policy.is_task_bound:
            return []
        task = self._tasks.get(caller.tenant, entry.task_id)
        if task is None:
            return []
        others = [Digest(each) for each in task.held if each != entry.address.owner]
        keys = [entry.address._replace(owner=each).item_key for each in others]
        found = self._store.get_many(keys) if keys else {}
        return [
            each
            for each in found.values()
            if each.task_id == task.id
            and each.policy.is_task_bound
            and not each.is_expired(now)
            and self._succeeds(caller, task, each.agent_id)
        ]

    def _succeeds(self, caller: Principal, task: Task, agent: str) -> bool:
        member = self._tasks.get_membership(caller.tenant, task.id, agent)
        target = SuccessionTarget(task.assigned_agent, is_former=member.was_assignee)
        return agent not in task.members and is_allowed(caller, REPLACE_ENTRY, target)


def _may_put_by_one_write(entry: Entry) -> bool:
    """Tell whether a put of this entry needs at most one write.

    This holds if the entry has no order of eviction, index row, vector or cipher.
    """
    return (
        entry.policy.is_task_bound
        and entry.sensitivity not in ENCRYPTED
        and entry.packed_vector is None
    )


def replace_fields(old: Entry, new: Entry) -> Entry:
    """Return an entry after a put of `new`: it replaces all fields that a create sets."""
    kept = {name: getattr(old, name) for name in _KEPT_BY_A_PUT}
    return new._replace(version=old.version + 1, **kept)
