"""What the answers look like, as JSON Schema; `documents.py` renders exactly this (RFC-0015 §1)."""

from typing import Any, get_args

from functions.api.capabilities import CAPABILITIES, OPENINTENT, OPENWOP
from functions.api.documents import Document
from functions.api.problems import PROBLEMS
from functions.entries.model import Priority, Sensitivity, Tier
from functions.identity.model import Kind, Permission
from functions.namespaces.model import Access
from functions.tasks.model import GrantAccess, Status

_STRING: Document = {"type": "string"}
_COUNT: Document = {"type": "integer", "minimum": 0}
_VERSION: Document = {"type": "integer", "minimum": 1}
_BOOLEAN: Document = {"type": "boolean"}
_TIME: Document = {
    "type": "string",
    "format": "date-time",
    "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$",
}


def _one_of(literal: Any) -> Document:
    return {"type": "string", "enum": list(get_args(literal))}


def _maybe(schema: Document) -> Document:
    """The schema, or null."""
    nullable = schema | {"type": [schema["type"], "null"]}
    return nullable | ({"enum": [*schema["enum"], None]} if "enum" in schema else {})


def _array(items: Document) -> Document:
    return {"type": "array", "items": items}


def _object(optional: Document | None = None, /, **required: Document) -> Document:
    properties = required | (optional or {})
    return {"type": "object", "properties": properties, "required": list(required)}


def _ref(name: str) -> Document:
    return {"$ref": f"#/components/schemas/{name}"}


def _page(name: str, item: str) -> Document:
    required = {name: _array(_ref(item)), "total": _COUNT, "limit": _VERSION, "offset": _COUNT}
    return _object({"next_offset": _COUNT}, **required)


_ENTRY = _object(
    {"curated_by": _STRING},
    id=_STRING | {"pattern": "^mem_"},
    agent_id=_STRING,
    namespace=_STRING,
    key=_STRING,
    value={"type": "object"},
    memory_type=_one_of(Tier),
    scope=_object({"task_id": _STRING, "intent_id": _STRING}),
    tags=_array(_STRING),
    ttl=_maybe(_STRING),
    pinned=_BOOLEAN,
    priority=_one_of(Priority),
    sensitivity=_maybe(_one_of(Sensitivity)),
    version=_VERSION,
    created_at=_TIME,
    updated_at=_TIME,
    expires_at=_maybe(_TIME),
    created_by=_STRING,
)
_SUMMARY = _object(
    agent_id=_STRING,
    working=_object(entry_count=_COUNT, total_size_kb=_COUNT, tasks_with_memory=_array(_STRING)),
    episodic=_object(
        entry_count=_COUNT,
        capacity=_COUNT,
        pinned_count=_COUNT,
        total_size_kb=_COUNT,
        oldest_entry=_maybe(_TIME),
        newest_entry=_maybe(_TIME),
    ),
    semantic_namespaces_accessible=_array(_STRING),
)
_NAMESPACE = _object(
    namespace=_STRING,
    permissions=_object(
        default=_one_of(Access),
        allow=_array(_object(agent=_STRING, access=_one_of(Access))),
    ),
    version=_VERSION,
    created_at=_TIME,
    updated_at=_TIME,
)
_POLICY = _object(
    archive_on_completion=_BOOLEAN,
    inherit_from_parent=_BOOLEAN,
    max_entries=_COUNT,
    max_total_size_kb=_COUNT,
)
_GRANT = _object(principal=_STRING, access=_one_of(GrantAccess), expires_at=_maybe(_TIME))
_ACL = _object(
    intent_id=_STRING,
    owner=_STRING,
    entries=_array(_object(principal=_STRING, access=_one_of(GrantAccess))),
    version=_VERSION,
)
_PRINCIPAL = _object(
    tenant=_STRING,
    id=_STRING,
    kind=_one_of(Kind),
    permissions=_array(_one_of(Permission)),
    created_at=_TIME,
    expires_at=_maybe(_TIME),
)
_KEYED = _object(**_PRINCIPAL["properties"], api_key=_STRING | {"pattern": "^am_"})
_PROBLEM = _object(
    {
        "errors": _array(_object(field=_STRING, message=_STRING)),
        "index": _COUNT,
        "current_version": _COUNT,
        "current": {"anyOf": [_ref("Entry"), _ref("Task"), _ref("Namespace")]},
        "max": _COUNT,
        "actual": _COUNT,
        "limit": _STRING,
        "current_count": _COUNT,
        "max_capacity": _COUNT,
    },
    type=_STRING | {"format": "uri-reference"},
    title=_STRING,
    status={"type": "integer", "minimum": 400, "maximum": 599},
    detail=_STRING,
    code={"type": "string", "enum": list(PROBLEMS)},
    message=_STRING,
)


def _task(kept: Document) -> Document:
    """A task, with the fields that memory doesn't use: `kept` holds their schemas."""
    return _object(
        {name: schema for name, schema in kept.items() if name != "name"},
        id=_STRING,
        intent_id=_maybe(_STRING),
        name=_STRING,
        status=_one_of(Status),
        assigned_agent=_maybe(_STRING),
        coordinator=_maybe(_STRING),
        parent_task_id=_maybe(_STRING),
        memory_policy=_POLICY,
        version=_VERSION,
        created_at=_TIME,
        updated_at=_TIME,
        started_at=_maybe(_TIME),
        completed_at=_maybe(_TIME),
    )


def _like(example: Any) -> Document:
    """The schema of a document that is always the same."""
    match example:
        case dict():
            return _object(**{name: _like(value) for name, value in example.items()})
        case list():
            return {"type": "array", "items": _STRING}
        case bool():
            return _BOOLEAN
        case int():
            return _COUNT
    return _STRING


def answers(kept: Document) -> dict[str, Document]:
    """The schemas of all answers by name; `kept` has those of a task's other fields."""
    return {
        "Entry": _ENTRY,
        "EntryPage": _page("entries", "Entry"),
        "Entries": _array(_ref("Entry")),
        "EntryBatch": _object(entries=_array(_ref("Entry"))),
        "Deleted": _object(deleted=_COUNT),
        "Summary": _SUMMARY,
        "Namespace": _NAMESPACE,
        "NamespacePage": _page("namespaces", "Namespace"),
        "Task": _task(kept),
        "Tasks": _array(_ref("Task")),
        "Grant": _GRANT,
        "Acl": _ACL,
        "Principal": _PRINCIPAL,
        "NewPrincipal": _KEYED,
        "NewTenant": _object(id=_STRING, admin=_ref("NewPrincipal")),
        "PrincipalPage": _page("principals", "Principal"),
        "Problem": _PROBLEM,
        "Health": _object(status={"const": "ok"}),
        "Capabilities": _like(CAPABILITIES),
        "OpenIntent": _like(OPENINTENT),
        "OpenWop": _like(OPENWOP),
        "OpenApi": {"type": "object", "required": ["openapi", "info", "paths", "components"]},
        "Html": _STRING,
    }
