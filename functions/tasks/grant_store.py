"""Reads of grants, and the writes by which they change; a grant is a separate item."""

from collections.abc import Iterator

from functions.platform import item_types
from functions.platform.item_types import GRANT
from functions.platform.items import Item
from functions.platform.limits import MAX_GRANTS
from functions.platform.newest_first import build_list_attributes, iterate_items
from functions.platform.table import Store
from functions.platform.writes import ABSENT, Write, check, delete, put, update
from functions.tasks.mapper import grant_from_item, grant_to_item
from functions.tasks.model import Grant, Task
from functions.tasks.store import IS_OPEN


class GrantStore(Store):
    """Reads and writes the grants of tasks."""

    def get(self, tenant: str, task_id: str, principal: str) -> Grant | None:
        """Read a principal's grant: one call."""
        item = self._table.get(
            item_types.GRANT.build_key(tenant, task=task_id, principal=principal)
        )
        return None if item is None else grant_from_item(item)

    def list_all(self, tenant: str, task_id: str) -> list[Grant]:
        """Read all grants of a task: a call per megabyte."""
        partition = item_types.TASK.build_key(tenant, task=task_id)[0]
        return [grant_from_item(item) for item in self._table.query(partition, GRANT.sort_prefix)]

    def iterate(self, tenant: str, task_id: str, before: str | None, count: int) -> Iterator[Grant]:
        """Read a task's grants, newest first, before a position: two calls for each `count`."""
        partition = item_types.TASK.build_key(tenant, task=task_id)[0]
        return map(grant_from_item, iterate_items(self._table, partition, before, count))


def replace_grant(tenant: str, task: Task, old: Grant | None, new: Grant | None) -> Iterator[Write]:
    """Put a grant in the place of the one that was read; None is no grant.

    The task has to be open, with the assignee and coordinator that it was read with. It counts the
    grants that its assignee makes.
    """
    principal = (new or old or Grant("", "read", 0)).principal
    key = item_types.GRANT.build_key(tenant, task=task.id, principal=principal)
    condition, values = ABSENT, Item()
    if old is not None:
        # A grant has no version: it is replaced as a whole, so its time says which one was read.
        condition, values = "created_at = :before", {"before": old.created_at}
    if new is None:
        yield delete(key, condition, **values)
    else:
        listed = build_list_attributes(key[0], new.created_at, new.principal)
        yield put(key, grant_to_item(new) | listed, condition, **values)
    yield _count_grants(tenant, task, count_granted(task, old, new))


def count_granted(task: Task, old: Grant | None, new: Grant | None) -> int:
    """Count by how many grants that its assignee made in the present term a task has more."""
    before, after = (int(each is not None and each.term == task.term) for each in (old, new))
    return after - before


def _count_grants(tenant: str, task: Task, more: int) -> Write:
    """Check that a task has the same assignee and coordinator, and count its grants."""
    key = item_types.TASK.build_key(tenant, task=task.id)
    condition, values = f"{IS_OPEN} AND term = :term", Item(term=task.term)
    if task.coordinator is None:
        condition += " AND attribute_not_exists(coordinator)"
    else:
        condition += " AND coordinator = :coordinator"
        values["coordinator"] = task.coordinator
    if more == 0:
        return check(key, condition, **values)
    if more > 0:
        condition += " AND (attribute_not_exists(granted) OR granted < :max)"
        values["max"] = MAX_GRANTS
    return update(key, "ADD granted :more", condition, more=more, **values)


def check_grant(tenant: str, task_id: str, grant: Grant, now: int) -> Write:
    """Check that a principal still has a grant to write."""
    condition, values = "access = :write AND expires_at > :now", Item(write="write", now=now)
    if grant.term is None:
        condition += " AND attribute_not_exists(term)"
    else:
        condition += " AND term = :term"
        values["term"] = grant.term
    return check(
        item_types.GRANT.build_key(tenant, task=task_id, principal=grant.principal),
        condition,
        **values,
    )
