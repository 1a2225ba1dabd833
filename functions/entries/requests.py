"""Bodies of requests about entries and agents' settings (RFC-0015 §1-§3, §7)."""

from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from functions.entries.tiers import Priority, Tier
from functions.namespaces.requests import HistorySettings
from functions.platform import limits
from functions.platform.sensitivity import Sensitivity
from functions.platform.validation import (
    READ_ONLY,
    AgentId,
    ChangeModel,
    Identifier,
    Name,
    NotBlank,
    RequestModel,
    Tag,
    Timestamp,
    Ttl,
)

Tags = Annotated[list[Tag], Field(max_length=limits.MAX_TAGS)]
EntryId = Annotated[str, Field(min_length=1, max_length=limits.MAX_ENTRY_ID_CHARACTERS)]
EvictionPolicy = Literal["lru"]


Vector = Annotated[
    list[Annotated[float, Field(allow_inf_nan=False)]],
    Field(min_length=limits.MIN_VECTOR_NUMBERS, max_length=limits.MAX_VECTOR_NUMBERS),
]


class Scope(RequestModel):
    """`scope` of an entry: the context that it is bound to (RFC-0015 §1.1)."""

    task_id: Identifier | None = None
    intent_id: Identifier | None = None


class _Changeable(RequestModel):
    ttl: Ttl | None = None
    """`task_lifetime`, `duration:` and an ISO 8601 duration, such as `duration:PT24H`, or null: it
    does not expire. `expires_at` takes precedence."""
    expires_at: Timestamp | None = None
    """The time of its expiry. It is not found afterwards."""
    sensitivity: Sensitivity | None = None
    """`confidential` and `restricted` values are stored encrypted."""
    occurred_at: Timestamp | None = None
    """The time when the content happened. Null: when the entry was created. Lists stay ordered by
    creation."""
    vector: Vector | None = None
    """Your own embedding of the entry, to search by. All vectors of a namespace have as many
    numbers as its first one. Null removes it. Answers contain it only on request."""


_Ignored = Annotated[
    Any, Field(description="Ignored: the service sets it.", json_schema_extra=READ_ONLY)
]


class NewEntry(_Changeable):
    """Body of `POST /api/v1/memory` and `PUT /api/v1/memory`.

    Fields that the service sets are ignored, so an entry that was read can be sent again.
    """

    namespace: Name
    """The group that the entry belongs to, such as `billing.invoices`."""
    key: Name
    """The entry's name within its namespace."""
    value: dict[str, Any]
    """Your JSON object, at most {MAX_VALUE_BYTES} of compact UTF-8."""
    memory_type: Tier
    """The tier: it decides on lifetime and access."""
    agent_id: AgentId | None = None
    """The owner; by default, the caller."""
    scope: Scope | None = None
    """The task and intent that the entry belongs to."""
    tags: Tags | None = None
    """Labels to query by."""
    pinned: bool | None = None
    """Episodic only: never evicted."""
    priority: Priority | None = None
    id: _Ignored = None
    version: _Ignored = None
    created_at: _Ignored = None
    updated_at: _Ignored = None
    created_by: _Ignored = None
    curated_by: _Ignored = None
    last_accessed_at: _Ignored = None
    unreadable: _Ignored = None
    inherited: _Ignored = None
    vector_length: _Ignored = None


class Restoration(RequestModel):
    """Body of `POST /api/v1/memory/{id}/restore`."""

    version: Annotated[int, Field(ge=1)]
    """The version whose value is written again."""


class Memory(RequestModel):
    """Body of `POST /api/v1/remember`."""

    text: NotBlank | None = None
    """The text to remember."""
    value: dict[str, Any] | None = None
    """The JSON object to remember; give `text` or `value`."""
    user_id: Identifier | None = None
    """The user whom the memory is about; by default, the memory belongs to the caller."""
    key: Name | None = None
    """The entry's name; by default, it is derived from the words."""
    tags: Tags | None = None
    """Labels to query by."""
    ttl: Ttl | None = None
    """The lifetime of the memory, such as `duration:P30D`; by default, it does not expire."""
    sensitivity: Sensitivity | None = None
    """`confidential` and `restricted` memories are stored encrypted, and no search finds them."""
    source: Annotated[str, Field(min_length=1, max_length=limits.MAX_NAME_CHARACTERS)] | None = None
    """The source of the memory, such as a document or a session; stored in the value."""
    occurred_at: Timestamp | None = None
    """The time when the content happened. Null: now."""

    @model_validator(mode="after")
    def _has_one_content(self) -> Self:
        if (self.text is None) == (self.value is None):
            raise ValueError("must have either `text` or `value`")
        return self


