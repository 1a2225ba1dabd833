"""What the service says it can do, to each protocol in its own shape (contract §6)."""

from typing import get_args

from functions.api.call import MOST_BODY_BYTES
from functions.api.documents import Document
from functions.api.paging import MOST_PAGE_BYTES
from functions.conversations.model import MOST_IN_APPEND, MOST_MESSAGE_BYTES
from functions.conversations.states import MOST_STATE_BYTES
from functions.entries.model import ENCRYPTED, MOST_IN_BATCH, MOST_VALUE_BYTES, Tier
from functions.entries.writes import EPISODIC_CAPACITY, WORKING_ENTRIES, WORKING_KB
from functions.openwop.model import MOST_ENTRY_BYTES
from functions.openwop.redaction import Edition
from functions.procedures.model import MOST_SPEC_BYTES
from functions.runs.model import KEPT_DAYS, MOST_EPISODES
from functions.runs.model import MOST_VALUE_BYTES as MOST_CONTENT_BYTES
from functions.search.model import DEFAULT_RESULTS, MOST_RESULTS
from functions.search.text import MOST_CHARACTERS
from functions.tasks.model import Policy
from functions.working_values.model import MOST_INSTANCE_BYTES

_POLICY = Policy()

CAPABILITIES: Document = {
    "memory": {
        "specification": "OpenIntent RFC-0015",
        "tiers": list(get_args(Tier)),
        "limits": {
            "value_bytes": MOST_VALUE_BYTES,
            "namespace_characters": 255,
            "key_characters": 255,
            "agent_id_characters": 128,
            "tags": 50,
            "tag_characters": 128,
            "batch_entries": MOST_IN_BATCH,
            "page_entries_default": 100,
            "page_entries": 1000,
            "page_bytes": MOST_PAGE_BYTES,
            "body_bytes": MOST_BODY_BYTES,
        },
        "default_capacities": {
            "working_entries_per_task": _POLICY.max_entries,
            "working_kb_per_task": _POLICY.max_total_size_kb,
            "working_entries_per_agent_without_task": WORKING_ENTRIES,
            "working_kb_per_agent_without_task": WORKING_KB,
            "episodic_entries_per_agent": EPISODIC_CAPACITY,
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
            "message_bytes": MOST_MESSAGE_BYTES,
            "append_messages": MOST_IN_APPEND,
            "state_bytes": MOST_STATE_BYTES,
        },
    },
    "procedures": {
        "specification": "ADR-043, tiers 1 and 4",
        "selection": "thompson-sampling",
        "limits": {"spec_bytes": MOST_SPEC_BYTES, "instance_bytes": MOST_INSTANCE_BYTES},
    },
    "runs": {
        "specification": "ADR-043 Tier 2",
        "limits": {
            "content_bytes": MOST_CONTENT_BYTES,
            "episodes_per_tenant": MOST_EPISODES,
            "retention_days": KEPT_DAYS,
        },
    },
    "search": {
        "path": "/api/v1/memory/search",
        "limits": {
            "query_characters": MOST_CHARACTERS,
            "results_default": DEFAULT_RESULTS,
            "results": MOST_RESULTS,
        },
    },
    "extensions": ["memory_search"],
}
"""Answer of `GET /api/v1/capabilities`; extensions as in RFC-0015 §4.3."""

OPENINTENT: Document = {
    "protocol": "OpenIntent Coordination Protocol",
    "version": "0.1",
    "rfcUrls": [
        "https://openintent-ai.github.io/openintent/rfcs/0015-agent-memory-persistent-state/"
    ],
    "capabilities": ["memory", "tasks", "optimistic-concurrency"],
    "openApiUrl": "/openapi.json",
}
"""Answer of `GET /.well-known/openintent.json`, in the shape that published servers give it."""

_OPENWOP_MEMORY: Document = {
    "supported": True,
    "maxEntrySizeBytes": MOST_ENTRY_BYTES,
    "ttlSupported": True,
}
OPENWOP: dict[Edition, Document] = {
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
