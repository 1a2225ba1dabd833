"""What the answers on settings, guardrails, contexts and workflows look like (RFC-0015 §6, §7)."""

from functions.api.schema_words import (
    BOOLEAN,
    COUNT,
    STRING,
    TIME,
    VERSION,
    array_of,
    maybe,
    object_of,
    one_of,
    ref,
)
from functions.entries.requests import EvictionPolicy

SETTINGS = object_of(
    agent_id=STRING,
    episodic=object_of(
        capacity=VERSION,
        eviction_policy=one_of(EvictionPolicy),
        pinned_namespaces=array_of(STRING),
    ),
)
GUARDRAILS = object_of(
    coordinator_id=STRING,
    guardrails=object_of(
        max_working_memory_per_task=maybe(COUNT),
        max_episodic_memory_per_agent=maybe(COUNT),
        allowed_semantic_namespaces=maybe(array_of(STRING)),
        denied_semantic_namespaces=maybe(array_of(STRING)),
        memory_archive_required=maybe(BOOLEAN),
    ),
    version=COUNT,
    updated_at=maybe(TIME),
)
POLICY = object_of(
    archive_on_completion=BOOLEAN,
    inherit_from_parent=BOOLEAN,
    max_entries=COUNT,
    max_total_size_kb=COUNT,
)
CONTEXT = object_of(
    task_id=STRING,
    working=array_of(ref("Entry")),
    inherited=array_of(ref("Entry")),
    episodic=array_of(ref("Entry")),
    semantic=array_of(ref("Entry")),
    size_kb=COUNT,
    truncated=BOOLEAN,
)
WORKFLOW = object_of(
    name=STRING,
    version=maybe(STRING),
    intent_id=STRING,
    semantic_namespaces=array_of(STRING),
    agents=array_of(
        object_of(
            agent_id=STRING,
            episodic=object_of(capacity=maybe(VERSION), pinned_namespaces=maybe(array_of(STRING))),
        )
    ),
    tasks=array_of(
        object_of(
            id=STRING,
            name=STRING,
            assigned_agent=maybe(STRING),
            depends_on=array_of(STRING),
            memory_policy=POLICY,
        )
    ),
)
