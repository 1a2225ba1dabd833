"""Keys of tenants, principals, tasks, intents, guardrails and workflows."""

import secrets
from hashlib import sha256

from functions.platform import item_types
from functions.platform.keys import Key, hash_agent, hash_name, hash_namespace


def build_tenant_key(tenant: str) -> Key:
    """Build the key of the item that makes a tenant exist."""
    return item_types.TENANT.build_key(tenant=tenant)


def build_principal_key(tenant: str, principal: str) -> Key:
    """Build a principal's key; all of a tenant's are in one partition."""
    return item_types.PRINCIPAL.build_key(
        tenant=tenant, principal=hash_name("principal", principal)
    )


def build_revoked_principal_key(tenant: str, principal: str) -> Key:
    """Build the key of what says that a revoked principal had this id."""
    return item_types.REVOKED_PRINCIPAL.build_key(
        tenant=tenant, principal=hash_name("principal", principal)
    )


def build_api_key_key(api_key: str) -> Key:
    """Build the key by which an API key's principal is found.

    API keys are random, so a plain hash conceals them.
    """
    return item_types.API_KEY.build_key(sha256=sha256(api_key.encode()).hexdigest())


def create_api_key() -> str:
    """Create a random API key of 256 bits."""
    return f"am_{secrets.token_urlsafe(32)}"


def build_task_key(tenant: str, task: str) -> Key:
    """Build a task's key."""
    return item_types.TASK.build_key(tenant=tenant, task=hash_name("task", task))


def build_task_set_key(tenant: str, agent: str) -> Key:
    """Build the key of the set of tasks that an agent has or holds memory of."""
    return item_types.TASK_SET.build_key(tenant=tenant, agent=hash_agent(agent))


def build_snapshot_part_key(tenant: str, task: str, agent: str, nonce: str) -> Key:
    """Build the key of a part of an agent's snapshot of a task that has ended."""
    return item_types.SNAPSHOT_PART.build_key(
        tenant=tenant, task=hash_name("task", task), agent=hash_agent(agent), nonce=nonce
    )


def build_announcement_key(tenant: str, task: str, event: str) -> Key:
    """Build the key of what tells the stream that a task was archived in an event."""
    return item_types.ANNOUNCEMENT.build_key(
        tenant=tenant, task=hash_name("task", task), event=event
    )


def build_intent_key(tenant: str, intent: str) -> Key:
    """Build an intent's key."""
    return item_types.INTENT.build_key(tenant=tenant, intent=hash_name("intent", intent))


def build_intent_task_key(tenant: str, intent: str, task: str) -> Key:
    """Build the key of the row by which an intent lists a task."""
    return item_types.INTENT_TASK.build_key(
        tenant=tenant, intent=hash_name("intent", intent), task=hash_name("task", task)
    )


def build_intent_task_range(tenant: str, intent: str) -> tuple[str, str]:
    """Build the partition of an intent's tasks, and what their rows' sort keys begin with."""
    return build_intent_key(tenant, intent)[0], item_types.INTENT_TASK.sort_prefix


def build_guardrails_key(tenant: str, coordinator: str) -> Key:
    """Build the key of a coordinator's guardrails."""
    return item_types.GUARDRAILS.build_key(tenant=tenant, agent=hash_agent(coordinator))


def build_coordinated_task_key(tenant: str, coordinator: str, task: str) -> Key:
    """Build the key of the row by which a coordinator lists an open task, by its id."""
    return item_types.COORDINATED_TASK.build_key(
        tenant=tenant, agent=hash_agent(coordinator), task=task
    )


def build_restrictions_key(tenant: str, agent: str) -> Key:
    """Build the key of what guardrails forbid an agent."""
    return item_types.RESTRICTIONS.build_key(tenant=tenant, agent=hash_agent(agent))


def build_workflow_key(tenant: str, name: str) -> Key:
    """Build the key of a workflow that was applied."""
    return item_types.WORKFLOW.build_key(tenant=tenant, workflow=hash_namespace(name))


def build_processed_event_key(tenant: str, source: str, event: str) -> Key:
    """Build the key of what says that an event of another system was processed."""
    hashed = hash_name("taken", f"{len(source)}:{source}{event}")
    return item_types.PROCESSED_EVENT.build_key(tenant=tenant, event=hashed)
