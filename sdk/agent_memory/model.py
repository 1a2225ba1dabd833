"""What the service answers and takes. Generated from its OpenAPI document; do not edit.

Models are frozen dataclasses; `raw` has all fields of the answer, known or not.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, NotRequired, Self, TypedDict

Document = Mapping[str, Any]
MemoryType = Literal["working", "episodic", "semantic"]
Priority = Literal["low", "normal", "high"]
Sensitivity = Literal["public", "internal", "confidential", "restricted"]
EventType = Literal[
    "memory.created",
    "memory.updated",
    "memory.deleted",
    "memory.archived",
    "memory.evicted",
    "memory.expired",
]
TaskStatus = Literal[
    "pending",
    "ready",
    "claimed",
    "running",
    "blocked",
    "completed",
    "failed",
    "cancelled",
    "skipped",
]
PrincipalKind = Literal["agent", "coordinator", "user"]
Permission = Literal["memory.read", "memory.write", "memory.admin"]
GrantAccess = Literal["read", "write"]
NamespaceAccess = Literal["none", "read", "write", "admin"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A memory entry (RFC-0015 §1.1). Times are RFC 3339 texts in UTC."""

    id: str
    agent_id: str
    namespace: str
    key: str
    value: dict[str, Any] = field(default_factory=dict)
    memory_type: MemoryType
    task_id: str | None = None
    intent_id: str | None = None
    tags: tuple[str, ...] = ()
    ttl: str | None = None
    pinned: bool = False
    priority: Priority | None = None
    sensitivity: Sensitivity | None = None
    version: int
    created_at: str
    updated_at: str
    expires_at: str | None = None
    created_by: str | None = None
    curated_by: str | None = None
    vector_length: int | None = None
    inherited: bool = False
    raw: Document = field(repr=False, compare=False)

    @classmethod
    def from_document(cls, document: Document) -> Self:
        """Read a document of the service.

        Raises:
            KeyError: an essential field is missing.
        """
        return cls(
            id=document["id"],
            agent_id=document["agent_id"],
            namespace=document["namespace"],
            key=document["key"],
            value=document.get("value", {}),
            memory_type=document["memory_type"],
            task_id=(document.get("scope") or {}).get("task_id"),
            intent_id=(document.get("scope") or {}).get("intent_id"),
            tags=tuple(document.get("tags") or ()),
            ttl=document.get("ttl"),
            pinned=bool(document.get("pinned")),
            priority=document.get("priority"),
            sensitivity=document.get("sensitivity"),
            version=document["version"],
            created_at=document["created_at"],
            updated_at=document["updated_at"],
            expires_at=document.get("expires_at"),
            created_by=document.get("created_by"),
            curated_by=document.get("curated_by"),
            vector_length=document.get("vector_length"),
            inherited=bool(document.get("inherited")),
            raw=document,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """An entry that a search found, with its score."""

    entry: Entry
    score: float
    matched: tuple[str, ...] = ()
    raw: Document = field(repr=False, compare=False)

    @classmethod
    def from_document(cls, document: Document) -> Self:
        """Read a document of the service.

        Raises:
            KeyError: an essential field is missing.
        """
        return cls(
            entry=Entry.from_document(document["entry"]),
            score=document["score"],
            matched=tuple(document.get("matched") or ()),
            raw=document,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task (RFC-0012; RFC-0015 §5)."""

    id: str
    intent_id: str | None = None
    name: str | None = None
    status: TaskStatus
    assigned_agent: str | None = None
    coordinator: str | None = None
    delegates: tuple[str, ...] = ()
    parent_task_id: str | None = None
    memory_policy: dict[str, Any] | None = None
    version: int
    created_at: str
    updated_at: str | None = None
    started_at: str | None = None
    completed_at: str | None = None
    plan_id: str | None = None
    description: str | None = None
    priority: Any = None
    input: Any = None
    output: Any = None
    artifacts: tuple[Any, ...] = ()
    lease_id: str | None = None
    capabilities_required: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    retry_policy: Any = None
    timeout_seconds: float | None = None
    attempt: int | None = None
    max_attempts: int | None = None
    permissions: Any = None
    requires_tools: tuple[Any, ...] = ()
    blocked_reason: str | None = None
    error: Any = None
    metadata: dict[str, Any] | None = None
    semantic_namespaces: tuple[str, ...] = ()
    raw: Document = field(repr=False, compare=False)

    @classmethod
    def from_document(cls, document: Document) -> Self:
        """Read a document of the service.

        Raises:
            KeyError: an essential field is missing.
        """
        return cls(
            id=document["id"],
            intent_id=document.get("intent_id"),
            name=document.get("name"),
            status=document["status"],
            assigned_agent=document.get("assigned_agent"),
            coordinator=document.get("coordinator"),
            delegates=tuple(document.get("delegates") or ()),
            parent_task_id=document.get("parent_task_id"),
            memory_policy=document.get("memory_policy"),
            version=document["version"],
            created_at=document["created_at"],
            updated_at=document.get("updated_at"),
            started_at=document.get("started_at"),
            completed_at=document.get("completed_at"),
            plan_id=document.get("plan_id"),
            description=document.get("description"),
            priority=document.get("priority"),
            input=document.get("input"),
            output=document.get("output"),
            artifacts=tuple(document.get("artifacts") or ()),
            lease_id=document.get("lease_id"),
            capabilities_required=tuple(document.get("capabilities_required") or ()),
            depends_on=tuple(document.get("depends_on") or ()),
            blocks=tuple(document.get("blocks") or ()),
            retry_policy=document.get("retry_policy"),
            timeout_seconds=document.get("timeout_seconds"),
            attempt=document.get("attempt"),
            max_attempts=document.get("max_attempts"),
            permissions=document.get("permissions"),
            requires_tools=tuple(document.get("requires_tools") or ()),
            blocked_reason=document.get("blocked_reason"),
            error=document.get("error"),
            metadata=document.get("metadata"),
            semantic_namespaces=tuple(document.get("semantic_namespaces") or ()),
            raw=document,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespace:
    """A namespace of semantic memory and its permissions: `{default, allow}`."""

    namespace: str
    permissions: dict[str, Any]
    search_fields: tuple[str, ...] = ()
    version: int
    created_at: str | None = None
    updated_at: str | None = None
    raw: Document = field(repr=False, compare=False)

    @classmethod
    def from_document(cls, document: Document) -> Self:
        """Read a document of the service.

        Raises:
            KeyError: an essential field is missing.
        """
        return cls(
            namespace=document["namespace"],
            permissions=document["permissions"],
            search_fields=tuple(document.get("search_fields") or ()),
            version=document["version"],
            created_at=document.get("created_at"),
            updated_at=document.get("updated_at"),
            raw=document,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Whom a key stands for."""

    tenant: str
    id: str
    kind: PrincipalKind
    permissions: tuple[Permission, ...]
    agent_type: str | None = None
    created_at: str | None = None
    expires_at: str | None = None
    raw: Document = field(repr=False, compare=False)

    @classmethod
    def from_document(cls, document: Document) -> Self:
        """Read a document of the service.

        Raises:
            KeyError: an essential field is missing.
        """
        return cls(
            tenant=document["tenant"],
            id=document["id"],
            kind=document["kind"],
            permissions=tuple(document["permissions"] or ()),
            agent_type=document.get("agent_type"),
            created_at=document.get("created_at"),
            expires_at=document.get("expires_at"),
            raw=document,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPrincipal(Principal):
    """A principal with its key, which the service shows this once."""

    api_key: str = field(repr=False)

    @classmethod
    def from_document(cls, document: Document) -> Self:
        """Read a document of the service.

        Raises:
            KeyError: an essential field is missing.
        """
        return cls(
            tenant=document["tenant"],
            id=document["id"],
            kind=document["kind"],
            permissions=tuple(document["permissions"] or ()),
            agent_type=document.get("agent_type"),
            created_at=document.get("created_at"),
            expires_at=document.get("expires_at"),
            api_key=document["api_key"],
            raw=document,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A principal's access to a task's working memory."""

    principal: str
    access: GrantAccess
    expires_at: str | None = None
    granted_by: str | None = None
    created_at: str | None = None
    raw: Document = field(repr=False, compare=False)

    @classmethod
    def from_document(cls, document: Document) -> Self:
        """Read a document of the service.

        Raises:
            KeyError: an essential field is missing.
        """
        return cls(
            principal=document["principal"],
            access=document["access"],
            expires_at=document.get("expires_at"),
            granted_by=document.get("granted_by"),
            created_at=document.get("created_at"),
            raw=document,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """An intent that tasks belong to."""

    intent_id: str
    owner: str | None = None
    created_at: str | None = None
    version: int | None = None
    raw: Document = field(repr=False, compare=False)

    @classmethod
    def from_document(cls, document: Document) -> Self:
        """Read a document of the service.

        Raises:
            KeyError: an essential field is missing.
        """
        return cls(
            intent_id=document["intent_id"],
            owner=document.get("owner"),
            created_at=document.get("created_at"),
            version=document.get("version"),
            raw=document,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent, with what it holds and the room that is left."""

    agent_id: str
    kind: PrincipalKind
    agent_type: str | None = None
    created_at: str | None = None
    working: dict[str, Any] | None = None
    episodic: dict[str, Any] | None = None
    raw: Document = field(repr=False, compare=False)

    @classmethod
    def from_document(cls, document: Document) -> Self:
        """Read a document of the service.

        Raises:
            KeyError: an essential field is missing.
        """
        return cls(
            agent_id=document["agent_id"],
            kind=document["kind"],
            agent_type=document.get("agent_type"),
            created_at=document.get("created_at"),
            working=document.get("working"),
            episodic=document.get("episodic"),
            raw=document,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """What bounds an agent's memory."""

    agent_id: str
    episodic: dict[str, Any]
    working: dict[str, Any]
    raw: Document = field(repr=False, compare=False)

    @classmethod
    def from_document(cls, document: Document) -> Self:
        """Read a document of the service.

        Raises:
            KeyError: an essential field is missing.
        """
        return cls(
            agent_id=document["agent_id"],
            episodic=document["episodic"],
            working=document["working"],
            raw=document,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """A use of authority."""

    id: str
    time: str
    actor: dict[str, Any]
    action: str
    target: str
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None
    request_id: str | None = None
    raw: Document = field(repr=False, compare=False)

    @classmethod
    def from_document(cls, document: Document) -> Self:
        """Read a document of the service.

        Raises:
            KeyError: an essential field is missing.
        """
        return cls(
            id=document["id"],
            time=document["time"],
            actor=document["actor"],
            action=document["action"],
            target=document["target"],
            before=document.get("before"),
            after=document.get("after"),
            request_id=document.get("request_id"),
            raw=document,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """A deletion, and how far it is."""

    kind: str
    id: str
    dry_run: bool = False
    status: str
    requested_at: str | None = None
    requested_by: dict[str, Any] | None = None
    finished_at: str | None = None
    counts: dict[str, Any]
    raw: Document = field(repr=False, compare=False)

    @classmethod
    def from_document(cls, document: Document) -> Self:
        """Read a document of the service.

        Raises:
            KeyError: an essential field is missing.
        """
        return cls(
            kind=document["kind"],
            id=document["id"],
            dry_run=bool(document.get("dry_run")),
            status=document["status"],
            requested_at=document.get("requested_at"),
            requested_by=document.get("requested_by"),
            finished_at=document.get("finished_at"),
            counts=document["counts"],
            raw=document,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event of a log (RFC-0015 §5.2)."""

    id: str
    type: EventType
    agent_id: str | None = None
    actor: dict[str, Any] | None = None
    intent_id: str | None = None
    task_id: str | None = None
    data: dict[str, Any]
    timestamp: str
    raw: Document = field(repr=False, compare=False)

    @classmethod
    def from_document(cls, document: Document) -> Self:
        """Read a document of the service.

        Raises:
            KeyError: an essential field is missing.
        """
        return cls(
            id=document["id"],
            type=document["type"],
            agent_id=document.get("agent_id"),
            actor=document.get("actor"),
            intent_id=document.get("intent_id"),
            task_id=document.get("task_id"),
            data=document["data"],
            timestamp=document["timestamp"],
            raw=document,
        )


class Fact(TypedDict):
    """A fact: subject, predicate and object."""

    fact_id: str
    agent_type: str | None
    subject: str
    predicate: str
    object: str
    confidence: float
    learned_from_run_id: str | None
    learned_from_run_ids: list[str]
    learned_count: int
    first_learned_at: str
    learned_by: str
    metadata: dict[str, Any] | None
    version: int
    created_at: str
    updated_at: str


class RecalledFact(TypedDict):
    """A fact that was recalled, with its score."""

    fact_id: str
    agent_type: str | None
    subject: str
    predicate: str
    object: str
    confidence: float
    learned_from_run_id: str | None
    learned_from_run_ids: list[str]
    learned_count: int
    first_learned_at: str
    learned_by: str
    metadata: dict[str, Any] | None
    version: int
    created_at: str
    updated_at: str
    score: float
    matched: list[str]


class Run(TypedDict):
    """A run of an agent."""

    id: str
    agent_type: str
    instance_id: str | None
    status: str
    input: Any
    output: Any
    error: Any
    omitted: NotRequired[list[str]]
    sensitivity: Sensitivity | None
    version: int
    created_at: str
    created_by: str
    ended_at: str | None
    ended_by: str | None
    expires_at: str


class Episode(TypedDict):
    """An episode of a run."""

    id: str
    run_id: str
    agent_type: NotRequired[str]
    content: Any
    role: NotRequired[str]
    kind: NotRequired[str]
    turn: NotRequired[int]
    metadata: NotRequired[dict[str, Any]]
    sensitivity: Sensitivity | None
    created_at: str
    created_by: str
    expires_at: str


class Workflow(TypedDict):
    """A workflow, and how well it did."""

    agent_type: str
    task_type: str
    workflow_id: str
    spec: Any
    half_life: str | None
    alpha: float
    beta: float
    mean: float
    outcomes: int
    version: int
    created_at: str
    updated_at: str


class SelectedWorkflow(TypedDict):
    """The workflow to try next."""

    agent_type: str
    task_type: str
    workflow_id: str
    spec: Any
    half_life: str | None
    alpha: float
    beta: float
    mean: float
    outcomes: int
    version: int
    created_at: str
    updated_at: str
    sampled: float


class EntryFields(TypedDict, total=False):
    """Fields of an entry; what isn't given stays as it is."""

    expires_at: str | datetime | None
    pinned: bool
    priority: Priority
    sensitivity: Sensitivity | None
    tags: Iterable[str]
    ttl: str | float | timedelta | None
    vector: Iterable[float] | None


class TaskFields(TypedDict, total=False):
    """Fields of a new task."""

    artifacts: Iterable[Any] | None
    assigned_agent: str | None
    attempt: int | None
    blocked_reason: str | None
    blocks: Iterable[str] | None
    capabilities_required: Iterable[str] | None
    coordinator: str | None
    delegates: Iterable[str] | None
    depends_on: Iterable[str] | None
    description: str | None
    error: Any
    id: str | None
    input: Any
    lease_id: str | None
    max_attempts: int | None
    memory_policy: dict[str, Any] | None
    metadata: dict[str, Any] | None
    name: str | None
    output: Any
    parent_task_id: str | None
    permissions: Any
    plan_id: str | None
    priority: Any | None
    requires_tools: Iterable[Any] | None
    retry_policy: Any
    semantic_namespaces: Iterable[str] | None
    status: TaskStatus
    timeout_seconds: float | None


class TaskChanges(TypedDict, total=False):
    """Fields of a task; what isn't given stays as it is."""

    artifacts: Iterable[Any] | None
    assigned_agent: str | None
    attempt: int | None
    blocked_reason: str | None
    blocks: Iterable[str] | None
    capabilities_required: Iterable[str] | None
    coordinator: str | None
    delegates: Iterable[str] | None
    depends_on: Iterable[str] | None
    description: str | None
    error: Any
    input: Any
    lease_id: str | None
    max_attempts: int | None
    memory_policy: dict[str, Any] | None
    metadata: dict[str, Any] | None
    name: str | None
    output: Any
    permissions: Any
    plan_id: str | None
    priority: Any | None
    requires_tools: Iterable[Any] | None
    retry_policy: Any
    semantic_namespaces: Iterable[str] | None
    status: TaskStatus | None
    timeout_seconds: float | None


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """A field that a call takes, as the service describes it."""

    name: str
    type: str
    choices: tuple[str, ...]
    description: str


ENTRY_FIELDS = {
    "expires_at": FieldInfo(
        "expires_at",
        "string",
        (),
        ("From this moment on it is gone, as if it had never been."),
    ),
    "memory_type": FieldInfo(
        "memory_type",
        "string",
        (
            "working",
            "episodic",
            "semantic",
        ),
        ("The tier: it decides on lifetime and access."),
    ),
    "pinned": FieldInfo(
        "pinned",
        "boolean",
        (),
        ("Episodic only: never evicted."),
    ),
    "priority": FieldInfo(
        "priority",
        "string",
        (
            "low",
            "normal",
            "high",
        ),
        (""),
    ),
    "scope": FieldInfo(
        "scope",
        "object",
        (),
        ("The task and intent that the entry belongs to."),
    ),
    "sensitivity": FieldInfo(
        "sensitivity",
        "string",
        (
            "public",
            "internal",
            "confidential",
            "restricted",
        ),
        ("`confidential` and `restricted` values are stored encrypted."),
    ),
    "tags": FieldInfo(
        "tags",
        "array",
        (),
        ("Labels to query by."),
    ),
    "ttl": FieldInfo(
        "ttl",
        "object",
        (),
        (
            "`task_lifetime`, `duration:` and an ISO 8601 duration, such as "
            "`duration:PT24H`, or null: no end. An `expires_at` wins over it."
        ),
    ),
    "vector": FieldInfo(
        "vector",
        "array",
        (),
        (
            "Your own embedding of the entry, to search by. All vectors of a "
            "namespace have as many numbers as its first one. Null: none, or no "
            "longer one. It isn't given back."
        ),
    ),
}


ENTRY_CHANGES = {
    "expires_at": FieldInfo(
        "expires_at",
        "string",
        (),
        ("From this moment on it is gone, as if it had never been."),
    ),
    "pinned": FieldInfo(
        "pinned",
        "boolean",
        (),
        ("Episodic only: never evicted."),
    ),
    "priority": FieldInfo(
        "priority",
        "string",
        (
            "low",
            "normal",
            "high",
        ),
        (""),
    ),
    "sensitivity": FieldInfo(
        "sensitivity",
        "string",
        (
            "public",
            "internal",
            "confidential",
            "restricted",
        ),
        ("`confidential` and `restricted` values are stored encrypted."),
    ),
    "tags": FieldInfo(
        "tags",
        "array",
        (),
        ("Labels to query by."),
    ),
    "ttl": FieldInfo(
        "ttl",
        "object",
        (),
        (
            "`task_lifetime`, `duration:` and an ISO 8601 duration, such as "
            "`duration:PT24H`, or null: no end. An `expires_at` wins over it."
        ),
    ),
    "vector": FieldInfo(
        "vector",
        "array",
        (),
        (
            "Your own embedding of the entry, to search by. All vectors of a "
            "namespace have as many numbers as its first one. Null: none, or no "
            "longer one. It isn't given back."
        ),
    ),
}
