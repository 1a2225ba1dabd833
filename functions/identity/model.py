"""Principals, and what is asked about them."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from functions.platform.fields import AgentId, Moment
from functions.platform.keys import TENANT_PATTERN

Kind = Literal["agent", "coordinator", "user"]
Permission = Literal["memory.read", "memory.write", "memory.admin"]

READ: Permission = "memory.read"
WRITE: Permission = "memory.write"
ADMIN: Permission = "memory.admin"


@dataclass(frozen=True, slots=True)
class Principal:
    """One caller of one tenant (contract §2)."""

    tenant: str
    id: str
    kind: Kind
    permissions: frozenset[str]
    expires: int | None = None  # epoch ms
    created: int = 0  # epoch ms

    @property
    def may_coordinate(self) -> bool:
        return self.kind in ("coordinator", "user")


class NewTenant(BaseModel):
    """Body of `POST /api/v1/tenants`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: Annotated[str, Field(pattern=TENANT_PATTERN)]


class NewPrincipal(BaseModel):
    """Body of `POST /api/v1/principals`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: AgentId
    kind: Kind
    permissions: list[Permission] = [READ, WRITE]
    expires_at: Moment | None = None
