"""What the service says it can do, to each protocol in its own shape."""

from typing import Any, get_args

from functions.entries.tiers import Tier
from functions.openwop.model import OnSecret
from functions.openwop.redaction import Edition
from functions.openwop.secret_forms import MIN_LINE_CHARACTERS
from functions.platform.limits import (
    DEFAULT_EPISODIC_ENTRIES,
    DEFAULT_OPENWOP_RUN_LIFETIME,
    DEFAULT_PAGE_ITEMS,
    DEFAULT_RESULTS,
    DEFAULT_SNAPSHOT_RETENTION,
    DEFAULT_WORKING_ENTRIES,
    DEFAULT_WORKING_KB,
    MAX_APPENDED_MESSAGES,
    MAX_BATCH_ENTRIES,
    MAX_BODY_BYTES,
    MAX_DELEGATES,
    MAX_EPISODE_BYTES,
    MAX_EPISODE_METADATA_BYTES,
    MAX_EPISODES,
    MAX_EXAMINED,
    MAX_FACT_PART_CHARACTERS,
    MAX_GRANTS,
    MAX_ID_CHARACTERS,
    MAX_INSTANCE_BYTES,
    MAX_MEMORY_SECRETS,
    MAX_MESSAGE_BYTES,
    MAX_NAME_CHARACTERS,
    MAX_OBJECT_BYTES,
    MAX_OBJECT_KEY_BYTES,
    MAX_OBJECT_METADATA_BYTES,
    MAX_OBJECTS_BYTES,
    MAX_OPENWOP_ENTRY_BYTES,
    MAX_OPENWOP_RUN_LIFETIME,
    MAX_OWN_TASKS,
    MAX_PAGE_BYTES,
    MAX_PAGE_ITEMS,
    MAX_QUERY_CHARACTERS,
    MAX_READ_OBJECTS,
    MAX_RESULTS,
    MAX_RUN_MEMORIES,
    MAX_RUN_VALUE_BYTES,
    MAX_SEARCH_FIELDS,
    MAX_SEARCHED_ENTRIES,
    MAX_SECRET_CHARACTERS,
    MAX_SECRETS,
    MAX_SNAPSHOT_RETENTION,
    MAX_SPEC_BYTES,
    MAX_STATE_BYTES,
    MAX_SUB_TASKS,
    MAX_TAGS,
    MAX_UPLOADED_OBJECT_BYTES,
    MAX_VALUE_BYTES,
    MAX_VECTOR_NUMBERS,
    MIN_SECRET_CHARACTERS,
    MIN_VECTOR_NUMBERS,
    RUN_RETENTION_DAYS,
)
from functions.platform.sensitivity import ENCRYPTED
from functions.tasks.model import Policy

_POLICY = Policy()

_CAPABILITIES: dict[str, Any] = {
    "memory": {
        "specification": "OpenIntent RFC-0015",
        "tiers": list(get_args(Tier)),
        "limits": {
            "value_bytes": MAX_VALUE_BYTES,
            "namespace_characters": MAX_NAME_CHARACTERS,
            "key_characters": MAX_NAME_CHARACTERS,
            "agent_id_characters": MAX_ID_CHARACTERS,
            "tags": MAX_TAGS,
            "tag_characters": MAX_ID_CHARACTERS,
            "vector_numbers_least": MIN_VECTOR_NUMBERS,
            "vector_numbers": MAX_VECTOR_NUMBERS,
            "search_fields": MAX_SEARCH_FIELDS,
            "batch_entries": MAX_BATCH_ENTRIES,
            "grants_per_assignee": MAX_GRANTS,
            "own_tasks_per_agent": MAX_OWN_TASKS,
            "sub_tasks_per_assignee": MAX_SUB_TASKS,
            "delegates": MAX_DELEGATES,
            "page_entries_default": DEFAULT_PAGE_ITEMS,
            "page_entries": MAX_PAGE_ITEMS,
            "page_bytes": MAX_PAGE_BYTES,
            "page_examined": MAX_EXAMINED,
            "body_bytes": MAX_BODY_BYTES,
        },
        "default_capacities": {
            "working_entries_per_task": _POLICY.max_entries,
            "working_kb_per_task": _POLICY.max_total_size_kb,
            "working_entries_per_agent_without_task": DEFAULT_WORKING_ENTRIES,
            "working_kb_per_agent_without_task": DEFAULT_WORKING_KB,
            "episodic_entries_per_agent": DEFAULT_EPISODIC_ENTRIES,
        },
        "features": {
            "optimistic_concurrency": True,
            "idempotency_keys": True,
            "atomic_batches": True,
            "inheritance_from_parent_tasks": True,
            "eviction": True,
            "archival": True,
            "lifecycle_events": True,
        },
        "encrypted_sensitivities": sorted(ENCRYPTED),
    },
    "conversations": {
        "specification": "Agent Memory Protocol 1.0",
        "limits": {
            "message_bytes": MAX_MESSAGE_BYTES,
            "append_messages": MAX_APPENDED_MESSAGES,
            "state_bytes": MAX_STATE_BYTES,
        },
    },
    "objects": {
        "path": "/api/v1/objects",
        "limits": {
            "object_bytes": MAX_OBJECT_BYTES,
            "uploaded_object_bytes": MAX_UPLOADED_OBJECT_BYTES,
            "metadata_bytes": MAX_OBJECT_METADATA_BYTES,
            "key_bytes": MAX_OBJECT_KEY_BYTES,
            "read_objects": MAX_READ_OBJECTS,
            "bytes_per_principal": MAX_OBJECTS_BYTES,
        },
    },
    "procedures": {
        "specification": "ADR-043, tiers 1 and 4",
        "selection": "thompson-sampling",
        "limits": {"spec_bytes": MAX_SPEC_BYTES, "instance_bytes": MAX_INSTANCE_BYTES},
    },
    "runs": {
        "specification": "ADR-043 Tier 2",
        "limits": {
            "content_bytes": MAX_EPISODE_BYTES,
            "metadata_bytes": MAX_EPISODE_METADATA_BYTES,
            "value_bytes": MAX_RUN_VALUE_BYTES,
            "episodes_per_tenant": MAX_EPISODES,
            "retention_days": RUN_RETENTION_DAYS,
        },
    },
}
_FACTS: dict[str, Any] = {
    "specification": "ADR-043 Tier 3",
    "limits": {"part_characters": MAX_FACT_PART_CHARACTERS, "results": MAX_RESULTS},
}
_SEARCH: dict[str, Any] = {
    "search": {
        "path": "/api/v1/memory/search",
        "limits": {
            "query_characters": MAX_QUERY_CHARACTERS,
            "results_default": DEFAULT_RESULTS,
            "results": MAX_RESULTS,
            "working_entries": MAX_SEARCHED_ENTRIES,
        },
    }
}


