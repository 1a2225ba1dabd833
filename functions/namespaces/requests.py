"""Bodies of requests about namespaces (RFC-0015 §2.3)."""

from pydantic import BaseModel, ConfigDict, Field

from functions.namespaces.model import Access
from functions.platform.fields import AgentId
from functions.platform.limits import MAX_ACL_ENTRIES


class Allowed(BaseModel):
    """One line of `permissions.allow`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    agent: AgentId
    access: Access


class Permissions(BaseModel):
    """`permissions` of a namespace."""

    model_config = ConfigDict(extra="forbid", strict=True)

    default: Access = "read"
    allow: list[Allowed] = Field(default=[], max_length=MAX_ACL_ENTRIES)


class NamespaceChange(BaseModel):
    """Body of `PATCH /api/v1/memory/namespaces/{namespace}`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    permissions: Permissions
