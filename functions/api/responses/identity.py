"""Tenants and principals, as the API shows them."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from functions.api.responses.rendering import to_document
from functions.api.responses.types import PagePosition, Timestamp
from functions.identity.model import Kind, Permission, Principal


class PrincipalDocument(TypedDict):
    """A principal, without its key."""

    tenant: str
    id: str
    kind: Kind
    permissions: list[Permission]
    agent_type: str | None
    """The type of the agent."""
    created_at: Timestamp
    expires_at: Timestamp | None


class NewPrincipalDocument(PrincipalDocument):
    """A principal with its new key."""

    api_key: Annotated[str, Field(pattern="^am_")]
    """Returned only once."""


class NewTenantDocument(TypedDict):
    """A tenant and its first principal."""

    id: str
    admin: NewPrincipalDocument


class PrincipalPageDocument(PagePosition):
    """A page of principals."""

    principals: list[PrincipalDocument]


def render_principal(principal: Principal) -> PrincipalDocument:
    """Render a principal, without its key."""
    return to_document(principal, PrincipalDocument)


def render_new_principal(principal: Principal, api_key: str) -> NewPrincipalDocument:
    return {**render_principal(principal), "api_key": api_key}