def describe_capabilities(*, can_embed: bool, log_retention_days: int) -> dict[str, Any]:
    """Describe what is there in this installation, and nothing else.

    Args:
        can_embed: whether a model is installed or configured; without one facts are learned
            and can't be recalled, and there is no search.
        log_retention_days: how long logs are kept; 0 is for good.
    """
    logs = {"logs": {"retention_days": log_retention_days}}
    extensions = {"extensions": ["memory_search"] if can_embed else []}  # RFC-0015 §4.3
    facts = {"facts": _FACTS | {"recall": can_embed}}
    return _CAPABILITIES | facts | (_SEARCH if can_embed else {}) | logs | extensions


OPENINTENT: dict[str, Any] = {
    "protocol": "OpenIntent Coordination Protocol",
    "version": "0.1",
    "rfcUrls": [
        "https://openintent-ai.github.io/openintent/rfcs/0015-agent-memory-persistent-state/"
    ],
    "capabilities": ["memory", "tasks", "optimistic-concurrency"],
    "openApiUrl": "/openapi.json",
}
"""Answer of `GET /.well-known/openintent.json`, in the shape that published servers give it."""

_OPENWOP_MEMORY: dict[str, Any] = {
    "supported": True,
    "maxEntrySizeBytes": MAX_OPENWOP_ENTRY_BYTES,
    "ttlSupported": True,
    "runs": {
        "defaultTtlSeconds": DEFAULT_OPENWOP_RUN_LIFETIME // 1000,
        "maxTtlSeconds": MAX_OPENWOP_RUN_LIFETIME // 1000,
        "maxMemories": MAX_RUN_MEMORIES,
    },
    "replay": {
        "supported": True,
        "defaultRetentionSeconds": DEFAULT_SNAPSHOT_RETENTION // 1000,
        "maxRetentionSeconds": MAX_SNAPSHOT_RETENTION // 1000,
        "expiredEntries": "absent",
    },
    "redaction": {
        "onSecret": list(get_args(OnSecret)),
        "appliesTo": "every put into a memory, for the secrets of all its open runs",
        "fields": ["content", "tags"],
        "forms": ["literal", "json-escaped", "wrapped", "lines"],
        "notRecognized": ["other encodings", "another letter case", "parts of a line"],
        "minSecretCharacters": MIN_SECRET_CHARACTERS,
        "maxSecretCharacters": MAX_SECRET_CHARACTERS,
        "minLineCharacters": MIN_LINE_CHARACTERS,
        "maxSecretsPerRun": MAX_SECRETS,
        "maxSecretsPerMemory": MAX_MEMORY_SECRETS,
    },
}
OPENWOP: dict[Edition, dict[str, Any]] = {
    "rfc-0004": {
        "capabilities": {"agents": {"memoryBackends": ["longTerm"]}, "memory": _OPENWOP_MEMORY}
    },
    "1.x": {
        "protocolVersion": "1.0",
        "supportedEnvelopes": [],
        "schemaVersions": {},
        "limits": {"clarificationRounds": 0, "schemaRounds": 0, "envelopesPerTurn": 0},
        "agents": {"memoryBackends": ["long-term"]},
        "memory": _OPENWOP_MEMORY,
    },
}
"""Answers of `GET /.well-known/openwop`: by RFC 0004 §B, and as OpenWOP 1.x publishes it, with the
families at the root and what its schema requires of a host that runs no workflows."""
