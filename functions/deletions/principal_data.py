"""Remove the items of an agent or a person by the stores of their packages.

So counters, files and parts of values are removed, too. Items that changed since they were read are
left to the next pass.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from functions.conversations.archive import ConversationArchive
from functions.conversations.mapper import decode_header
from functions.conversations.rules import advance
from functions.conversations.state_store import StateStore
from functions.conversations.store import ConversationChanged, ConversationStore
from functions.deletions.model import Subject
from functions.deletions.ownership import NOBODY, is_deleted, is_permitted, is_redacted
from functions.deletions.store import DeletionStore, find_types
from functions.entries.delete import ExpiredEntries
from functions.events.items import build_removed_part_keys, remove_events
from functions.namespaces.model import USERS, list_spellings
from functions.namespaces.service import Namespaces
from functions.objects.rules import is_about
from functions.objects.store import ObjectStore
from functions.openwop.entry_store import MemoryEntryStore
from functions.openwop.run_store import MemoryRunStore
from functions.openwop.sequence_store import MemoryListStore
from functions.platform import item_types
from functions.platform.clock import Clock
from functions.platform.item_types import ItemType
from functions.platform.items import Item
from functions.platform.keys import get_tenant
from functions.platform.run_keys import build_episode_id
from functions.platform.schema import TYPE_ORDER_ATTRIBUTE
from functions.platform.table import ConditionFailed
from functions.runs.deletion_store import RunDeletionStore
from functions.tasks.intent_store import intent_from_item, replace_intent

_SHOWN_TO = ("agent_participants", "shared_with")
_CHANGED = (ConversationChanged, ConditionFailed)
TypedItem = tuple[ItemType | None, Item]


@dataclass(frozen=True)
class Stores:
    """The stores by which a type's items are removed."""

    entries: ExpiredEntries
    conversations: ConversationStore
    archives: ConversationArchive
    states: StateStore
    objects: ObjectStore
    runs: RunDeletionStore
    memories: MemoryEntryStore
    memory_runs: MemoryRunStore
    memory_lists: MemoryListStore
    namespaces: Namespaces


