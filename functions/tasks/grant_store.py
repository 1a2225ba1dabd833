"""Read and write the grants of tasks."""

from collections.abc import Iterator
from functools import partial

from functions.platform import item_types
from functions.platform.bounded_pages import WantedPage
from functions.platform.clock import to_ttl_seconds
from functions.platform.items import from_attributes, to_attributes
from functions.platform.limits import MAX_GRANTS
from functions.platform.newest_first import build_list_attributes, list_items
from functions.platform.schema import TTL_ATTRIBUTE
from functions.platform.table import Store
from functions.platform.writes import (
    Write,
    build_unchanged_condition,
    check,
    delete,
    put,
    update,
)
from functions.tasks.model import FOREVER, Grant, Task
from functions.tasks.store import IS_OPEN

_decode = partial(from_attributes, Grant)


class GrantStore(Store):
    """Reads and writes the grants of tasks."""

    def get(self, tenant: str, task_id: str, principal: str) -> Grant | None:
        """Read a principal's grant: one call."""
        key = item_types.GRANT.build_key(tenant, task=task_id, principal=principal)
        return self._table.find(key, _decode)

    def list_all(self, tenant: str, task_id: str, wanted: WantedPage) -> Iterator[Grant]:
        """List a task's grants, newest first."""
        return map(_decode, list_items(self._table, item_types.GRANT, wanted, tenant, task=task_id))


def replace_grant(tenant: str, task: Task, old: Grant | None, new: Grant | None) -> Iterator[Write]:
    """Replace the grant that was read; None for no grant.

    The conditions: the task is open, and its assignee and coordinator are unchanged. It counts the
    grants of its assignee.
    """
    principal = (new or old or Grant("", "read", 0)).principal
    key = item_types.GRANT.build_key(tenant, task=task.id, principal=principal)
    # A grant has no version: its time identifies the one that was read.
    seen = None if old is None else old.created_at
    condition, values = build_unchanged_condition({"created_at": seen})
    if new is None:
        yield delete(key, condition, **values)
    else:
        # DynamoDB removes a grant some time after its expiry.
        expiry = None if new.expires_at == FOREVER else to_ttl_seconds(new.expires_at)
        listed = build_list_attributes(key[0], new.created_at, new.principal)
        item = to_attributes(new) | listed | {TTL_ATTRIBUTE: expiry}
        yield put(key, item, condition, **values)
    yield _count_grants(tenant, task, count_granted(task, old, new))


def count_granted(task: Task, old: Grant | None, new: Grant | None) -> int:
    """Return the change of a task's number of grants by its assignee in the present term."""
    before, after = (int(each is not None and each.term == task.term) for each in (old, new))
    return after - before


def _count_grants(tenant: str, task: Task, more: int) -> Write:
    """Check that a task has the same assignee and coordinator, and count its grants."""
    key = item_types.TASK.build_key(tenant, task=task.id)
    is_same, values = build_unchanged_condition(
        {"term": task.term, "coordinator": task.coordinator}
    )
    condition = f"{IS_OPEN} AND {is_same}"
    if more == 0:
        return check(key, condition, **values)
    if more > 0:
        condition += " AND (attribute_not_exists(granted) OR granted < :max)"
        values["max"] = MAX_GRANTS
    return update(key, "ADD granted :more", condition, more=more, **values)
