"""Capabilities of the service, in the form of each protocol."""

from typing import Any, get_args

from functions.entries.tiers import Tier
from functions.openwop.model import OnSecret
from functions.openwop.redaction import MIN_LINE_CHARACTERS
from functions.platform import limits
from functions.platform.sensitivity import ENCRYPTED
from functions.tasks.model import Policy

_POLICY = Policy()

_CAPABILITIES: dict[str, Any] = {
    "memory": {
        "specification": "OpenIntent RFC-0015",
        "tiers": list(get_args(Tier)),
        "limits": {
            "value_bytes": limits.MAX_VALUE_BYTES,
            "namespace_characters": limits.MAX_NAME_CHARACTERS,
            "key_characters": limits.MAX_NAME_CHARACTERS,
            "agent_id_characters": limits.MAX_ID_CHARACTERS,
            "tags": limits.MAX_TAGS,
            "tag_characters": limits.MAX_ID_CHARACTERS,
            "vector_numbers_least": limits.MIN_VECTOR_NUMBERS,
            "vector_numbers": limits.MAX_VECTOR_NUMBERS,
            "search_fields": limits.MAX_SEARCH_FIELDS,
            "batch_entries": limits.MAX_BATCH_ENTRIES,
            "grants_per_assignee": limits.MAX_GRANTS,
            "own_tasks_per_agent": limits.MAX_OWN_TASKS,
            "sub_tasks_per_assignee": limits.MAX_SUB_TASKS,
            "delegates": limits.MAX_DELEGATES,
            "page_entries_default": limits.DEFAULT_PAGE_ITEMS,
            "page_entries": limits.MAX_PAGE_ITEMS,
            "page_bytes": limits.MAX_PAGE_BYTES,
            "page_examined": limits.MAX_EXAMINED,
            "body_bytes": limits.MAX_BODY_BYTES,
        },
        "default_capacities": {
            "working_entries_per_task": _POLICY.max_entries,
            "working_kb_per_task": _POLICY.max_total_size_kb,
            "working_entries_per_agent_without_task": limits.DEFAULT_WORKING_ENTRIES,
            "working_kb_per_agent_without_task": limits.DEFAULT_WORKING_KB,
            "episodic_entries_per_agent": limits.DEFAULT_EPISODIC_ENTRIES,
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
            "message_bytes": limits.MAX_MESSAGE_BYTES,
            "append_messages": limits.MAX_APPENDED_MESSAGES,
            "append_messages_and_uses": limits.MAX_APPENDED_WRITES,
            "message_uses": limits.MAX_USES,
            "state_bytes": limits.MAX_STATE_BYTES,
        },
    },
    "objects": {
        "path": "/api/v1/objects",
        "limits": {
            "object_bytes": limits.MAX_OBJECT_BYTES,
            "uploaded_object_bytes": limits.MAX_UPLOADED_OBJECT_BYTES,
            "metadata_bytes": limits.MAX_OBJECT_METADATA_BYTES,
            "key_bytes": limits.MAX_OBJECT_KEY_BYTES,
            "read_objects": limits.MAX_READ_OBJECTS,
        },
    },
    "procedures": {
        "specification": "ADR-043, tiers 1 and 4",
        "selection": "thompson-sampling",
        "limits": {
            "spec_bytes": limits.MAX_SPEC_BYTES,
            "instance_bytes": limits.MAX_INSTANCE_BYTES,
        },
    },
    "runs": {
        "specification": "ADR-043 Tier 2",
        "limits": {
            "content_bytes": limits.MAX_EPISODE_BYTES,
            "metadata_bytes": limits.MAX_EPISODE_METADATA_BYTES,
            "value_bytes": limits.MAX_RUN_VALUE_BYTES,
            "episodes_per_tenant": limits.MAX_EPISODES,
            "retention_days": limits.RUN_RETENTION_DAYS,
        },
    },
}
_FACTS: dict[str, Any] = {
    "specification": "ADR-043 Tier 3",
    "limits": {"part_characters": limits.MAX_FACT_PART_CHARACTERS, "results": limits.MAX_RESULTS},
}
_SEARCH: dict[str, Any] = {
    "search": {
        "path": "/api/v1/memory/search",
        "limits": {
            "query_characters": limits.MAX_QUERY_CHARACTERS,
            "results_default": limits.DEFAULT_RESULTS,
            "results": limits.MAX_RESULTS,
            "working_entries": limits.MAX_SEARCHED_ENTRIES,
        },
    }
}


def describe_capabilities(*, can_embed: bool, log_retention_days: int) -> dict[str, Any]:
    """Describe the features of this installation.

    Args:
        can_embed: whether a model is installed or configured; without one, facts are learned but
            not recalled, and there is no search.
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
"""Response of `GET /.well-known/openintent.json`, in the form of published servers."""

_OPENWOP_MEMORY: dict[str, Any] = {
    "supported": True,
    "maxEntrySizeBytes": limits.MAX_OPENWOP_ENTRY_BYTES,
    "ttlSupported": True,
    "writable": True,
    "retention": {"ttl": True, "forget": False},
    "attribution": {"supported": True, "emitsWriteEvents": False},
    "injectionBudget": {"supported": True, "tokenCounter": "host-defined"},
    "runs": {
        "defaultTtlSeconds": limits.DEFAULT_OPENWOP_RUN_LIFETIME // 1000,
        "maxTtlSeconds": limits.MAX_OPENWOP_RUN_LIFETIME // 1000,
        "maxMemories": limits.MAX_RUN_MEMORIES,
    },
    "replay": {
        "supported": True,
        "defaultRetentionSeconds": limits.DEFAULT_SNAPSHOT_RETENTION // 1000,
        "maxRetentionSeconds": limits.MAX_SNAPSHOT_RETENTION // 1000,
        "expiredEntries": "absent",
    },
    "redaction": {
        "onSecret": list(get_args(OnSecret)),
        "appliesTo": "every put into a memory, for the secrets of all its open runs",
        "fields": ["content", "tags"],
        "forms": ["literal", "json-escaped", "wrapped", "lines"],
        "notRecognized": ["other encodings", "another letter case", "parts of a line"],
        "minSecretCharacters": limits.MIN_SECRET_CHARACTERS,
        "maxSecretCharacters": limits.MAX_SECRET_CHARACTERS,
        "minLineCharacters": MIN_LINE_CHARACTERS,
        "maxSecretsPerRun": limits.MAX_SECRETS,
        "maxSecretsPerMemory": limits.MAX_MEMORY_SECRETS,
    },
}


def describe_openwop(*, can_embed: bool) -> dict[str, Any]:
    """Describe the OpenWOP memory.

    `capabilities` has the members of RFC 0004 §B. The root has those of OpenWOP 1.x, including all
    that its schema requires of a host without workflows.
    """
    modes = ["filter", "semantic"] if can_embed else ["filter"]
    memory = _OPENWOP_MEMORY | {"search": {"supported": True, "modes": modes}}
    return {
        "capabilities": {"agents": {"memoryBackends": ["longTerm"]}, "memory": memory},
        "protocolVersion": "1.0",
        "supportedEnvelopes": [],
        "schemaVersions": {},
        "limits": {"clarificationRounds": 0, "schemaRounds": 0, "envelopesPerTurn": 0},
        "agents": {"memoryBackends": ["long-term"]},
        "memory": memory,
    }