class PrincipalData:
    """Removes and redacts the items of an agent or a person."""

    def __init__(self, store: DeletionStore, stores: Stores, clock: Clock) -> None:
        self._store = store
        self._stores = stores
        self._clock = clock
        conversations, runs = stores.conversations, stores.runs
        self._removals: dict[ItemType, Callable[[Item], object]] = {
            item_types.PRIVATE_ENTRY: lambda item: stores.entries.remove([item], "deleted"),
            item_types.SEMANTIC_ENTRY: lambda item: stores.entries.remove([item], "deleted"),
            item_types.CONVERSATION: lambda item: conversations.delete(
                decode_header(get_tenant(item["pk"]), item), clock()
            ),
            item_types.ARCHIVE: stores.archives.delete_record,
            item_types.STATE: lambda item: stores.states.delete(item, clock()),
            item_types.OBJECT: lambda item: stores.objects.delete([item], clock()),
            item_types.RUN: lambda item: runs.delete_run(item, clock(), []),
            item_types.EPISODE: lambda item: runs.delete_episode(
                item["pk"], build_episode_id(item[TYPE_ORDER_ATTRIBUTE]), lambda _: []
            ),
            item_types.MEMORY_ENTRY: stores.memories.purge,
            item_types.MEMORY_RUN: lambda item: stores.memory_runs.purge(item, clock()),
        }

    def count(self, subject: Subject, items: Sequence[TypedItem]) -> Counter[str]:
        """Count the items of a page that would be removed or redacted."""
        counts = Counter(name for name, _ in self._find(subject, items, is_last=True))
        return counts + Counter(name for name, _ in _select_permissions(subject, items))

    def is_in_a_name(self, tenant: str, person: str) -> bool:
        """Tell whether a namespace, a space or an object is about a person by its name."""
        if self._stores.namespaces.list_about(tenant, person):
            return True
        objects = self._stores.objects
        keys = (
            each
            for spelling in list_spellings(person)
            for each in objects.list_items(tenant, USERS, f"{spelling}/", None, 1)
        )
        named = any(is_about(person, space.name) for space in objects.list_spaces(tenant))
        return named or next(keys, None) is not None

    def take_permissions(self, subject: Subject) -> Counter[str]:
        """Remove the subject from all permissions of namespaces and spaces; count these."""
        counts: Counter[str] = Counter()
        tenant = subject.tenant
        while found := _select_permissions(
            subject, find_types(self._store.list_permissions(tenant), is_log=False)
        ):
            for name, item in found:
                allow = {key: each for key, each in item["allow"].items() if key != subject.id}
                changed = {"allow": allow, "version": item["version"] + 1}
                counts[name] += self._store.replace_item(item, item | changed)
        return counts

    def remove(
        self, subject: Subject, items: Sequence[TypedItem], *, is_last: bool
    ) -> Counter[str]:
        """Remove and redact the subject's items of a page; return their counts.

        Args:
            is_last: whether counters are removed, too.
        """
        counts: Counter[str] = Counter()
        for name, act in self._find(subject, items, is_last=is_last):
            with suppress(*_CHANGED):
                act()
            counts[name] += 1
        return counts

    def _find(
        self, subject: Subject, items: Sequence[TypedItem], *, is_last: bool
    ) -> Iterator[tuple[str, Callable[[], object]]]:
        """Plan the changes of a page of items, each with the name of its type."""
        for item_type, item in items:
            if item_type is None:
                continue
            if item_type.table == "log":
                act = self._plan_log_item(item_type, subject, item)
            elif is_deleted(item_type, subject, item, is_last=is_last):
                act = self._plan_removal(item_type, item)
            elif is_redacted(item_type, subject, item):
                act = self._plan_redaction(item_type, subject, item)
            else:
                continue
            if act is not None:
                yield item_type.name, act

    def _plan_removal(self, item_type: ItemType, item: Item) -> Callable[[], object] | None:
        """Plan a removal; None for permissions whose removal would open their namespace."""
        tenant, namespaces = get_tenant(item["pk"]), self._stores.namespaces
        is_namespace = item_type is item_types.NAMESPACE
        if is_namespace and not namespaces.is_closed_by_rules(tenant, item["namespace"]):
            return None
        remove = self._removals.get(item_type)
        if remove is not None:
            return lambda: remove(item)
        return lambda: self._store.delete_items([item], is_log=False)

    def _plan_redaction(
        self, item_type: ItemType, subject: Subject, item: Item
    ) -> Callable[[], object] | None:
        name = subject.id
        if item_type is item_types.CONVERSATION:
            return lambda: self._redact_conversation(name, item)
        if item_type is item_types.MEMORY:
            return lambda: self._stores.memory_lists.remove(item)
        if item_type is item_types.ARCHIVE:
            shown = {
                each: [other for other in item.get(each, ()) if other != name] or None
                for each in _SHOWN_TO
            }
            return lambda: self._store.replace_item(item, item | shown, "revision")
        intent = intent_from_item(item["intent_id"], item)
        acl = {each: access for each, access in intent.acl.items() if each != name}
        changed = replace(intent, acl=acl, version=intent.version + 1)
        writes = tuple(replace_intent(subject.tenant, intent, changed))
        return lambda: self._store.try_commit(writes)

    def _plan_log_item(
        self, item_type: ItemType, subject: Subject, item: Item
    ) -> Callable[[], object] | None:
        """Plan the change of a log's item; None if it has no event of the subject."""
        if not is_redacted(item_types.LOG_ITEM, subject, item):
            return None
        if not item["pk"].startswith(f"{subject.tenant}#i#"):
            return lambda: self._store.delete_items([item], is_log=True)
        if item_type is not item_types.LOG_ITEM or "first_number" in item:
            return None
        new = remove_events(item, subject.id)
        if new is None:
            return None
        parts = [{"pk": key[0], "sk": key[1]} for key in build_removed_part_keys(item, new)]

        def redact() -> None:
            self._store.replace_item(item, new, "events")  # if it fails, the next pass tries again
            self._store.delete_items(parts, is_log=True)

        return redact

    def _redact_conversation(self, name: str, item: Item) -> None:
        old = self._stores.conversations.get_header(get_tenant(item["pk"]), item["session_id"])
        if old is None:
            return
        new = advance(
            old,
            self._clock(),
            agent_participants=tuple(each for each in old.agent_participants if each != name),
            shared_with=tuple(each for each in old.shared_with if each != name),
            created_by=NOBODY if old.created_by == name else old.created_by,
        )
        self._stores.conversations.change(old, new)


def _select_permissions(subject: Subject, items: Sequence[TypedItem]) -> list[tuple[str, Item]]:
    """Select the items that permit the subject something, each with the name of its type."""
    return [
        (item_type.name, item)
        for item_type, item in items
        if item_type is not None and is_permitted(item_type, subject, item)
    ]
