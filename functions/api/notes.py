"""What fields and error codes mean, in words for whoever reads the OpenAPI document or its page."""

from functions.api.documents import Document
from functions.entries.model import TASK_LIFETIME
from functions.platform.limits import MAX_BATCH_ENTRIES

_UNCHANGED = "Only the given fields change."


def _named_by(*fields: str) -> Document:
    """That these fields are given, and not null."""
    properties = {field: {"type": "string"} for field in fields}
    return {"required": list(fields), "properties": properties}


MODELS: dict[str, Document] = {
    "EntryChange": {"description": _UNCHANGED, "minProperties": 1},
    "TaskChange": {"description": _UNCHANGED},
    "BatchUpdate": {
        "description": "Names its entry by `id`, or by namespace and key (with `memory_type` "
        f"for semantic memory). {_UNCHANGED}",
        "anyOf": [_named_by("id"), _named_by("namespace", "key")],
    },
    "NamespaceChange": {"description": "Replaces the permissions; makes the namespace if new."},
    "EpisodicSettings": {"description": _UNCHANGED},
    "Guardrails": {"description": f"{_UNCHANGED} Null takes a guardrail away."},
    "Acl": {"description": "Replaces the list."},
}
"""What the bodies' schemas say beyond what the models check by themselves."""

PARTIAL = frozenset({"EntryChange", "BatchUpdate", "TaskChange", "EpisodicSettings", "Guardrails"})
"""Bodies in which a field that isn't given has no default: it stays as it is."""

FIELDS: dict[str, Document] = {
    "NewMemoryRun.agent": {"description": "Whose memory it is; any name."},
    "NewMemoryRun.scope": {"description": "Which of the agent's memories."},
    "NewMemoryRun.secrets": {"description": "What the run's puts must not persist."},
    "onSecret": {"description": "What a put does with a secret."},
    "Secret.value": {"description": "At most 65,536 bytes with the others."},
    "NewMemoryEntry.content": {"description": "At most 65,536 bytes of UTF-8."},
    "expiresAt": {"description": "From this moment on no list and no get shows it."},
    "memoryRef": {"description": "Stands for the memory, to whoever holds it. Don't parse it."},
    "snapshotAt": {"description": "When the snapshot was taken."},
    "MemoryEntryList.next": {
        "description": "Give it as `before` to go on; only where the answer was full."
    },
    "agent_type": {"description": "A label that groups runs, such as `sdr`; no boundary."},
    "instance_id": {"description": "Which instance of the agent runs."},
    "run_id": {"description": "The run that it belongs to."},
    "NewRun.input": {"description": "Any JSON, at most 65,536 bytes; recalled episodes, say."},
    "RunOutput.output": {"description": "Any JSON, at most 65,536 bytes."},
    "RunError.error": {"description": "Any JSON, at most 65,536 bytes."},
    "NewEpisode.content": {"description": "Any JSON, at most 65,536 bytes."},
    "NewEpisode.metadata": {"description": "At most 65,536 bytes of JSON."},
    "Episode.agent_type": {"description": "In lists; an append doesn't look it up."},
    "EpisodePage.next": {"description": "Give it as `before` to go on; absent on the last page."},
    "kind": {"description": "What it is, in a word of yours: `tool_call`, `observation`."},
    "turn": {"description": "The turn of the run that it belongs to."},
    "MemorySearch.query": {"description": "What it is about, in words."},
    "MemorySearch.top_k": {
        "description": "How many to answer at most; fewer, where they would pass 5 MB."
    },
    "MemorySearch.namespace": {"description": "The namespace; a trailing `*` makes it a prefix."},
    "MemorySearch.agent_id": {
        "description": "The owner. Required for working and episodic memory; for an agent it "
        "defaults to itself."
    },
    "MemorySearch.tags": {"description": "Entries that have all of these."},
    "SearchResult.score": {
        "description": "The cosine of the two meanings: 1 is the same, 0 is unrelated."
    },
    "namespace": {"description": "The group that the entry stands in, such as `billing.invoices`."},
    "key": {"description": "The entry's name within its namespace."},
    "value": {"description": "Your JSON object, at most 65,536 bytes of compact UTF-8."},
    "memory_type": {"description": "The tier: it decides on lifetime and access."},
    "agent_id": {"description": "The owner; the caller unless given."},
    "scope": {"description": "The task and intent that the entry belongs to."},
    "tags": {"description": "Labels to query by."},
    "ttl": {
        "description": "`task_lifetime`, `duration:` and an ISO 8601 duration, such as "
        "`duration:PT24H`, or null: no end. An `expires_at` wins over it.",
        "pattern": f"^({TASK_LIFETIME}|duration:P.*)$",
    },
    "expires_at": {"description": "From this moment on it is gone, as if it had never been."},
    "pinned": {"description": "Episodic only: never evicted."},
    "sensitivity": {"description": "`confidential` and `restricted` values are stored encrypted."},
    "version": {"description": "Counts the changes; send it as If-Match, or here in a batch."},
    "EpisodicSettings.capacity": {
        "description": "How many episodic entries it may hold. A lowered one is reached by the "
        "schedule, in the order of eviction."
    },
    "max_working_memory_per_task": {
        "description": "No task has more working entries, whatever its own policy says."
    },
    "max_episodic_memory_per_agent": {
        "description": "No assignee has more episodic entries, whatever its own settings say."
    },
    "allowed_semantic_namespaces": {
        "description": "Assignees reach no semantic memory but in these."
    },
    "denied_semantic_namespaces": {
        "description": "Assignees reach no semantic memory in these, allowed or not."
    },
    "memory_archive_required": {
        "description": "Memory is archived when a task ends, whatever its own policy says."
    },
    "semantic_namespaces": {"description": "What to pack of semantic memory for the task."},
    "size_kb": {"description": "The entries' size as JSON."},
    "truncated": {"description": "Whether something was left out for its size."},
    "pinned_namespaces": {
        "description": "New episodic entries in these are pinned, unless they say otherwise."
    },
    "Batch.entries": {
        "description": "Creates and updates; what has a `version` updates.",
        "maxItems": MAX_BATCH_ENTRIES,
    },
    "NewTask.id": {"description": "Your own id for the task; made up for you unless given."},
    "assigned_agent": {"description": "Who works on the task, and writes its working memory."},
    "coordinator": {"description": "Who directs the task; a principal that isn't an agent."},
    "parent_task_id": {"description": "The task that this is a part of."},
    "memory_policy": {"description": "How the task's working memory behaves."},
    "inherit_from_parent": {"description": "Whether its assignee reads the parent's memory."},
    "archive_on_completion": {"description": "Whether its memory is archived when it ends."},
    "next_offset": {"description": "Where to go on; absent on the last page."},
    "total": {"description": "How many match, on all pages."},
    "Event.data": {"description": "The entry that it is about, without its value."},
    "EventPage.next": {"description": "Where to go on, now or once more has happened."},
    "api_key": {"description": "Shown this once."},
    "default": {"description": "The access of everybody who isn't listed."},
    "index": {"description": "Which item of the batch failed, counted from 0."},
    "current": {"description": "What stands there, if you may read it."},
}
"""What properties mean, by name, or by model and name where a model means its own thing."""
