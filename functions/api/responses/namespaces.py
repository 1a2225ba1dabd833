"""Namespaces, as the API shows them (RFC-0015 §2.3)."""

from typing import NotRequired

from typing_extensions import TypedDict

from functions.api.responses.rendering import to_document
from functions.api.responses.types import PagePosition, Timestamp, Version
from functions.namespaces.model import Access, Namespace


class NamespaceAccessDocument(TypedDict):
    """An agent's access to a namespace."""

    agent: str
    access: Access


class NamespacePermissionsDocument(TypedDict):
    """Who may read and write a namespace."""

    default: Access
    """The access of everybody who isn't listed; of a prefix rule, where no own one is set."""
    allow: list[NamespaceAccessDocument]


class NamespaceDocument(TypedDict):
    """A namespace's permissions."""

    namespace: str
    permissions: NamespacePermissionsDocument
    search_fields: NotRequired[list[str]]
    """The fields of values that searches may compare; absent if there are none."""
    version: Version
    created_at: Timestamp
    updated_at: Timestamp


class NamespacePageDocument(PagePosition):
    """A page of namespaces."""

    namespaces: list[NamespaceDocument]


def render_namespace(namespace: Namespace) -> NamespaceDocument:
    """Render a namespace's permissions (RFC-0015 §2.3), with the default that applies."""
    permissions = render_permissions(namespace)
    document = to_document(namespace, NamespaceDocument, permissions=permissions)
    if not namespace.search_fields:
        del document["search_fields"]
    return document


def render_permissions(namespace: Namespace) -> NamespacePermissionsDocument:
    """Render who may read and write a namespace, or a space of objects."""
    return {
        "default": namespace.default or "read",
        "allow": [
            {"agent": agent, "access": access} for agent, access in sorted(namespace.allow.items())
        ],
    }
