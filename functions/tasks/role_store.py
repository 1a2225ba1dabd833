"""Conditions on the roles in tasks and intents, for writes that don't read these items.

An entry is written in one call, which doesn't read its task: the caller's role is a condition of
the write. `functions.tasks.authority` has the rules; each condition here names its action.
"""

from functions.identity.model import Principal
from functions.platform.items import Item
from functions.platform.keys import hash_agent


def build_member_condition(caller: Principal) -> tuple[str, Item]:
    """Build the condition of `functions.tasks.rules.is_assignee_or_coordinator`."""
    if caller.may_coordinate:
        return "(assigned_agent = :caller OR coordinator = :caller)", {"caller": caller.id}
    return "assigned_agent = :caller", {"caller": caller.id}


def build_registrar_condition(caller: Principal) -> tuple[str, Item]:
    """Build the condition that the caller is a member of a task, or has registered it."""
    condition, values = build_member_condition(caller)
    return f"({condition} OR registered_by = :caller)", values


def build_use_condition(caller: Principal) -> tuple[str, Item]:
    """Build the condition of `functions.tasks.intent_authority.USE_INTENT` on the intent."""
    access = f"acl.p{hash_agent(caller.id)}.#access"
    condition = f"attribute_not_exists(owner_id) OR owner_id = :caller OR {access} = :write"
    return f"({condition})", {"caller": caller.id, "write": "write"}
