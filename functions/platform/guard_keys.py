"""Keys of what governs agents: coordinators' guardrails, what they make of an agent, workflows.

Coordinators are agents to the keys: an agent's digest stands for any principal.
"""

from functions.platform.keys import Key, agent_digest, agent_partition, digest

TASK_PREFIX = "t#"


def guardrails_item(tenant: str, coordinator: str) -> Key:
    """The item of a coordinator's guardrails."""
    return f"{tenant}#c#{agent_digest(coordinator)}", "g"


def coordinated_row(tenant: str, coordinator: str, task: str) -> Key:
    """The row by which a coordinator lists an open task."""
    return guardrails_item(tenant, coordinator)[0], f"{TASK_PREFIX}{task}"


def bars_item(tenant: str, agent: str) -> Key:
    """The item of what guardrails bar an agent from."""
    return agent_partition(tenant, agent), "g"


def barred_name(namespace: str) -> str:
    """A namespace as it stands in what bars an agent: short, whatever its name."""
    return digest("namespace", namespace)


def workflow_item(tenant: str, name: str) -> Key:
    """The item of a workflow that was applied."""
    return f"{tenant}#w#{digest('namespace', name)}", "w"
