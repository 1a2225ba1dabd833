"""The MemoryAdapter: list, get, put, delete (OpenWOP RFC 0004 §A, contract §7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from functions.identity.model import Principal
from functions.openwop import writes
from functions.openwop.handles import Handles
from functions.openwop.model import Listing, MemoryEntry
from functions.openwop.positions import Positions
from functions.openwop.rules import assert_fits, assert_lasting, kept_tags, shows
from functions.openwop.runs import Runs, assert_on
from functions.openwop.store import MemoryStore
from functions.openwop.writes import Put
from functions.platform.clock import Clock
from functions.platform.errors import SecretLeakage
from functions.platform.idempotency import RequestToken
from functions.platform.retry import Backoff
from functions.platform.snapshot_keys import (
    new_luck,
    parse_memory_entry_id,
    run_item,
)
from functions.platform.table import Refused

if TYPE_CHECKING:
    from functions.openwop.requests import NewMemoryEntry


class Memories:
    """Use cases on the entries of memories. Every reference is checked before anything is read.

    All of them raise `AccessDenied` for a reference that wasn't issued to the caller's tenant,
    `NotFound` for a run that isn't one of the memory, and `RunEnded` for one that is over.
    """

    def __init__(
        self,
        store: MemoryStore,
        positions: Positions,
        runs: Runs,
        handles: Handles,
        clock: Clock,
    ) -> None:
        self._store = store
        self._positions = positions
        self._runs = runs
        self._handles = handles
        self._clock = clock

    def list(
        self, caller: Principal, reference: str, run_id: str | None, listing: Listing
    ) -> Iterator[MemoryEntry]:
        """What a run's snapshot shows, or what there is at present; the newest first.

        A call for the run, one for the entries, and with a tag one for its rows.
        """
        partition = self._handles.partition(caller.tenant, reference)
        snapshot = None
        if run_id is not None:
            assert_on(caller.tenant, partition, run_id)
            snapshot = self._runs.assert_open(self._store.run(partition, run_id)).position
        now = self._clock()
        found = self._store.entries(partition, listing, snapshot)
        return (
            entry
            for entry in found
            if shows(entry, snapshot, now) and (listing.tag is None or listing.tag in entry.tags)
        )

    def get(
        self, caller: Principal, reference: str, entry_id: str, run_id: str | None
    ) -> MemoryEntry | None:
        """An entry, where the run's snapshot, or for None the present, shows it: one call."""
        partition = self._handles.partition(caller.tenant, reference)
        if run_id is not None:
            assert_on(caller.tenant, partition, run_id)
        named = parse_memory_entry_id(entry_id)
        if named is None:
            return None
        position, luck = named
        snapshot = None
        if run_id is None:
            entry = self._store.entry(partition, position)
        else:
            run, entry = self._store.run_with_entry(partition, run_id, position)
            snapshot = self._runs.assert_open(run).position
        visible = entry and entry.luck == luck and shows(entry, snapshot, self._clock())
        return entry if visible else None

    def put(
        self, caller: Principal, reference: str, new: NewMemoryEntry, token: RequestToken | None
    ) -> MemoryEntry:
        """A new entry, clean of the run's secrets: one call, and one where the run's secrets
        aren't known to this process yet.

        Raises:
            SecretLeakage: it holds a secret, and the run rejects those.
            ValidationFailed: it would have expired already.
            ValueTooLarge: it is too large, as it came or once redacted.
            IdempotencyConflict: the Idempotency-Key came with another body.
        """
        partition, now = self._handles.partition(caller.tenant, reference), self._clock()
        assert_lasting(new.expires_at, now)
        assert_fits(new.content)
        content, tags = self._clean(caller.tenant, partition, new)
        assert_fits(content)
        put = Put(
            partition=partition,
            luck=new_luck(),
            content=content,
            tags=kept_tags(tags),
            expires=new.expires_at,
            run=new.run_id,
            now=now,
            token=token,
        )
        return self._written(put)

    def _clean(self, tenant: str, partition: str, new: NewMemoryEntry) -> tuple[str, Sequence[str]]:
        """Content and tags without the secrets of the run (SR-1)."""
        if new.run_id is None:
            return new.content, new.tags
        sealed, harness = self._runs.harness(tenant, partition, new.run_id)
        if sealed.on_secret == "reject":  # noqa: S105 - a policy
            found = harness.found_in(new.content, *new.tags)
            if found:
                raise SecretLeakage(found)
        return harness.redacted(new.content), [harness.redacted(tag) for tag in new.tags]

    def _written(self, put: Put) -> MemoryEntry:
        backoff = Backoff("this put is being repeated by others")
        while True:
            try:
                return put.entry(self._positions.commit(put.partition, put.writes))
            except Refused as refused:
                found = self._repeated(put, refused)
            if isinstance(found, MemoryEntry):
                return found
            put = found
            backoff.wait()

    def _repeated(self, put: Put, refused: Refused) -> MemoryEntry | Put:
        """The entry that an earlier try of the same request made; once that is gone, what to try
        in its place. Raises, where it is the run that stood in the way."""
        marker = put.marker
        if put.token is None or marker not in refused.failed:
            run = run_item(put.partition, put.run or "")
            raise self._runs.refusal(refused.failed[run])
        earlier = refused.failed[marker]
        if earlier is None:
            return replace(put, replaces=None)
        put.token.wrote(earlier["req"])  # raises, if it had another body
        entry = self._store.entry(put.partition, earlier["at_pos"])
        if entry is not None and shows(entry, None, put.now):
            return entry
        return replace(put, replaces=earlier["at_pos"])

    def delete(self, caller: Principal, reference: str, entry_id: str, run_id: str | None) -> bool:
        """Deletes an entry for all later runs; whether there was one: one call."""
        partition, now = self._handles.partition(caller.tenant, reference), self._clock()
        if run_id is not None:
            assert_on(caller.tenant, partition, run_id)
        entry = parse_memory_entry_id(entry_id)
        if entry is None:
            return False
        try:
            self._positions.commit(
                partition, lambda position: writes.removal(partition, entry, run_id, now, position)
            )
        except Refused as refused:
            run = run_item(partition, run_id or "")
            if run in refused.failed:
                raise self._runs.refusal(refused.failed[run]) from refused
            return False
        return True
