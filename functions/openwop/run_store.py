"""Runs on memories: their items, and the pins that keep their snapshots."""

from collections.abc import Iterator, Sequence

from functions.openwop.model import MemoryRun
from functions.openwop.rules import CLOCK_SKEW, run_not_found
from functions.openwop.secret_store import (
    SecretsChange,
    assert_room,
    count_secrets,
    remove_secrets,
)
from functions.platform.bounded_pages import WantedPage
from functions.platform.clock import to_ttl_seconds
from functions.platform.idempotency import RequestToken
from functions.platform.item_types import MEMORY, MEMORY_RUN, SNAPSHOT_PIN
from functions.platform.items import Item, from_attributes, to_attributes
from functions.platform.keys import Key, get_tenant
from functions.platform.limits import ENDED_OPENWOP_RUN_LIFETIME
from functions.platform.newest_first import build_list_attributes, list_items
from functions.platform.openwop_keys import is_memory_run_id
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.table import ConditionFailed, Store
from functions.platform.writes import (
    ABSENT,
    Write,
    build_unchanged_condition,
    check,
    delete,
    put,
    put_new,
)

_ALWAYS = f"{ABSENT} OR attribute_exists(pk)"
_SECRETS = "secrets_number = :number"
_IS_OPEN = "deadline > :now AND attribute_not_exists(ended_at)"


class MemoryRunStore(Store):
    """Reads and writes runs; all reads are strongly consistent."""

    def get(self, tenant: str, run: str) -> MemoryRun | None:
        """Read a run: one read."""
        return decode_run(self._table.get(build_run_key(tenant, run)))

    def list_started(self, tenant: str, principal: str, wanted: WantedPage) -> Iterator[MemoryRun]:
        """List the runs that a principal started, newest first, by an index."""
        items = list_items(self._table, MEMORY_RUN, wanted, tenant, principal=principal)
        return (from_attributes(MemoryRun, item) for item in items)

    def open(
        self,
        tenant: str,
        run: MemoryRun,
        checks: Sequence[Write],
        secrets: Sequence[Write],
        request: RequestToken,
    ) -> MemoryRun:
        """Open a run with the writes of its secrets, on condition of the checks of its snapshot.

        Returns the run, or the run that an earlier try of the request opened.
        """
        key = build_run_key(tenant, run.run_id)
        partitions = build_partitions(tenant, run)
        pins = [_put_pin(partition, run) for partition in partitions]
        try:
            self._table.transact([*checks, put_new(key, _encode(tenant, run)), *pins, *secrets])
        except ConditionFailed as refused:
            present = refused.failed.get(key)
            if present is None:
                if secrets:
                    assert_room(partitions, SecretsChange.between(None, run), refused)
                raise
            request.matches(present["request"])  # raises, if it had another body
            return from_attributes(MemoryRun, present)
        return run

    def set_secrets(
        self,
        tenant: str,
        before: MemoryRun,
        run: MemoryRun,
        secrets: Sequence[Write],
        now: int,
        *audit: Write,
    ) -> None:
        """Replace the secrets of an open run by those of `run`, which has more."""
        partitions = build_partitions(tenant, run)
        change = SecretsChange.between(before, run)
        changed = _change(tenant, before, run, now)
        writes = [
            changed,
            *secrets,
            *(count_secrets(partition, change) for partition in partitions),
            *audit,
        ]
        try:
            self._table.transact(writes)
        except ConditionFailed as refused:
            if changed.key not in refused.failed:
                assert_room(partitions, change, refused)
            raise

    def end(self, tenant: str, run: MemoryRun, now: int, *audit: Write) -> None:
        """End an open run: delete its secrets, and keep its snapshot for its retention."""
        ended = run._replace(ended_at=now)
        writes = [_change(tenant, run, ended, now), *audit]
        for partition in build_partitions(tenant, run):
            if run.retention:
                writes.append(_put_pin(partition, ended))
            else:
                writes.append(_delete_pin(partition, run))
            if run.secrets:
                writes += remove_secrets(partition, run)
        self._table.transact(writes)

    def delete(self, tenant: str, run: MemoryRun, now: int, *audit: Write) -> None:
        """Delete a run, its secrets, and its hold on its snapshot."""
        condition = f"attribute_exists(pk) AND {_SECRETS}"
        if run.ended_at is None:
            condition += " AND attribute_not_exists(ended_at)"
        key = build_run_key(tenant, run.run_id)
        writes = [delete(key, condition, number=run.secrets_number), *audit]
        for partition in build_partitions(tenant, run):
            writes.append(_delete_pin(partition, run))
            if run.secrets and not run.is_closed(now):
                writes += remove_secrets(partition, run)
        self._table.transact(writes)

    def purge(self, item: Item, now: int) -> None:
        """Delete the run of an item; arguments and errors are those of `delete`."""
        self.delete(get_tenant(item["pk"]), from_attributes(MemoryRun, item), now)


