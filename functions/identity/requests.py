"""Bodies of requests about tenants and principals (contract §2)."""

from typing import Annotated

from pydantic import Field

from functions.identity.model import READ, WRITE, Kind, Permission
from functions.platform.keys import TENANT_PATTERN
from functions.platform.validation import AgentId, RequestModel, Timestamp


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
