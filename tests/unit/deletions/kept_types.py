"""The types of items that stay when an agent or a person is deleted, and why."""

from functions.platform import item_types
from functions.platform.item_types import ItemType

KEPT: dict[ItemType, str] = {
    **dict.fromkeys(
        (
            item_types.TENANT,
            item_types.REVOKED_PRINCIPAL,
            item_types.DEPLOYMENT_SECRET,
            item_types.DELETION,
            item_types.DELETION_PREVIEW,
            item_types.EMBEDDING,
            item_types.LISTED_INTENT,
            item_types.INTENT_TASK,
            item_types.WORKFLOW,
            item_types.PROCESSED_EVENT,
            item_types.AGENT_TYPE,
            item_types.USED_REQUEST,
            item_types.SINGLE_VALUED,
            item_types.CONSOLIDATION,
            item_types.CONSOLIDATION_RUN,
            item_types.LEARNED_WORKFLOW,
            item_types.TASK_TYPE,
            item_types.OUTCOME,
            item_types.COUNTED_RECORDS,
            item_types.USAGE,
            item_types.DAILY_USAGE,
            item_types.USAGE_RECONCILIATION,
            item_types.PUBLISHED_EVENT,
            item_types.STRATEGY,
            item_types.STRATEGY_COUNTS,
            item_types.LEARNING_BUDGET,
        ),
        "holds nothing of an agent or a person",
    ),
    **dict.fromkeys(
        (item_types.PRINCIPAL, item_types.API_KEY), "a deletion revokes them as it begins"
    ),
    item_types.PERSON: "is a hash, by which a later deletion knows that there is something to find",
    item_types.AUDIT_RECORD: "who did what with authority stays as long as logs; it has no values",
    **dict.fromkeys(
        (
            item_types.TASK,
            item_types.ASSIGNMENT,
            item_types.HELD_TASK,
            item_types.OWN_TASKS,
            item_types.INHERITING_TASK,
            item_types.COORDINATED_TASK,
            item_types.GUARDRAILS,
        ),
        "tasks and guardrails are their coordinators': reassign or end tasks",
    ),
    **dict.fromkeys(
        (item_types.INDEX_ROW, item_types.NAMESPACE_VECTOR),
        "shared memory is the namespace's; rows and vectors go with their entries",
    ),
    item_types.INSTANCE: "an instance's values are its type's, and end within an hour",
    **dict.fromkeys(
        (
            item_types.PRIVATE_TOMBSTONE,
            item_types.SEMANTIC_TOMBSTONE,
            item_types.SNAPSHOT_PART,
            item_types.ANNOUNCEMENT,
        ),
        "ends within a day; a snapshot goes to its log, of which it is removed",
    ),
    **dict.fromkeys(
        (
            item_types.CONVERSATION_DETAILS,
            item_types.MESSAGE,
            item_types.USE,
            item_types.REMOVED_RANGE,
            item_types.APPEND_REQUEST,
            item_types.ORPHANED_MESSAGES,
            item_types.USER_CONVERSATION,
            item_types.OBJECT_FILE,
            item_types.VALUE_PART,
            item_types.ORPHANED_VALUES,
            item_types.DELETED_RUN,
            item_types.TAG_ROW,
            item_types.PUT_REQUEST,
            item_types.EVENT_PART,
        ),
        "goes with what it belongs to",
    ),
    **dict.fromkeys(
        (item_types.SNAPSHOT_PIN, item_types.RUN_SECRETS),
        "has no content that can be read, and ends with its run",
    ),
}
