"""Keys of procedures: all workflows of a type of task stand in one partition."""

from functions.platform.keys import Key, digest

WORKFLOW_PREFIX = "w#"


def procedures_partition(tenant: str, agent_type: str, task_type: str) -> str:
    """The partition of the workflows among which a selection is made."""
    names = f"{len(agent_type)}:{agent_type}{task_type}"
    return f"{tenant}#b#{digest('procedures', names)}"


def workflow_item(partition: str, workflow: str) -> Key:
    """A workflow's item."""
    return partition, f"{WORKFLOW_PREFIX}{digest('workflow', workflow)}"


def outcome_item(workflow: Key, request: bytes) -> Key:
    """What says that an outcome that came with an Idempotency-Key has been counted."""
    return workflow[0], f"q#{workflow[1]}#{request.hex()}"
