"""Keys of tenants, principals, tasks, intents, guardrails and workflows."""

import secrets
from hashlib import sha256

from functions.platform import item_types
from functions.platform.keys import Key, hash_agent, hash_name, hash_namespace


def build_tenant_key(tenant: str) -> Key:
    """Build the key of the item that makes a tenant exist."""
    return item_types.TENANT.build_key(tenant=tenant)


def build_deletion_key(tenant: str, principal: str | None = None, *, preview: bool = False) -> Key:
    """Build the key of what says that a tenant, or a principal or person of it, was deleted.

    Args:
        principal: the id of whom it is about; None is the whole tenant.
        preview: the key of what only says what a deletion would remove.
    """
    item_type = item_types.DELETION_PREVIEW if preview else item_types.DELETION
    subject = tenant if principal is None else f"{tenant}#{hash_agent(principal)}"
    return item_type.build_key(subject=subject)


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
    return item_types.TASK.build_key(tenant=tenant, task=hash_name("task", task))


def build_grant_key(tenant: str, task: str, principal: str) -> Key:
    return item_types.GRANT.build_key(
        tenant=tenant, task=hash_name("task", task), principal=hash_agent(principal)
    )


def build_former_member_key(tenant: str, task: str, role: str, principal: str) -> Key:
    """Build the key of what says that a principal had a role in a task: assignee, coordinator."""
    return item_types.FORMER_MEMBER.build_key(
        tenant=tenant, task=hash_name("task", task), role=role, principal=hash_agent(principal)
    )


def build_inheriting_task_key(tenant: str, parent: str, agent: str, sub_task: str) -> Key:
    """Build the key of the row by which an agent's sub-task reads its parent's memory."""
    return item_types.INHERITING_TASK.build_key(
        tenant=tenant,
        task=hash_name("task", parent),
        agent=hash_agent(agent),
        sub_task=hash_name("task", sub_task),
    )


def build_inheriting_task_range(tenant: str, parent: str, agent: str) -> tuple[str, str]:
    """Build the partition of a parent, and how the rows of an agent's sub-tasks begin."""
    partition = build_task_key(tenant, parent)[0]
    return partition, f"{item_types.INHERITING_TASK.sort_prefix}{hash_agent(agent)}#"


def build_assignment_key(tenant: str, agent: str, coordinator: str | None, task: str) -> Key:
    """Build the key of the row by which an agent lists an open task that is assigned to it."""
    return item_types.ASSIGNMENT.build_key(
        tenant=tenant,
        agent=hash_agent(agent),
        coordinator=hash_agent(coordinator or ""),
        task=hash_name("task", task),
    )


def build_assignment_range(
    tenant: str, agent: str, coordinator: str | None = None
) -> tuple[str, str]:
    """Build the partition of an agent, and how the rows of its assignments begin.

    With a coordinator, they are those of tasks that it coordinates.
    """
    partition = item_types.ASSIGNMENT.build_partition(tenant=tenant, agent=hash_agent(agent))
    prefix = item_types.ASSIGNMENT.sort_prefix
    return partition, prefix if coordinator is None else f"{prefix}{hash_agent(coordinator)}#"


def build_held_task_range(tenant: str, agent: str) -> tuple[str, str]:
    """Build the partition of an agent, and how the rows of tasks with memory of it begin."""
    partition = item_types.HELD_TASK.build_partition(tenant=tenant, agent=hash_agent(agent))
    return partition, item_types.HELD_TASK.sort_prefix


def build_held_task_key(tenant: str, hashed_agent: str, task: str) -> Key:
    """Build the key of the row by which an agent lists a task of others with memory of it.

    Args:
        hashed_agent: the hash of the agent's id (`hash_agent`): tasks count holders by it.
    """
    return item_types.HELD_TASK.build_key(
        tenant=tenant, agent=hashed_agent, task=hash_name("task", task)
    )


def build_snapshot_part_key(tenant: str, task: str, agent: str, nonce: str) -> Key:
    return item_types.SNAPSHOT_PART.build_key(
        tenant=tenant, task=hash_name("task", task), agent=hash_agent(agent), nonce=nonce
    )


def build_announcement_key(tenant: str, task: str, event: str) -> Key:
    """Build the key of the item by which the stream learns that a task was archived in an event."""
    return item_types.ANNOUNCEMENT.build_key(
        tenant=tenant, task=hash_name("task", task), event=event
    )


def build_own_tasks_key(tenant: str, agent: str) -> Key:
    """Build the key of the count of an agent's open tasks without a coordinator."""
    return item_types.OWN_TASKS.build_key(tenant=tenant, agent=hash_agent(agent))


def build_intent_key(tenant: str, intent: str) -> Key:
    return item_types.INTENT.build_key(tenant=tenant, intent=hash_name("intent", intent))


def build_listed_intent_key(tenant: str, intent: str) -> Key:
    """Build the key of what lists an intent under its tenant."""
    return item_types.LISTED_INTENT.build_key(tenant=tenant, intent=hash_name("intent", intent))


def build_listed_intent_range(tenant: str) -> tuple[str, str]:
    """Build the partition of a tenant's listed intents, and what their sort keys begin with."""
    partition = item_types.LISTED_INTENT.build_partition(tenant=tenant)
    return partition, item_types.LISTED_INTENT.sort_prefix


def build_participant_key(tenant: str, intent: str, principal: str) -> Key:
    """Build the key of what says that a principal takes or took part in an intent."""
    return item_types.PARTICIPANT.build_key(
        tenant=tenant, intent=hash_name("intent", intent), principal=hash_agent(principal)
    )


def build_intent_task_key(tenant: str, intent: str, task: str) -> Key:
    """Build the key of the row by which an intent lists a task."""
    return item_types.INTENT_TASK.build_key(
        tenant=tenant, intent=hash_name("intent", intent), task=hash_name("task", task)
    )


def build_intent_task_range(tenant: str, intent: str) -> tuple[str, str]:
    """Build the partition of an intent's tasks, and what their rows' sort keys begin with."""
    return build_intent_key(tenant, intent)[0], item_types.INTENT_TASK.sort_prefix


def build_guardrails_key(tenant: str, coordinator: str) -> Key:
    return item_types.GUARDRAILS.build_key(tenant=tenant, agent=hash_agent(coordinator))


def build_coordinated_task_key(tenant: str, coordinator: str, task: str) -> Key:
    """Build the key of the row by which a coordinator lists an open task, by its id."""
    return item_types.COORDINATED_TASK.build_key(
        tenant=tenant, agent=hash_agent(coordinator), task=task
    )


def build_restrictions_key(tenant: str, agent: str) -> Key:
    return item_types.RESTRICTIONS.build_key(tenant=tenant, agent=hash_agent(agent))


def build_workflow_key(tenant: str, name: str) -> Key:
    return item_types.WORKFLOW.build_key(tenant=tenant, workflow=hash_namespace(name))


def build_processed_event_key(tenant: str, source: str, event: str) -> Key:
    """Build the key of what says that an event of another system was processed."""
    hashed = hash_name("taken", f"{len(source)}:{source}{event}")
    return item_types.PROCESSED_EVENT.build_key(tenant=tenant, event=hashed)
