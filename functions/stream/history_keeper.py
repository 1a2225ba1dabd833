"""Keep earlier versions of entries, and remove them with their entries (CONTRACT3 section 15).

A version is stored under its own key, so a repeated record stores it once. The entry is read after
the write. If it has just been removed, the version is removed again, so a late record leaves
nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

from functions.container import Container
from functions.entries.history_store import HistoryStore, build_version_key
from functions.entries.model import Entry
from functions.entries.tiers import SEMANTIC, WORKING
from functions.platform import item_types
from functions.platform.items import Item, decode_item
from functions.platform.kept_history import get_days
from functions.platform.keys import Key
from functions.platform.limits import DEFAULT_HISTORY_DAYS
from functions.platform.run_keys import DAY
from functions.stream.records import ENTRIES, StreamBatch, StreamRecord, Subscription


class _Superseded(NamedTuple):
    """A version that a newer one of the entry superseded."""

    record: StreamRecord
    old: Entry
    item: Item
    time: int

    @property
    def rule_key(self) -> Key:
        """The key of the item with its retention."""
        if self.old.memory_type == SEMANTIC.name:
            return self.old.address.namespace_key
        tenant = self.old.address.tenant
        return item_types.AGENT.build_key(tenant, agent=self.old.address.owner)

    @property
    def version_key(self) -> Key:
        return build_version_key(self.record.key, self.item, self.time)


@dataclass(eq=False)
class HistoryKeeper:
    """The consumer of changes of semantic and episodic entries that keeps earlier versions."""

    SUBSCRIPTIONS: ClassVar[tuple[Subscription, ...]] = ENTRIES

    _store: HistoryStore

    @classmethod
    def build(cls, container: Container) -> Self:
        """Build the consumer from the function's services."""
        return cls(container.history_store)

    def process(self, batch: StreamBatch) -> None:
        """Store superseded versions, and remove the history of removed entries."""
        superseded, removed = [], []
        for change in batch.changes:
            old, new = change.old, change.new
            if old is None or old.memory_type == WORKING.name:
                continue
            if new is None or new.nonce != old.nonce:
                removed.append((change.record, old))
            elif new.version != old.version and change.record.old is not None:
                item = decode_item(change.record.old)
                superseded.append(_Superseded(change.record, old, item, new.updated_at))
        self._keep(batch, superseded)
        self._remove(batch, removed)

    def _keep(self, batch: StreamBatch, superseded: Sequence[_Superseded]) -> None:
        with batch.guard(each.record for each in superseded):
            rules = self._store.get_items({each.rule_key for each in superseded})
            kept = {
                each.version_key: (each, days)
                for each in superseded
                if (days := _read_days(each, rules.get(each.rule_key))) > 0
            }
            if not kept:
                return
            self._store.put(
                (each.record.key, each.item, each.time, each.time + days * DAY)
                for each, days in kept.values()
            )
            self._remove_late(each for each, _ in kept.values())

    def _remove_late(self, stored: Iterable[_Superseded]) -> None:
        """Remove versions again if their entry or its history was removed before the write."""
        versions = list(stored)
        entries = self._store.get_items({each.record.key for each in versions})
        self._store.remove(
            each.version_key
            for each in versions
            if not _belongs(each.old, entries.get(each.record.key))
        )

    def _remove(self, batch: StreamBatch, removed: Iterable[tuple[StreamRecord, Entry]]) -> None:
        for record, old in removed:
            if old.version == 1:
                continue
            with batch.guard([record]):
                self._store.remove(self._store.list_keys(old.address, old.nonce))


def _read_days(superseded: _Superseded, item: Item | None) -> int:
    """Read how many days a version is kept, from the item of its namespace or agent."""
    if superseded.old.memory_type == SEMANTIC.name:
        return get_days((item or {}).get("history"), DEFAULT_HISTORY_DAYS)
    return get_days((item or {}).get("episodic_history"), 0)


def _belongs(version: Entry, item: Item | None) -> bool:
    if item is None or item["nonce"] != version.nonce:
        return False
    since: int = item.get("history_since", 0)
    return version.version >= since
