"""What the answers look like, as JSON Schema; `documents.py` renders exactly this (RFC-0015 §1)."""

from typing import Any

from functions.api.capabilities import CAPABILITIES, OPENINTENT, OPENWOP
from functions.api.conversation_schemas import CONVERSATIONS
from functions.api.documents import Document
from functions.api.fact_schemas import FACTS
from functions.api.governing_schemas import CONTEXT, GUARDRAILS, POLICY, SETTINGS, WORKFLOW
from functions.api.openwop_schemas import OPENWOP_ANSWERS
from functions.api.procedure_schemas import PROCEDURES
from functions.api.run_schemas import RUNS
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
    page_of,
    ref,
)
from functions.entries.model import Priority, Sensitivity
from functions.entries.tiers import Tier
from functions.event_log.model import EventType
from functions.identity.model import Kind, Permission
from functions.namespaces.model import Access
from functions.platform.errors import ERROR_CODES
from functions.tasks.model import GrantAccess, Status

_ENTRY = object_of(
    {"curated_by": STRING},
    id=STRING | {"pattern": "^mem_"},
    agent_id=STRING,
    namespace=STRING,
    key=STRING,
    value={"type": "object"},
    memory_type=one_of(Tier),
    scope=object_of({"task_id": STRING, "intent_id": STRING}),
    tags=array_of(STRING),
    ttl=maybe(STRING),
    pinned=BOOLEAN,
    priority=one_of(Priority),
    sensitivity=maybe(one_of(Sensitivity)),
    version=VERSION,
    created_at=TIME,
    updated_at=TIME,
    expires_at=maybe(TIME),
    created_by=STRING,
)
_SUMMARY = object_of(
    agent_id=STRING,
    working=object_of(entry_count=COUNT, total_size_kb=COUNT, tasks_with_memory=array_of(STRING)),
    episodic=object_of(
        entry_count=COUNT,
        capacity=COUNT,
        pinned_count=COUNT,
        total_size_kb=COUNT,
        oldest_entry=maybe(TIME),
        newest_entry=maybe(TIME),
    ),
    semantic_namespaces_accessible=array_of(STRING),
)
_NAMESPACE = object_of(
    namespace=STRING,
    permissions=object_of(
        default=one_of(Access),
        allow=array_of(object_of(agent=STRING, access=one_of(Access))),
    ),
    version=VERSION,
    created_at=TIME,
    updated_at=TIME,
)
_GRANT = object_of(principal=STRING, access=one_of(GrantAccess), expires_at=maybe(TIME))
_ACL = object_of(
    intent_id=STRING,
    owner=STRING,
    entries=array_of(object_of(principal=STRING, access=one_of(GrantAccess))),
    version=VERSION,
)
_PRINCIPAL = object_of(
    tenant=STRING,
    id=STRING,
    kind=one_of(Kind),
    permissions=array_of(one_of(Permission)),
    created_at=TIME,
    expires_at=maybe(TIME),
)
_KEYED = object_of(**_PRINCIPAL["properties"], api_key=STRING | {"pattern": "^am_"})
_EVENT = object_of(
    id=STRING | {"pattern": "^evt_"},
    type=one_of(EventType),
    agent_id=STRING,
    intent_id=maybe(STRING),
    task_id=maybe(STRING),
    data={"type": "object"},
    timestamp=TIME,
)
_PROBLEM = object_of(
    {
        "errors": array_of(object_of(field=STRING, message=STRING)),
        "index": COUNT,
        "current_version": COUNT,
        "current": {"anyOf": [ref("Entry"), ref("Task"), ref("Namespace")]},
        "max": COUNT,
        "actual": COUNT,
        "limit": STRING,
        "current_count": COUNT,
        "max_capacity": COUNT,
    },
    type=STRING | {"format": "uri-reference"},
    title=STRING,
    status={"type": "integer", "minimum": 400, "maximum": 599},
    detail=STRING,
    code={"type": "string", "enum": list(ERROR_CODES)},
    message=STRING,
)


def _task(kept: Document) -> Document:
    """A task, with the fields that memory doesn't use: `kept` holds their schemas."""
    return object_of(
        {name: schema for name, schema in kept.items() if name != "name"},
        id=STRING,
        intent_id=maybe(STRING),
        name=STRING,
        status=one_of(Status),
        assigned_agent=maybe(STRING),
        coordinator=maybe(STRING),
        parent_task_id=maybe(STRING),
        memory_policy=POLICY,
        version=VERSION,
        created_at=TIME,
        updated_at=TIME,
        started_at=maybe(TIME),
        completed_at=maybe(TIME),
    )


def _like(example: Any) -> Document:
    """The schema of a document that is always the same."""
    match example:
        case dict():
            return object_of(**{name: _like(value) for name, value in example.items()})
        case list():
            return {"type": "array", "items": STRING}
        case bool():
            return BOOLEAN
        case int():
            return COUNT
    return STRING


def answers(kept: Document) -> dict[str, Document]:
    """The schemas of all answers by name; `kept` has those of a task's other fields."""
    return {
        "Entry": _ENTRY,
        "EntryPage": page_of("entries", "Entry"),
        "Entries": array_of(ref("Entry")),
        "EntryBatch": object_of(entries=array_of(ref("Entry"))),
        "SearchResult": object_of(entry=ref("Entry"), score={"type": "number"}),
        "SearchResults": object_of(results=array_of(ref("SearchResult"))),
        "Deleted": object_of(deleted=COUNT),
        "Summary": _SUMMARY,
        "AgentSettings": SETTINGS,
        "CoordinatorGuardrails": GUARDRAILS,
        "Namespace": _NAMESPACE,
        "NamespacePage": page_of("namespaces", "Namespace"),
        "Task": _task(kept),
        "Tasks": array_of(ref("Task")),
        "Context": CONTEXT,
        "Grant": _GRANT,
        "Acl": _ACL,
        "AppliedWorkflow": WORKFLOW,
        "Event": _EVENT,
        "EventPage": object_of(events=array_of(ref("Event")), next=STRING),
        "Principal": _PRINCIPAL,
        "NewPrincipal": _KEYED,
        "NewTenant": object_of(id=STRING, admin=ref("NewPrincipal")),
        "PrincipalPage": page_of("principals", "Principal"),
        **CONVERSATIONS,
        **FACTS,
        **PROCEDURES,
        **OPENWOP_ANSWERS,
        **RUNS,
        "Problem": _PROBLEM,
        "Health": object_of(status={"const": "ok"}),
        "Capabilities": _like(CAPABILITIES),
        "OpenIntent": _like(OPENINTENT),
        "OpenWop": {"anyOf": [_like(document) for document in OPENWOP.values()]},
        "OpenApi": {"type": "object", "required": ["openapi", "info", "paths", "components"]},
        "Html": STRING,
    }
