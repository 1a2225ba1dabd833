"""Keys of coordinators' guardrails, of agents' restrictions, and of applied workflows.

A coordinator's and an agent's id are hashed alike: any principal may be either.
"""

from functions.platform.keys import Key, agent_digest, agent_partition, digest

COORDINATED_TASK_PREFIX = "t#"


def guardrails_item(tenant: str, coordinator: str) -> Key:
    """The item of a coordinator's guardrails."""
    return f"{tenant}#c#{agent_digest(coordinator)}", "g"


def coordinated_task_row(tenant: str, coordinator: str, task: str) -> Key:
    """The row by which a coordinator lists an open task."""
    return guardrails_item(tenant, coordinator)[0], f"{COORDINATED_TASK_PREFIX}{task}"


def restrictions_item(tenant: str, agent: str) -> Key:
    """The item of what guardrails take away from an agent."""
    return agent_partition(tenant, agent), "g"


def namespace_digest(namespace: str) -> str:
    """A namespace's name as restrictions store it: short, whatever its length."""
    return digest("namespace", namespace)


def workflow_item(tenant: str, name: str) -> Key:
    """The item of a workflow that was applied."""
    return f"{tenant}#w#{digest('namespace', name)}", "w"