def check_snapshot(tenant: str, run: MemoryRun, heads: Sequence[Item]) -> list[Write]:
    """Check that a run's memories are unchanged since their heads were advanced; count secrets.

    No entry was deleted since then, so all entries of the snapshot still exist. No entry was
    written either, except for the last head: so the snapshot shows all memories as of one moment,
    when the last head was advanced.

    The checks include the last two entries of each memory, so that DynamoDB waits for transactions
    that still write them: from the start, the snapshot is visible completely.
    """
    writes: list[Write] = []
    partitions, added = build_partitions(tenant, run), SecretsChange.between(None, run)
    for partition, head in zip(partitions, heads, strict=True):
        is_last = head is heads[-1]
        expected = {"deletions": head.get("deletions")} if is_last else {"sequence": run.snapshot}
        condition, values = build_unchanged_condition(expected)
        if run.secrets:
            writes.append(count_secrets(partition, added, condition, **values))
        else:
            writes.append(check(MEMORY.build_key_in(partition), condition, **values))
        newest = {head[name] for name in ("newest_sk", "second_sk") if name in head}
        writes += [check((partition, sort), _ALWAYS) for sort in newest]
    return writes


def check_kept(tenant: str, run: MemoryRun, original: MemoryRun, now: int) -> list[Write]:
    """Check that the snapshot that a run replays is still kept; count the run's secrets."""
    writes: list[Write] = []
    for partition in build_partitions(tenant, run):
        pin = _build_pin_key(partition, original)
        writes.append(check(pin, "snapshot_kept_until > :now", now=now))
        if run.secrets:
            writes.append(count_secrets(partition, SecretsChange.between(None, run)))
    return writes


def check_run_open(tenant: str, run: str, memory: str, now: int) -> Write:
    """Check that a run is open and on a memory."""
    condition = f"{_IS_OPEN} AND contains(memories, :memory)"
    return check(build_run_key(tenant, run), condition, now=now, memory=memory)


def build_run_key(tenant: str, run: str) -> Key:
    """Build the key of a run; raise if the text has not the form of an id."""
    if not is_memory_run_id(run):
        raise run_not_found()
    return MEMORY_RUN.build_key(tenant, run=run)


def build_partitions(tenant: str, run: MemoryRun) -> list[str]:
    """Build the partitions of a run's memories."""
    return [MEMORY.build_partition(tenant, memory=memory) for memory in run.memories]


def decode_run(item: Item | None) -> MemoryRun | None:
    """Decode the run of an item, if there is one."""
    return None if item is None else from_attributes(MemoryRun, item)


def _encode(tenant: str, run: MemoryRun) -> Item:
    """Encode a run; it is kept longer than its snapshot, so callers learn that it ended."""
    partition = MEMORY_RUN.build_group(tenant, principal=run.started_by)
    return to_attributes(run) | {
        TTL_ATTRIBUTE: to_ttl_seconds(run.snapshot_kept_until + ENDED_OPENWOP_RUN_LIFETIME),
        **build_list_attributes(partition, run.started_at, run.run_id),
    }


def _change(tenant: str, before: MemoryRun, after: MemoryRun, now: int) -> Write:
    """Build the write of an open run, on condition that its secrets are unchanged."""
    key, number = build_run_key(tenant, after.run_id), before.secrets_number
    return put(key, _encode(tenant, after), f"{_IS_OPEN} AND {_SECRETS}", now=now, number=number)


def _build_pin_key(partition: str, run: MemoryRun) -> Key:
    return SNAPSHOT_PIN.build_key_in(partition, sequence=run.snapshot, run=run.run_id)


def _put_pin(partition: str, run: MemoryRun) -> Write:
    pin = {
        "snapshot_kept_until": run.snapshot_kept_until,
        "ends_at": run.ends_at,
        TTL_ATTRIBUTE: to_ttl_seconds(run.snapshot_kept_until + CLOCK_SKEW),
    }
    return put(_build_pin_key(partition, run), pin)


def _delete_pin(partition: str, run: MemoryRun) -> Write:
    return delete(_build_pin_key(partition, run))
