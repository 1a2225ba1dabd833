"""Items of deletions, and the pages of tables that they scan."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Literal

from functions.deletions.model import Deletion, Subject
from functions.identity.model import Actor
from functions.platform import item_types
from functions.platform.archive_storage import ArchiveStorage
from functions.platform.bulk_writes import delete_in_transactions, write_parallel
from functions.platform.due_index import DueIndex
from functions.platform.item_types import ItemType
from functions.platform.items import Item, from_attributes, to_attributes
from functions.platform.keys import Key, build_due_attributes, get_due_shard, get_tenant, hash_agent
from functions.platform.limits import DELETION_PREVIEW_DAYS, DELETION_RETENTION_DAYS
from functions.platform.parallel import run_parallel
from functions.platform.schema import BY_GROUP, GROUP_ATTRIBUTE, TTL_ATTRIBUTE
from functions.platform.table import Table
from functions.platform.writes import ABSENT, Write, check, delete, put, put_version

_DAY_S = 86_400
_PAGE_ITEMS = 500
_LISTED = 5_000  # due items, of which deletions are some
_FILES = 200
_FOLDERS = ("conversations", "objects")  # of the archive storage


class DeletionStore:
    """Reads and writes deletions, and scans what they remove."""

    def __init__(self, memory: Table, log: Table, archive_storage: ArchiveStorage | None) -> None:
        self._memory = memory
        self._log = log
        self._storage = archive_storage

    def get(self, key: Key) -> Deletion | None:
        """Read a deletion: one read."""
        return self._memory.find(key, _decode)

    def list_all(self) -> list[Deletion]:
        """Read all deletions, without previews: a query."""
        prefix = item_types.DELETION.sort_prefix
        items = self._memory.query(item_types.DELETION.build_partition(), prefix)
        return list(map(_decode, items))

    def try_commit(self, writes: Sequence[Write]) -> bool:
        """Write all or none; return whether the conditions held."""
        return self._memory.try_write(*writes)

    def put(self, deletion: Deletion) -> None:
        """Write a deletion, and replace an existing one."""
        self._memory.put(put(get_key(deletion), _encode(deletion)))

    def save(self, new: Deletion, old: Deletion) -> bool:
        """Write the progress of a deletion; return False if another worker has taken the step."""
        return self._memory.try_write(_build_put(new, old))

    def list_due(self, now: int) -> list[Deletion]:
        """Read deletions and previews that are due, the longest due first, by an index."""
        partition = item_types.DELETION.build_partition()
        due = DueIndex(self._memory).list_shard(get_due_shard(partition), now)
        keys = [each.key for each in islice(due, _LISTED) if each.key[0] == partition]
        found = self._memory.get_many(keys)
        return [_decode(found[key]) for key in keys if key in found]

    def scan(self, deletion: Deletion, tenants: Iterable[str]) -> tuple[list[Item], Key | None]:
        """Read a page of tenants' items, and the key after which the next page begins."""
        table = self._memory if deletion.stage == "memory" else self._log
        own = {f"own{number}": f"{tenant}#" for number, tenant in enumerate(tenants)}
        condition = " OR ".join(f"begins_with(pk, :{name})" for name in own)
        return table.scan(deletion.after, _PAGE_ITEMS, condition, **own)

    def has_facts_about(self, tenant: str, subject: str) -> bool:
        """Tell whether there is a fact with this subject, by an index."""
        group = item_types.FACT.build_group(tenant, subject=subject)
        rows = self._memory.query_index(BY_GROUP, f"{GROUP_ATTRIBUTE} = :group", group=group)
        return next(rows, None) is not None

    def list_permissions(self, tenant: str) -> list[Item]:
        """Read the permissions of all namespaces, names with a prefix, and spaces of a tenant."""
        return [
            item
            for each in (item_types.NAMESPACE, item_types.PREFIX_RULE, item_types.OBJECT_SPACE)
            for item in self._memory.query(each.build_partition(tenant=tenant), each.sort_prefix)
        ]

    def delete_items(self, items: Iterable[Item], *, is_log: bool) -> None:
        """Delete items one by one."""
        keys = [_get_key(item) for item in items]
        named = {item_types.TENANT.build_partition(get_tenant(pk)) for pk, _sk in keys}
        identity = [key for key in keys if key[0] in named and not is_log]
        others = [key for key in keys if key not in identity]
        write_parallel(self._log if is_log else self._memory, map(delete, others))
        delete_in_transactions(self._memory, identity)

    def replace_item(self, old: Item, new: Item, seen: str = "version") -> bool:
        """Replace an item that was scanned; return False if it has changed since.

        Args:
            seen: the attribute that each change of the item changes: `events` for a log's item.
        """
        table = self._log if seen == "events" else self._memory
        attributes = {name: value for name, value in new.items() if name not in ("pk", "sk")}
        return table.try_write(put_version(_get_key(old), attributes, old[seen], seen))

    def list_files(self, tenant: str) -> Iterator[str]:
        """List the names of a tenant's files."""
        if self._storage is not None:
            for folder in _FOLDERS:
                yield from self._storage.list_names(f"{folder}/{tenant}/")

    def delete_files(self, tenant: str) -> int:
        """Delete some of a tenant's files; return how many, 0 if it has none."""
        if self._storage is None:
            return 0
        names = list(islice(self.list_files(tenant), _FILES))
        run_parallel([partial(self._storage.delete, name) for name in names])
        return len(names)


def build_begin(new: Deletion, old: Deletion | None, record: Write) -> list[Write]:
    """Build the writes that begin a deletion and replace the one that was read."""
    writes = [_build_put(new, old), record]
    if new.subject.kind != "tenant":
        writes.append(check(item_types.DELETION.build_key(subject=new.subject.tenant), ABSENT))
    return writes


def get_key(deletion: Deletion) -> Key:
    """Build the key of a deletion's item."""
    tenant, _, name = deletion.subject
    item_type = item_types.DELETION_PREVIEW if deletion.dry_run else item_types.DELETION
    return item_type.build_key(subject=tenant if name is None else f"{tenant}#{hash_agent(name)}")


def _build_put(new: Deletion, old: Deletion | None) -> Write:
    seen = None if old is None else old.revision
    return put_version(get_key(new), _encode(new), seen, "revision")


def _get_key(item: Item) -> Key:
    return item["pk"], item["sk"]


def _encode(deletion: Deletion) -> Item:
    subject = deletion.subject
    days = DELETION_PREVIEW_DAYS if deletion.dry_run else DELETION_RETENTION_DAYS
    is_kept = subject.kind == "tenant" and not deletion.dry_run
    due = None if deletion.is_done else max(deletion.pass_began_at, deletion.requested_at)
    kept_until = deletion.requested_at // 1000 + days * _DAY_S
    return {
        **subject._asdict(),
        **to_attributes(deletion, "subject"),
        "requested_by": list(deletion.requested_by),
        TTL_ATTRIBUTE: None if is_kept else kept_until,
        **build_due_attributes(get_key(deletion)[0], due),
    }


def _decode(item: Item) -> Deletion:
    subject, requested_by = from_attributes(Subject, item), Actor(*item["requested_by"])
    return from_attributes(Deletion, item, subject=subject, requested_by=requested_by)


def find_types(items: Iterable[Item], *, is_log: bool) -> list[tuple[ItemType | None, Item]]:
    """Return each item with its type; None for an item of no known type."""
    table: Literal["memory", "log"] = "log" if is_log else "memory"
    return [(item_types.find_item_type(table, (item["pk"], item["sk"])), item) for item in items]
