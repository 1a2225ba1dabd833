"""The MemoryAdapter: list, get, put, delete (OpenWOP RFC 0004 §A, contract §7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from functions.identity.model import Principal
from functions.openwop.entry_store import MemoryEntryDraft, MemoryEntryStore
from functions.openwop.model import EntryListQuery, MemoryEntry
from functions.openwop.references import MemoryReferences, assert_run_on
from functions.openwop.rules import (
    assert_content_fits,
    assert_not_expired,
    clean_tags,
    is_visible,
)
from functions.openwop.runs import MemoryRuns
from functions.platform.clock import Clock
from functions.platform.errors import SecretLeakage
from functions.platform.idempotency import RequestToken
from functions.platform.openwop_keys import create_random_suffix, parse_memory_entry_id

if TYPE_CHECKING:
    from functions.openwop.requests import NewMemoryEntry


class Memories:
    """Use cases of the entries of memories.

    `reference` is the memoryRef; a `run_id` makes a call see the run's snapshot. Every method
    raises `AccessDenied` where the reference was not issued for the caller's tenant, `NotFound`
    where the memory has no such run, and `RunEnded` where the run is closed.
    """

    def __init__(
        self,
        store: MemoryEntryStore,
        runs: MemoryRuns,
        references: MemoryReferences,
        clock: Clock,
    ) -> None:
        self._store = store
        self._runs = runs
        self._references = references
        self._clock = clock

    def list(
        self, caller: Principal, reference: str, run_id: str | None, query: EntryListQuery
    ) -> Iterator[MemoryEntry]:
        """List what a run's snapshot, or the present, shows, newest first.

        One call for the run, one for the entries, and with a tag one for its rows.
        """
        partition = self._references.resolve(caller.tenant, reference)
        snapshot = None
        if run_id is not None:
            snapshot = self._runs.get_snapshot(caller.tenant, partition, run_id)
        now = self._clock()
        entries = self._store.list_entries(partition, query, snapshot)
        return (
            entry
            for entry in entries
            if is_visible(entry, snapshot, now) and (query.tag is None or query.tag in entry.tags)
        )

    def get(
        self, caller: Principal, reference: str, entry_id: str, run_id: str | None
    ) -> MemoryEntry | None:
        """Get an entry if the run's snapshot, or the present, shows it: one call."""
        partition = self._resolve(caller, reference, run_id)
        address = parse_memory_entry_id(entry_id)
        if address is None:
            return None
        number, suffix = address
        snapshot = None
        if run_id is None:
            entry = self._store.get(partition, number)
        else:
            entry, run = self._store.get_with_run(partition, number, run_id)
            snapshot = self._runs.assert_open(run).snapshot
        if entry is None or entry.suffix != suffix:
            return None
        return entry if is_visible(entry, snapshot, self._clock()) else None

    def put(
        self, caller: Principal, reference: str, new: NewMemoryEntry, token: RequestToken | None
    ) -> MemoryEntry:
        """Put an entry without the run's secrets: one call, and one where they are not cached.

        Raises:
            SecretLeakage: the entry contains a secret, and the run rejects those.
            ValidationFailed: `expiresAt` is not in the future.
            ValueTooLarge: the content is too large, as it came or once redacted.
            IdempotencyConflict: the Idempotency-Key came with another body.
        """
        partition, now = self._references.resolve(caller.tenant, reference), self._clock()
        assert_not_expired(new.expires_at, now)
        assert_content_fits(new.content)
        content, tags = self._redact(caller.tenant, partition, new)
        assert_content_fits(content)
        entry = MemoryEntryDraft(
            partition=partition,
            suffix=create_random_suffix(),
            content=content,
            tags=clean_tags(tags),
            expires=new.expires_at,
            run=new.run_id,
            now=now,
            token=token,
        )
        return self._store.put(entry)

    def _redact(
        self, tenant: str, partition: str, new: NewMemoryEntry
    ) -> tuple[str, Sequence[str]]:
        """Remove the run's secrets from content and tags (SR-1)."""
        if new.run_id is None:
            return new.content, new.tags
        policy, redactor = self._runs.get_redactor(tenant, partition, new.run_id)
        if policy.on_secret == "reject":  # noqa: S105 - a policy
            labels = redactor.find_labels(new.content, *new.tags)
            if labels:
                raise SecretLeakage(labels)
        return redactor.redact(new.content), [redactor.redact(tag) for tag in new.tags]

    def delete(self, caller: Principal, reference: str, entry_id: str, run_id: str | None) -> bool:
        """Delete an entry for all runs that start later; whether it existed: one call."""
        partition, now = self._resolve(caller, reference, run_id), self._clock()
        address = parse_memory_entry_id(entry_id)
        return address is not None and self._store.delete(partition, *address, run_id, now)

    def _resolve(self, caller: Principal, reference: str, run_id: str | None) -> str:
        partition = self._references.resolve(caller.tenant, reference)
        if run_id is not None:
            assert_run_on(caller.tenant, partition, run_id)
        return partition
