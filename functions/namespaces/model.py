"""A namespace's permissions, and what is asked about them."""

from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from functions.platform.fields import AgentId

Access = Literal["none", "read", "write", "admin"]


@dataclass(frozen=True, slots=True)
class Namespace:
    """A configured namespace; `allow` maps principals to their access (RFC-0015 §2.3)."""

    name: str
    default: Access
    allow: dict[str, Access]
    version: int
    created: int  # epoch ms
    updated: int  # epoch ms
    request: bytes | None = field(default=None, compare=False)
    spent: tuple[bytes, ...] = field(default=(), compare=False)  # tokens of earlier requests


class Allowed(BaseModel):
    """One line of `permissions.allow`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    agent: AgentId
    access: Access


class Permissions(BaseModel):
    """`permissions` of a namespace."""

    model_config = ConfigDict(extra="forbid", strict=True)

    default: Access = "read"
    allow: list[Allowed] = Field(default=[], max_length=500)


class NamespaceChange(BaseModel):
    """Body of `PATCH /api/v1/memory/namespaces/{namespace}`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    permissions: Permissions
