"""Bodies of requests about tenants and principals (contract §2)."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from functions.identity.model import READ, WRITE, Kind, Permission
from functions.platform.fields import AgentId, Moment
from functions.platform.keys import TENANT_PATTERN


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
