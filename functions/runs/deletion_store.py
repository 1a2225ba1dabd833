"""Delete runs and episodes, and free their places in the quota in the same transaction.

The run is deleted first: a marker replaces it, and later appends read the marker. Then its episodes
are deleted; the schedule finishes what a request began.
"""

import time
from collections.abc import Callable, Sequence

from functions.platform import schema
from functions.platform.item_types import DELETED_RUN, EPISODE
from functions.platform.items import Item
from functions.platform.keys import REMOVE_DUE, Key, build_due_attributes, get_tenant
from functions.platform.run_keys import build_episode_key, parse_episode_id
from functions.platform.staging import Staging, hide_parts
from functions.platform.table import ConditionFailed, Table
from functions.platform.writes import Write, delete, put, put_version, split_by_size, update
from functions.runs.store import list_values
from functions.usage.store import build_release

_MAX_GROUP = 90  # episodes of a transaction
_MAX_GROUP_BYTES = 3_000_000
_RESUMED_AFTER = 60_000  # ms, if the request doesn't end

Audit = Callable[[Sequence[Item]], list[Write]]
"""Builds the audit records of the deletion of these episodes."""


class RunDeletionStore:
    """Deletes runs and episodes of all tenants."""

    def __init__(self, table: Table, staging: Staging) -> None:
        self._table = table
        self._staging = staging

    def delete_run(self, item: Item, now: int, audit: Sequence[Write]) -> None:
        """Replace a run by a marker."""
        key, values = (item["pk"], item["sk"]), list_values(item)
        lasting = {"id": item["id"], schema.TTL_ATTRIBUTE: item[schema.TTL_ATTRIBUTE]}
        due = build_due_attributes(item["pk"], now + _RESUMED_AFTER)
        writes = [
            put_version(key, lasting, item["version"]),
            put(DELETED_RUN.build_key_in(item["pk"]), lasting | due),
            *(write for each in values for write in hide_parts(each, now)),
            *audit,
        ]
        self._table.transact(writes)
        for each in values:
            self._staging.remove_parts(each)

    def is_deletion_pending(self, partition: str) -> bool:
        """Tell whether the run was deleted, and possibly not all of its episodes: one read."""
        marker = self._table.get(DELETED_RUN.build_key_in(partition))
        return marker is not None and schema.DUE_ATTRIBUTE in marker

    def delete_episodes(self, partition: str, deadline: float, audit: Audit) -> tuple[int, bool]:
        """Delete the episodes of a deleted run until a time (monotonic, in seconds).

        Returns:
            The number of deleted episodes, and whether none are left.
        """
        deleted = 0
        items = self._table.query(partition, EPISODE.sort_prefix)
        for group in split_by_size(
            items, lambda item: len(item["value"]), _MAX_GROUP_BYTES, _MAX_GROUP
        ):
            if time.monotonic() >= deadline:
                return deleted, False
            deleted += self._delete_group(group, audit)
        marker = DELETED_RUN.build_key_in(partition)
        self._table.update(update(marker, REMOVE_DUE, "attribute_exists(pk)"))
        return deleted, True

    def delete_episode(self, partition: str, episode_id: str, audit: Audit) -> bool:
        """Delete one episode of a run; return whether it existed."""
        token = parse_episode_id(episode_id)
        item = None if token is None else self._table.get(build_episode_key(partition, token))
        if item is None or item[schema.TYPE_ORDER_ATTRIBUTE] != token:
            return False
        return self._delete_group([item], audit) == 1

    def _delete_group(self, items: Sequence[Item], audit: Audit) -> int:
        """Delete the episodes that still exist, in one transaction."""
        while items:
            writes = [
                delete(
                    (each["pk"], each["sk"]),
                    f"{schema.TYPE_ORDER_ATTRIBUTE} = :at",
                    at=each[schema.TYPE_ORDER_ATTRIBUTE],
                )
                for each in items
            ]
            released = build_release(get_tenant(items[0]["pk"]), len(items))
            try:
                self._table.transact([*writes, released, *audit(items)])
            except ConditionFailed as refused:
                items = [each for each in items if (each["pk"], each["sk"]) not in refused.failed]
            else:
                return len(items)
        return 0

    def resume(self, key: Key, seconds: float) -> bool:
        """Delete the remaining episodes of a deleted run for at most `seconds`.

        Args:
            key: the marker's key.

        Returns:
            True if none are left.
        """
        _, is_done = self.delete_episodes(key[0], time.monotonic() + seconds, lambda _: [])
        return is_done
