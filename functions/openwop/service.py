"""The MemoryAdapter: list, get, put, delete (OpenWOP RFC 0004 §A)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from functions.audit.service import AuditTrail
from functions.identity.model import Principal
from functions.openwop import rules
from functions.openwop.authority import DELETE_ENTRY
from functions.openwop.entry_store import MemoryEntryDraft, MemoryEntryStore
from functions.openwop.model import EntryListQuery, MemoryEntry
from functions.openwop.requests import NewMemoryEntry
from functions.openwop.rules import MemoryReferences
from functions.openwop.runs import MemoryRuns
from functions.openwop.secret_store import MemorySecrets, sum_secrets
from functions.openwop.sequence_store import SecretsChanged
from functions.platform import item_types, openwop_keys
from functions.platform.clock import Clock
from functions.platform.errors import SecretLeakage
from functions.platform.idempotency import RequestToken
from functions.platform.retry import retry_on


@dataclass(eq=False)
class Memories:
    """Use cases of the entries of memories.

    `reference` is the memoryRef; a `run_id` makes a call see the run's snapshot. Every method
    raises `AccessDenied` if the reference was not issued for the caller's tenant, `NotFound` if the
    memory has no such run, and `RunEnded` if the run is closed.
    """

    _store: MemoryEntryStore
    _runs: MemoryRuns
    _secrets: MemorySecrets
    _references: MemoryReferences
    _audit: AuditTrail
    _clock: Clock

    def list(
        self, caller: Principal, reference: str, run_id: str | None, query: EntryListQuery
    ) -> Iterator[MemoryEntry]:
        """List the entries of a run's snapshot, or the present entries, newest first.

        It takes one call for the run, one for the entries, and with a tag one for its rows.
        """
        memory = self._references.resolve(caller.tenant, reference)
        snapshot = None
        if run_id is not None:
            snapshot = self._runs.get_open(caller.tenant, memory, run_id).snapshot
        return self._list(caller.tenant, memory, snapshot, query)

    def list_seen(
        self, caller: Principal, run_id: str, reference: str | None, query: EntryListQuery
    ) -> tuple[str, Iterator[MemoryEntry]]:
        """List the entries that a run sees or saw, newest first, while its snapshot is kept.

        Args:
            reference: of one of the run's memories; None for the first one.

        Returns:
            The memory's reference, and the entries.

        Raises:
            NotFound: the tenant has no such run, or it isn't on this memory.
            RunEnded: the snapshot is no longer kept.
        """
        run, memory = self._runs.get_kept(caller, run_id, reference)
        shown = self._references.make_reference(caller.tenant, memory)
        return shown, self._list(caller.tenant, memory, run.snapshot, query)

    def _list(
        self, tenant: str, memory: str, snapshot: int | None, query: EntryListQuery
    ) -> Iterator[MemoryEntry]:
        now = self._clock()
        partition = item_types.MEMORY.build_partition(tenant, memory=memory)
        return (
            entry
            for entry in self._store.list_entries(partition, query, snapshot)
            if rules.is_visible(entry, snapshot, now)
            and (query.tag is None or query.tag in entry.tags)
        )

    def get(
        self, caller: Principal, reference: str, entry_id: str, run_id: str | None
    ) -> MemoryEntry | None:
        """Get an entry of the run's snapshot, or a present entry: one call."""
        memory = self._references.resolve(caller.tenant, reference)
        address = self._parse_id(caller, memory, entry_id, run_id)
        if address is None:
            return None
        number, suffix = address
        snapshot = None
        if run_id is None:
            partition = item_types.MEMORY.build_partition(caller.tenant, memory=memory)
            entry = self._store.get(partition, number)
        else:
            entry, run = self._store.get_with_run(caller.tenant, memory, number, run_id)
            snapshot = rules.assert_open(run, self._clock(), memory).snapshot
        if entry is None or entry.suffix != suffix:
            return None
        return entry if rules.is_visible(entry, snapshot, self._clock()) else None

    def _parse_id(
        self, caller: Principal, memory: str, entry_id: str, run_id: str | None
    ) -> tuple[int, str] | None:
        """Parse the id of an entry; if it is malformed, check the run, since no read does."""
        address = openwop_keys.parse_memory_entry_id(entry_id)
        if address is None and run_id is not None:
            self._runs.get_open(caller.tenant, memory, run_id)
        return address

    @retry_on(SecretsChanged, "runs are being started and ended on this memory", attempts=25)
    def put(
        self, caller: Principal, reference: str, new: NewMemoryEntry, token: RequestToken | None
    ) -> MemoryEntry:
        """Put an entry without the secrets of the memory's open runs (SR-1).

        It takes one call if this process has cached the memory's secrets; two more if they changed.

        Raises:
            SecretLeakage: the entry contains a secret, and the run rejects secrets.
            ValidationFailed: `expiresAt` is not in the future.
            ValueTooLarge: the content is too large, before or after redaction.
            IdempotencyConflict: the Idempotency-Key came with another body.
            Throttled: the memory's secrets changed in each attempt.
        """
        memory = self._references.resolve(caller.tenant, reference)
        rules.assert_not_expired(new.expires_at, self._clock())
        rules.assert_content_fits(new.content)
        draft = self._redact(caller, memory, new, token)
        try:
            return self._store.put(draft)
        except SecretsChanged:
            self._secrets.refresh(draft.partition)
            raise

    def _redact(
        self, caller: Principal, memory: str, new: NewMemoryEntry, token: RequestToken | None
    ) -> MemoryEntryDraft:
        """Build the entry, without the secrets that this process has cached."""
        tenant, now = caller.tenant, self._clock()
        known = self._secrets.get_known(item_types.MEMORY.build_partition(tenant, memory=memory))
        redactor = self._secrets.build_redactor(tenant, known, now)
        texts = [new.content, *new.tags]
        labels = redactor.find_labels(texts)
        if labels:
            if new.run_id is not None:
                run = self._runs.get_open(tenant, memory, new.run_id)
                if run.on_secret == "reject":  # noqa: S105 - a policy
                    raise SecretLeakage(labels)
                redactor = self._secrets.build_redactor(tenant, known, now, run.redaction_marker)
            texts = redactor.redact(texts)
            rules.assert_content_fits(texts[0])
        entry = MemoryEntry(
            sequence=0,
            suffix=openwop_keys.create_random_suffix(),
            content=texts[0],
            tags=rules.clean_tags(texts[1:]),
            expires_at=new.expires_at,
            put_in=new.run_id,
            put_by=caller.id,
            request=None if token is None else token.key,
        )
        return MemoryEntryDraft(tenant, memory, entry, sum_secrets(known), now, token)

    def delete(self, caller: Principal, reference: str, entry_id: str, run_id: str | None) -> bool:
        """Delete an entry for all runs that start later; return whether it existed.

        It takes one call if the caller put it, else three.
        """
        memory = self._references.resolve(caller.tenant, reference)
        address = self._parse_id(caller, memory, entry_id, run_id)
        if address is None:
            return False
        place, number = item_types.MEMORY.build_partition(caller.tenant, memory=memory), address[0]
        delete = partial(self._store.delete, caller.tenant, memory, *address, run_id, self._clock())
        if delete(caller.id):
            return True
        entry = self._store.get(place, number)
        if entry is None or entry.put_by == caller.id:
            return False
        target, before = f"openwop-entry:{entry.id}", {"put_by": entry.put_by}
        return delete(entry.put_by, self._audit.record(caller, DELETE_ENTRY, target, before))
