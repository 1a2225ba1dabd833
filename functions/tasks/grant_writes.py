"""The writes by which grants on tasks change; only who directs an open task makes them."""

from typing import Any

from functions.identity.model import Principal
from functions.platform import keys
from functions.platform.keys import agent_digest
from functions.platform.limits import MAX_GRANTS
from functions.platform.writes import Write, update
from functions.tasks.items import grant_attributes
from functions.tasks.model import Grant
from functions.tasks.writes import OPEN, directors


def set_grant(tenant: str, task_id: str, caller: Principal, grant: Grant) -> Write:
    """Gives somebody access to a task's working memory."""
    place = f"grants.p{agent_digest(grant.principal)}"
    return _directed(
        tenant,
        task_id,
        caller,
        f"SET {place} = :grant",
        f"(size(grants) < :most OR attribute_exists({place}))",
        grant=grant_attributes(grant),
        most=MAX_GRANTS,
    )


def remove_grant(tenant: str, task_id: str, caller: Principal, principal: str) -> Write:
    """Takes a grant back."""
    place = f"grants.p{agent_digest(principal)}"
    return _directed(tenant, task_id, caller, f"REMOVE {place}", f"attribute_exists({place})")


def _directed(
    tenant: str, task_id: str, caller: Principal, expression: str, condition: str, **values: Any
) -> Write:
    return update(
        keys.task_item(tenant, task_id),
        expression,
        f"{OPEN} AND ({directors(caller)}) AND {condition}",
        caller=caller.id,
        **values,
    )
