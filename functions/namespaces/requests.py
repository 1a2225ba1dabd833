"""Bodies of requests about namespaces (RFC-0015 §2.3)."""

from pydantic import Field

from functions.namespaces.model import Access
from functions.platform.limits import MAX_ACL_ENTRIES
from functions.platform.validation import AgentId, RequestModel


class Allowed(RequestModel):
    """One line of `permissions.allow`."""

    agent: AgentId
    access: Access


class Permissions(RequestModel):
    """`permissions` of a namespace."""

    default: Access = "read"
    """The access of everybody who isn't listed."""
    allow: list[Allowed] = Field(default=[], max_length=MAX_ACL_ENTRIES)


class NamespaceChange(RequestModel):
    """Body of `PATCH /api/v1/memory/namespaces/{namespace}`: replaces the permissions."""

    permissions: Permissions
