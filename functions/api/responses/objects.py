"""Objects and spaces, as the API shows them (contract §12)."""

import base64
from typing import Annotated, NotRequired

import orjson
from pydantic import Field
from typing_extensions import TypedDict

from functions.api.responses.namespaces import NamespacePermissionsDocument, render_permissions
from functions.api.responses.types import (
    VALUE,
    Count,
    JsonObject,
    PagePosition,
    Timestamp,
    Version,
)
from functions.objects.model import Space, StoredObject
from functions.platform.clock import to_rfc3339
from functions.platform.sensitivity import Sensitivity


class ObjectDocument(TypedDict):
    """An object without its bytes."""

    space: str
    key: str
    version: Version
    """Grows with each write, in steps of any size."""
    etag: str
    """The version as If-Match and If-None-Match take it."""
    size: Count
    """In bytes."""
    content_type: str
    metadata: NotRequired[Annotated[JsonObject, VALUE]]
    """Absent without `memory.read`."""
    sensitivity: Sensitivity | None
    created_by: str
    """The id of the principal that wrote it last."""
    created_at: Timestamp
    updated_at: Timestamp
    expires_at: Timestamp | None


class ObjectPageDocument(TypedDict):
    """A page of objects, by their keys."""

    objects: list[ObjectDocument]
    limit: Version
    next: NotRequired[str]
    """What to send as `after` for the next page, with the same prefix; absent on the last page."""


class ObjectDataDocument(ObjectDocument):
    """An object with its bytes."""

    data: Annotated[str, Field(json_schema_extra={"contentEncoding": "base64"})]
    """The bytes in base64."""


class ObjectsDocument(TypedDict):
    """Objects that were asked for by their keys."""

    objects: list[ObjectDataDocument]
    missing: list[str]
    """The keys that no object has."""
    unread: list[str]
    """The keys of objects that the response doesn't hold any more: ask for them again."""


class DeletedObjectsDocument(TypedDict):
    """How many objects were deleted."""

    deleted: Count
    complete: bool
    """Whether none are left; if not, time ran out, and the same request goes on."""


class SpaceDocument(TypedDict):
    """A space of objects, and who may use it."""

    space: str
    owner: str
    """The id of the principal that made it."""
    permissions: NamespacePermissionsDocument
    version: Version
    """Of the permissions."""
    created_at: Timestamp
    updated_at: Timestamp


class SpacePageDocument(PagePosition):
    """A page of spaces."""

    spaces: list[SpaceDocument]


def render_object(stored: StoredObject) -> ObjectDocument:
    """Render an object without its bytes."""
    return {
        "space": stored.space,
        "key": stored.key,
        "version": stored.version,
        "etag": f'"{stored.version}"',
        "size": stored.size,
        "content_type": stored.content_type,
        "metadata": orjson.Fragment(stored.metadata),
        "sensitivity": stored.sensitivity,
        "created_by": stored.author,
        "created_at": to_rfc3339(stored.created),
        "updated_at": to_rfc3339(stored.updated),
        "expires_at": None if stored.expires is None else to_rfc3339(stored.expires),
    }


def render_object_data(stored: StoredObject, data: bytes) -> ObjectDataDocument:
    """Render an object with its bytes."""
    return {**render_object(stored), "data": base64.b64encode(data).decode()}


def render_space(space: Space) -> SpaceDocument:
    """Render a space and its permissions."""
    permissions = space.permissions
    return {
        "space": space.name,
        "owner": space.owner,
        "permissions": render_permissions(permissions),
        "version": permissions.version,
        "created_at": to_rfc3339(permissions.created),
        "updated_at": to_rfc3339(permissions.updated),
    }
