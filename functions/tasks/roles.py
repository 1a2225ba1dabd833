"""The roles in tasks and intents, as codes that their items list (`functions.platform.seals`)."""

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
