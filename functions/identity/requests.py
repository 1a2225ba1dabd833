"""Bodies of requests about tenants and principals."""

from typing import Annotated

from pydantic import Field

from functions.identity.model import READ, WRITE, Kind, Permission
from functions.platform.keys import TENANT_PATTERN
from functions.platform.validation import (
    AgentId,
    ChangeModel,
    Identifier,
    ImportedTime,
    RequestModel,
    Timestamp,
)


class NewTenant(RequestModel):
    """Body of `POST /api/v1/tenants`."""

    id: Annotated[str, Field(pattern=TENANT_PATTERN)]


class NewPrincipal(RequestModel):
    """Body of `POST /api/v1/principals`."""

    id: AgentId
    kind: Kind
    """Users and coordinators may assign tasks and write states for other agents."""
    permissions: list[Permission] = Field(default=[READ, WRITE])
    expires_at: Timestamp | None = None
    """From this moment on its key counts no more."""
    agent_type: Identifier | None = None
    """The kind of agent that it is one of; all of a type share the states of that type."""
    reuse: bool = False
    """Whether it takes over what a revoked principal of this id had: memory, tasks and access."""
    created_at: ImportedTime = None


class PrincipalChange(ChangeModel):
    """Body of `PATCH /api/v1/principals/{id}`; what isn't given stays as it is."""

    permissions: list[Permission] = Field(default=[])
    """All that it may do from now on."""
    agent_type: Identifier | None = None
    """None takes it away."""
    expires_at: Timestamp | None = None
    """None: its key counts until it is revoked."""
