"""Bodies of requests about entries and agents' settings (RFC-0015 §1-§3, §7; contract §4)."""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from functions.entries.model import Priority, Sensitivity
from functions.entries.tiers import Tier
from functions.platform.fields import AgentId, Identifier, Moment, Name, Tag
from functions.platform.limits import (
    DEFAULT_EPISODIC_ENTRIES,
    MAX_ENTRY_ID_CHARACTERS,
    MAX_EPISODIC_ENTRIES,
    MAX_LISTED_NAMESPACES,
    MAX_TAGS,
    MAX_TTL_CHARACTERS,
)


def _remove_duplicates(tags: list[str]) -> list[str]:
    return list(dict.fromkeys(tags))


Tags = Annotated[list[Tag], Field(max_length=MAX_TAGS), AfterValidator(_remove_duplicates)]
EntryId = Annotated[str, Field(min_length=1, max_length=MAX_ENTRY_ID_CHARACTERS)]
EvictionPolicy = Literal["lru"]


class Scope(BaseModel):
    """`scope` of an entry: the context that it is bound to (RFC-0015 §1.1)."""

    model_config = ConfigDict(extra="forbid", strict=True)

    task_id: Identifier | None = None
    intent_id: Identifier | None = None


class _Changeable(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    ttl: str | None = Field(default=None, max_length=MAX_TTL_CHARACTERS)
    expires_at: Moment | None = None
    sensitivity: Sensitivity | None = None


class NewEntry(_Changeable):
    """Body of `POST /api/v1/memory`."""

    namespace: Name
    key: Name
    value: dict[str, Any]
    memory_type: Tier
    agent_id: AgentId | None = None
    scope: Scope | None = None
    tags: Tags = []
    pinned: bool | None = None
    priority: Priority | None = None

    @property
    def task(self) -> str | None:
        """The task of its scope."""
        return None if self.scope is None else self.scope.task_id

    @property
    def intent(self) -> str | None:
        """The intent of its scope."""
        return None if self.scope is None else self.scope.intent_id


class EntryChange(_Changeable):
    """Body of `PATCH /api/v1/memory/{id}`: only the given fields change."""

    value: dict[str, Any] = {}
    tags: Tags = []
    pinned: bool = False
    priority: Priority = "normal"


class BatchUpdate(EntryChange):
    """An item of a batch that updates: by `id`, or by natural key (contract §4)."""

    version: int = Field(ge=1)
    id: EntryId | None = None
    namespace: Name | None = None
    key: Name | None = None
    memory_type: Tier | None = None
    agent_id: AgentId | None = None

    @model_validator(mode="after")
    def _named_one_way(self) -> Self:
        natural = {"namespace", "key", "memory_type", "agent_id"} & self.model_fields_set
        by_id = self.id is not None and not natural
        by_key = self.id is None and None not in (self.namespace, self.key)
        if not by_id and not by_key:
            raise ValueError("an update names its entry by id, or by namespace and key")
        return self

    @property
    def natural_key(self) -> tuple[str, str]:
        """Namespace and key, where there is no id."""
        return self.namespace or "", self.key or ""

    @property
    def change(self) -> EntryChange:
        """The fields to change, without what names the entry."""
        given = self.model_fields_set & EntryChange.model_fields.keys()
        return EntryChange.model_construct(given, **{name: getattr(self, name) for name in given})


class EpisodicSettings(BaseModel):
    """`episodic` of an agent's settings: only the given fields change."""

    model_config = ConfigDict(extra="forbid", strict=True)

    capacity: int = Field(default=DEFAULT_EPISODIC_ENTRIES, ge=1, le=MAX_EPISODIC_ENTRIES)
    eviction_policy: EvictionPolicy = "lru"
    pinned_namespaces: list[Name] = Field(default=[], max_length=MAX_LISTED_NAMESPACES)


class AgentConfig(BaseModel):
    """Body of `PATCH /api/v1/agents/{agent_id}/memory/config`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    episodic: EpisodicSettings
