"""Bodies of requests about namespaces (RFC-0015 §2.3)."""

from pydantic import Field

from functions.namespaces.model import Access
from functions.platform.limits import MAX_ACL_ENTRIES
from functions.platform.validation import AgentId, ChangeModel, Name, RequestModel


class Allowed(RequestModel):
    """One line of `permissions.allow`."""

    agent: AgentId
    access: Access


class Permissions(ChangeModel):
    """`permissions` of a namespace: only what is given changes."""

    default: Access | None = None
    """The access of everybody who isn't listed; null: that of the longest prefix rule that fits,
    else `read`."""
    allow: list[Allowed] = Field(default=[], max_length=MAX_ACL_ENTRIES)
    """Whose access changes; `none` takes one out."""


class NamespaceChange(RequestModel):
    """Body of `PATCH /api/v1/memory/namespaces/{namespace}`."""

    namespace: Name | None = None
    """The name in the path, as RFC-0015 §2.3 repeats it."""
    permissions: Permissions
