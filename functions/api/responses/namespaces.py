"""Namespaces, as the API shows them (RFC-0015 §2.3)."""

from typing import NotRequired

from typing_extensions import TypedDict

from functions.api.responses.rendering import to_document
from functions.api.responses.types import Count, PagePosition, Timestamp, Version
from functions.namespaces.model import PREFIX_MARK, Access, Namespace
from functions.platform.kept_history import get_days
from functions.platform.limits import DEFAULT_HISTORY_DAYS


class NamespaceAccessDocument(TypedDict):
    """An agent's access to a namespace."""

    agent: str
    access: Access


class NamespacePermissionsDocument(TypedDict):
    """The permissions of a namespace."""

    default: Access
    """The access of principals that aren't listed; of a prefix rule: where none is set."""
    allow: list[NamespaceAccessDocument]


class HistoryDocument(TypedDict):
    """The time for which earlier values of entries are kept."""

    days: Count


class NamespaceDocument(TypedDict):
    """A namespace's permissions."""

    namespace: str
    permissions: NamespacePermissionsDocument
    search_fields: NotRequired[list[str]]
    """The fields of values that searches may compare; absent if there are none."""
    history: NotRequired[HistoryDocument]
    """The time for which earlier values of its entries are kept; absent in a prefix rule."""
    version: Version
    created_at: Timestamp
    updated_at: Timestamp


class NamespacePageDocument(PagePosition):
    """A page of namespaces."""

    namespaces: list[NamespaceDocument]


def render_namespace(namespace: Namespace) -> NamespaceDocument:
    """Render a namespace's permissions (RFC-0015 §2.3), with the default that applies."""
    permissions = render_permissions(namespace)
    history: HistoryDocument = {"days": get_days(namespace.history, DEFAULT_HISTORY_DAYS)}
    computed = {"permissions": permissions, "history": history}
    document = to_document(namespace, NamespaceDocument, **computed)
    if namespace.namespace.endswith(PREFIX_MARK):
        del document["history"]
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
