"""Bodies of requests about tenants and principals."""

import unicodedata
from typing import Annotated

from pydantic import AfterValidator, Field

from functions.identity.model import OPERATOR, READ, SERVICE, WRITE, Kind, Permission
from functions.platform.keys import TENANT_PATTERN
from functions.platform.validation import AgentId, ChangeModel, Identifier, RequestModel, Timestamp


class NewTenant(RequestModel):
    """Body of `POST /api/v1/tenants`."""

    id: Annotated[str, Field(pattern=TENANT_PATTERN)]


def _check_printable(id: str) -> str:
    if id in RESERVED_IDS:
        raise ValueError("is reserved for the service; choose another id")
    if not id.isprintable() or "/" in id or any(map(_is_invisible, id)):
        raise ValueError("must be printable text without `/`, control or bidirectional characters")
    if id != id.strip() or id in (".", ".."):
        raise ValueError("can't begin or end with a space, or be `.` or `..`; choose another id")
    return id


def _is_invisible(character: str) -> bool:
    return unicodedata.bidirectional(character) in _BIDIRECTIONAL


RESERVED_IDS = frozenset({OPERATOR.id, SERVICE.id, "[deleted]"})
_BIDIRECTIONAL = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
PrincipalId = Annotated[AgentId, AfterValidator(_check_printable)]


class NewAdmin(RequestModel):
    """Body of `POST /api/v1/tenants/{id}/admins`."""

    id: PrincipalId


class NewPrincipal(RequestModel):
    """Body of `POST /api/v1/principals`."""

    id: PrincipalId
    kind: Kind
    """Users and coordinators may assign tasks and write states for other agents."""
    permissions: list[Permission] = Field(default=[READ, WRITE])
    expires_at: Timestamp | None = None
    """The time from which its key is invalid."""
    agent_type: Identifier | None = None
    """The type of the agent; all agents of a type share its states."""
    reuse: bool = False
    """True if it takes over the memory, tasks and access of a revoked principal of this id."""


class PrincipalGrant(RequestModel):
    """Body of `PATCH /api/v1/tenants/{id}/principals/{principal}`."""

    permissions: list[Permission]
    """All its permissions."""


class PrincipalChange(ChangeModel):
    """Body of `PATCH /api/v1/principals/{id}`; omitted fields stay unchanged."""

    permissions: list[Permission] = Field(default=[])
    """All its permissions. It keeps `memory.inspect`, which only the root key removes."""
    agent_type: Identifier | None = None
    """Null removes it."""
    expires_at: Timestamp | None = None
    """Null: its key is valid until it is revoked."""