class EntryChange(_Changeable, ChangeModel):
    """Body of `PATCH /api/v1/memory/{id}`: only the given fields change."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    value: dict[str, Any] = Field(default={})
    """Your JSON object, at most {MAX_VALUE_BYTES} of compact UTF-8."""
    tags: Tags = Field(default=[])
    """Labels to query by."""
    pinned: bool = False
    """Episodic only: never evicted."""
    priority: Priority = "normal"


class BatchUpdate(EntryChange):
    """An item of a batch that updates an entry.

    It names the entry by `id`, or by namespace and key (with `memory_type` for semantic memory).
    Only the given fields change.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"required": ["id"], "properties": {"id": {"type": "string"}}},
                {
                    "required": ["namespace", "key"],
                    "properties": {"namespace": {"type": "string"}, "key": {"type": "string"}},
                },
            ]
        }
    )

    version: int = Field(ge=1)
    """The version; send it as If-Match, or here in a batch."""
    id: EntryId | None = None
    namespace: Name | None = None
    """The group that the entry belongs to, such as `billing.invoices`."""
    key: Name | None = None
    """The entry's name within its namespace."""
    memory_type: Tier | None = None
    """The tier: it decides on lifetime and access."""
    agent_id: AgentId | None = None
    """The owner; by default, the caller."""

    @model_validator(mode="after")
    def _named_one_way(self) -> Self:
        natural = {"namespace", "key", "memory_type", "agent_id"} & self.model_fields_set
        by_id = self.id is not None and not natural
        by_key = self.id is None and None not in (self.namespace, self.key)
        if not by_id and not by_key:
            raise ValueError(
                "an update names its entry by `id`, or by `namespace` and `key`, not both"
            )
        return self

    @property
    def natural_key(self) -> tuple[str, str]:
        """Namespace and key, where there is no id."""
        return self.namespace or "", self.key or ""


class EpisodicSettings(ChangeModel):
    """`episodic` of an agent's settings: only the given fields change."""

    capacity: int = Field(
        default=limits.DEFAULT_EPISODIC_ENTRIES, ge=1, le=limits.MAX_EPISODIC_ENTRIES
    )
    """The maximum number of episodic entries. If it is lowered, the schedule evicts."""
    eviction_policy: EvictionPolicy = "lru"
    pinned_namespaces: list[Name] = Field(default=[], max_length=limits.MAX_LISTED_NAMESPACES)
    """New episodic entries in these are pinned by default."""
    history: HistorySettings | None = None
    """The time for which earlier values of episodic entries are kept; null keeps none."""


class WorkingSettings(ChangeModel):
    """`working` of an agent's settings: only the given fields change.

    They limit working memory outside tasks; a task's memory policy limits the task's.
    """

    max_entries: int = Field(
        default=limits.DEFAULT_WORKING_ENTRIES, ge=0, le=limits.MAX_TASK_ENTRIES
    )
    """The maximum number of entries of working memory outside tasks."""
    max_total_size_kb: int = Field(default=limits.DEFAULT_WORKING_KB, ge=0, le=limits.MAX_TASK_KB)
    """The maximum size of their values together, in units of 1,024 bytes."""


class AgentConfig(ChangeModel):
    """Body of `PATCH /api/v1/agents/{agent_id}/memory/config`."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    episodic: EpisodicSettings = Field(default_factory=EpisodicSettings.model_construct)
    working: WorkingSettings = Field(default_factory=WorkingSettings.model_construct)

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("must have `episodic` or `working`")
        return self
