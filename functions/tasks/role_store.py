"""Roles as codes that items list, and conditions on them, of writes that read nothing.

An entry is written in one call, which doesn't read its task. So the task's item lists the codes of
its roles, and the condition of the call compares them: nobody else can make one. Who may do what is
in `functions.tasks.authority`; each condition here names its action.
"""

from functions.identity.model import Principal
from functions.platform.items import Item
from functions.platform.seals import RoleCode
from functions.tasks.model import Intent, Task

OPEN = RoleCode("open")


def list_task_roles(task: Task) -> list[RoleCode]:
    """List the roles in a task, and that it is open."""
    roles = {
        "assignee": task.assignee,
        "coordinator": task.coordinator,
        "registrar": task.registered_by,
    }
    codes = [RoleCode(role, each) for role, each in roles.items() if each is not None]
    return codes if task.ended is not None else [*codes, OPEN]


def list_intent_roles(intent: Intent) -> list[RoleCode]:
    """List the owner of an intent, and who may write in it by its access list."""
    owner = [] if intent.owner is None else [RoleCode("owner", intent.owner)]
    writers = (each for each, access in intent.acl.items() if access == "write")
    return [*owner, *(RoleCode("writer", each) for each in sorted(writers))]


_IS_MEMBER = "contains(role_codes, :as_assignee)"


def build_member_condition(caller: Principal) -> tuple[str, Item]:
    """Build the condition of `functions.tasks.rules.is_assignee_or_coordinator`."""
    condition, values = _IS_MEMBER, Item(as_assignee=RoleCode("assignee", caller.id))
    if caller.may_coordinate:
        condition += " OR contains(role_codes, :as_coordinator)"
        values["as_coordinator"] = RoleCode("coordinator", caller.id)
    return f"({condition})", values


def build_registrar_condition(caller: Principal) -> tuple[str, Item]:
    """Build the condition that the caller is a member of a task, or has registered it."""
    condition, values = build_member_condition(caller)
    values["as_registrar"] = RoleCode("registrar", caller.id)
    return f"({condition} OR contains(role_codes, :as_registrar))", values


def build_use_condition(caller: Principal) -> tuple[str, Item]:
    """Build the condition of `functions.tasks.intent_authority.USE_INTENT` on the intent itself.

    What nobody owns has no access list, and no seal.
    """
    unclaimed = "(attribute_not_exists(owner_id) AND attribute_not_exists(seal))"
    values = Item(as_owner=RoleCode("owner", caller.id), as_writer=RoleCode("writer", caller.id))
    return (
        f"({unclaimed} OR contains(role_codes, :as_owner) OR contains(role_codes, :as_writer))",
        values,
    )
