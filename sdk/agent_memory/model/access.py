"""Principals, their permissions, and explanations of access.

Generated from the service's OpenAPI document; do not edit.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agent_memory.document import Model
from agent_memory.model.literals import GrantAccess, NamespaceAccess, Permission, PrincipalKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal(Model):
    """The owner of an API key.

    Attributes:
        agent_type: The type of the agent.
    """

    tenant: str
    id: str
    kind: PrincipalKind
    permissions: tuple[Permission, ...]
    agent_type: str | None = None
    created_at: datetime
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPrincipal(Principal):
    """A principal with its key, which is returned only once.

    Attributes:
        api_key: Returned only once.
    """

    api_key: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessDecision(Model):
    """A decision about access, and the rule that made it.

    Attributes:
        rule: The rule that permits the access, or the reason against it: `no rule permits it`,
            a missing permission, a guardrail, the end of a task.
    """

    allowed: bool
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessExplanation(Model):
    """The access of a principal to one resource, with the rules.

    Attributes:
        target: `kind:id`, as in the audit log.
    """

    principal: str
    target: str
    read: AccessDecision
    write: AccessDecision


@dataclass(frozen=True, slots=True, kw_only=True)
class PrincipalAccess(Model):
    """The access of one principal."""

    agent: str
    access: NamespaceAccess


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespacePermissions(Model):
    """The permissions of a namespace, or of a space of objects.

    Attributes:
        default: The access of principals that aren't listed; of a prefix rule: where none is
            set.
    """

    default: NamespaceAccess
    allow: tuple[PrincipalAccess, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespace(Model):
    """A namespace of semantic memory.

    Attributes:
        search_fields: The fields of values that searches may compare; absent if there are none.
        history: The time for which earlier values of its entries are kept; absent in a prefix
            rule.
    """

    namespace: str
    permissions: NamespacePermissions
    search_fields: tuple[str, ...] = ()
    history: dict[str, Any] | None = None
    version: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant(Model):
    """A principal's access to a task's working memory.

    Attributes:
        granted_by: The coordinator or assignee that granted it.
    """

    principal: str
    access: GrantAccess
    expires_at: datetime | None = None
    granted_by: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AclEntry(Model):
    """The access of one principal to an intent."""

    principal: str
    access: GrantAccess


@dataclass(frozen=True, slots=True, kw_only=True)
class Acl(Model):
    """The access list of an intent.

    Attributes:
        owner: A coordinator or user; null while only agents have named the intent.
    """

    intent_id: str
    owner: str | None = None
    entries: tuple[AclEntry, ...]
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent(Model):
    """An intent that tasks belong to.

    Attributes:
        owner: A coordinator or user; null while only agents have named the intent.
    """

    intent_id: str
    owner: str | None = None
    created_at: datetime
    version: int
