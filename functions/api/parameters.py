"""The parameters of the routes, as OpenAPI describes them (RFC-0015 §4.1; contract §3, §4)."""

from typing import get_args

from functions.api.documents import Document
from functions.entries.tiers import Tier
from functions.event_log.model import EventType
from functions.platform.limits import (
    DEFAULT_CONTEXT_EPISODES,
    DEFAULT_CONTEXT_KB,
    DEFAULT_PAGE_ITEMS,
    MAX_CONTEXT_EPISODES,
    MAX_CONTEXT_KB,
    MAX_ID_CHARACTERS,
    MAX_IDEMPOTENCY_KEY_CHARACTERS,
    MAX_OFFSET,
    MAX_PAGE_ITEMS,
    MAX_TAGS,
)
from functions.runs.model import RunStatus
from functions.tasks.model import Status

_TEXT: Document = {"type": "string", "minLength": 1}
_TIME: Document = {"type": "string", "format": "date-time"}
_POSITION: Document = {"type": "string", "pattern": "^[0-9]{1,15}$"}
_TAGS: Document = {
    "type": "array",
    "items": {"type": "string", "minLength": 1, "pattern": "^[^,]+$"},
    "minItems": 1,
    "maxItems": MAX_TAGS,
}


def _query(name: str, schema: Document, description: str, **more: object) -> Document:
    return {"name": name, "in": "query", "description": description, "schema": schema, **more}


def _header(name: str, pattern: str | None, description: str) -> Document:
    schema = {"type": "string"} | ({"pattern": pattern} if pattern else {})
    return {"name": name, "in": "header", "description": description, "schema": schema}


_QUERY = [
    _query(
        "agent_id",
        _TEXT,
        "The owner. Required for working and episodic memory, unless scope.task_id is given; "
        "for an agent it defaults to itself.",
    ),
    _query("namespace", _TEXT, "The namespace; a trailing `*` makes it a prefix: `billing.*`."),
    _query("key", _TEXT, "The key."),
    _query("memory_type", {"type": "string", "enum": list(get_args(Tier))}, "The tier."),
    _query("tags", _TAGS, "Entries that have all of these.", style="form", explode=False),
    _query("tags_any", _TAGS, "Entries that have any of these.", style="form", explode=False),
    _query("scope.task_id", _TEXT, "The task in the entry's scope."),
    _query("scope.intent_id", _TEXT, "The intent in the entry's scope."),
    _query("pinned", {"type": "boolean"}, "Episodic entries that are pinned, or aren't."),
    _query("updated_after", _TIME, "Entries changed after this moment."),
    _query("updated_before", _TIME, "Entries changed before this moment."),
    _query("status", {"type": "string", "enum": list(get_args(Status))}, "The tasks' status."),
    _query("type", {"type": "string", "enum": list(get_args(EventType))}, "The events' type."),
    _query(
        "after", _POSITION, "The `next` of an earlier answer; the log's beginning unless given."
    ),
    _query(
        "episodic_limit",
        {
            "type": "integer",
            "minimum": 0,
            "maximum": MAX_CONTEXT_EPISODES,
            "default": DEFAULT_CONTEXT_EPISODES,
        },
        "How many episodic entries to pack at most.",
    ),
    _query(
        "max_kb",
        {"type": "integer", "minimum": 1, "maximum": MAX_CONTEXT_KB, "default": DEFAULT_CONTEXT_KB},
        "How large the packed entries may be, as JSON.",
    ),
    _query(
        "last",
        {"type": "integer", "minimum": 1, "maximum": MAX_PAGE_ITEMS},
        "The newest so many messages; without limit and offset.",
    ),
    _query(
        "limit",
        {"type": "integer", "minimum": 1, "maximum": MAX_PAGE_ITEMS, "default": DEFAULT_PAGE_ITEMS},
        "How many to answer at most.",
    ),
    _query(
        "offset",
        {"type": "integer", "minimum": 0, "maximum": MAX_OFFSET, "default": 0},
        "How many to pass over.",
    ),
]
_OPENWOP = [
    _query("runId", _TEXT, "A run on this memory; its snapshot shows. The present unless given."),
    _query("tag", _TEXT, "Entries that have this tag."),
    _query(
        "before",
        {"type": "string", "pattern": "^mem_[0-9a-hjkmnp-tv-z]{22}$"},
        "Entries older than the one with this id.",
    ),
    _query(
        "limit",
        {"type": "integer", "minimum": 0, "maximum": MAX_PAGE_ITEMS, "default": 0},
        "How many to answer at most; 0 is no limit of yours, and 1,000 or 5 MB.",
    ),
]
_RUNS = [
    _query(
        "agent_type",
        _TEXT | {"maxLength": MAX_ID_CHARACTERS},
        "The agent type that runs were started with.",
    ),
    _query("run_id", _TEXT, "A run, in place of an agent type."),
    _query("status", {"type": "string", "enum": list(get_args(RunStatus))}, "The runs' status."),
    _query(
        "before",
        {"type": "string", "pattern": "^epi_[0-9a-hjkmnp-tv-z]{36}$"},
        "Episodes older than the one with this id: the `next` of an earlier answer.",
    ),
]
_COMMON = {parameter["name"]: parameter for parameter in _QUERY}
_OF_SECTION = {
    section: {parameter["name"]: parameter for parameter in parameters}
    for section, parameters in (("openwop", _OPENWOP), ("runs", _RUNS))
}

AGENT_ID = _header(
    "X-Agent-ID", r"^[^\x00-\x1f\x7f]+$", "Must be the id of the key's own principal; else 403."
)
IDEMPOTENCY_KEY = _header(
    "Idempotency-Key",
    rf"^[\x21-\x7e]{{1,{MAX_IDEMPOTENCY_KEY_CHARACTERS}}}$",
    "A retry with the same key and body writes nothing twice.",
)
IF_NONE_MATCH = _header(
    "If-None-Match", None, "An ETag; while it is the present one, the answer is 304."
)
IF_MATCH = _header(
    "If-Match",
    r'^([0-9]{1,15}|"[0-9]{1,15}")$',
    'The version that was last read, as `3` or `"3"`.',
)

_PATH_NOTES = {
    "agent_id": "An agent's id.",
    "namespace": "A namespace's name.",
    "task_id": "A task's id.",
    "intent_id": "An intent's id.",
    "principal": "A principal's id.",
    "coordinator_id": "A coordinator's id.",
    "memoryRef": "A memory's reference, as the start of a run gave it.",
    "runId": "A run's id.",
    "fact_id": "A fact's id.",
    "instance_id": "An agent instance's id.",
    "agent_type": "A type of agents: a label, and no boundary.",
    "task_type": "A type of tasks.",
    "workflow_id": "A workflow's id.",
    "run_id": "A run's id.",
}
_SLASHES = " It may hold slashes."


def in_query(name: str, section: str) -> Document:
    """A query parameter as a section of the document means it."""
    return _OF_SECTION.get(section, {}).get(name) or _COMMON[name]


def in_path(name: str, *, many: bool) -> Document:
    """A name in the path; `many` says that it may hold slashes."""
    description = _PATH_NOTES.get(name, "The id.") + (_SLASHES if many else "")
    schema = _TEXT | ({"maxLength": MAX_ID_CHARACTERS} if name == "principal" else {})
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": description,
        "schema": schema,
    }
