"""Objects and spaces, as the API shows them."""

import base64
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from functions.api.responses.namespaces import NamespacePermissionsDocument, render_permissions
from functions.api.responses.rendering import to_document
from functions.api.responses.types import (
    VALUE,
    Count,
    JsonObject,
    PagePosition,
    Timestamp,
    UncountedPosition,
    Version,
)
from functions.objects.model import ObjectUpload, Space, StoredObject
from functions.platform.archive_storage import Address
from functions.platform.sensitivity import Sensitivity
from functions.platform.values import UNREADABLE


class ObjectDocument(TypedDict):
    """An object without its bytes."""

    space: str
    key: str
    version: Version
    """Grows with each write, in steps of any size."""
    etag: str
    """The version in the form of If-Match and If-None-Match."""
    size: Count
    """In bytes."""
    content_type: str
    metadata: NotRequired[Annotated[JsonObject, VALUE]]
    unreadable: NotRequired[bool]
    """True if the stored metadata was damaged or moved: replace it or delete the object."""
    sensitivity: Sensitivity | None
    created_by: str
    """The id of the principal that wrote it last."""
    created_at: Timestamp
    updated_at: Timestamp
    expires_at: Timestamp | None


class ObjectPageDocument(UncountedPosition):
    """A page of objects, by their keys."""

    objects: list[ObjectDocument]


class ObjectDataDocument(ObjectDocument):
    """An object with its bytes."""

    data: Annotated[str, Field(json_schema_extra={"contentEncoding": "base64"})]
    """The bytes in base64."""


class ObjectsDocument(TypedDict):
    """Objects that were asked for by their keys."""

    objects: list[ObjectDataDocument]
    missing: list[str]
    """The keys that no object has."""
    too_large: list[str]
    """The keys of objects of over {MAX_OBJECT_BYTES}: get each by itself."""
    unread: list[str]
    """The keys of objects that the response doesn't hold any more: ask for them again."""


class ObjectUploadDocument(TypedDict):
    """An upload, and the address to which its bytes go."""

    upload_id: str
    """The value of `X-Object-Upload` in the PUT that completes it."""
    url: str
    method: Literal["PUT"]
    headers: dict[str, str]
    """The headers that the request to the address must have."""
    size: Count
    """The number of bytes that the address accepts."""
    address_expires_at: Timestamp
    """The time until which the address accepts them."""
    expires_at: Timestamp
    """The time until which the upload can be completed. After it, the bytes are deleted."""


class DeletedObjectsDocument(TypedDict):
    """The number of deleted objects."""

    deleted: Count
    complete: bool
    """True if none are left; if not, time ran out, and the same request continues."""


class SpaceDocument(TypedDict):
    """A space of objects, and who may use it."""

    space: str
    owner: str
    """The id of the principal that made it."""
    permissions: NamespacePermissionsDocument
    version: Version
    """The version of the permissions."""
    created_at: Timestamp
    updated_at: Timestamp


class SpacePageDocument(PagePosition):
    """A page of spaces."""

    spaces: list[SpaceDocument]


def render_object(stored: StoredObject) -> ObjectDocument:
    """Render an object without its bytes."""
    document = to_document(stored, ObjectDocument, etag=f'"{stored.version}"')
    if not stored.metadata:
        del document["metadata"]
    if stored.metadata is UNREADABLE:
        document["unreadable"] = True
    return document


def render_object_data(stored: StoredObject, data: bytes) -> ObjectDataDocument:
    return {**render_object(stored), "data": base64.b64encode(data).decode()}


def render_upload(upload: ObjectUpload, address: Address, url: str) -> ObjectUploadDocument:
    """Render an upload, whose address has the given URL."""
    headers = address.headers
    return to_document(upload, ObjectUploadDocument, url=url, method="PUT", headers=headers)


def render_space(space: Space) -> SpaceDocument:
    return to_document(
        space.permissions,
        SpaceDocument,
        space=space.name,
        owner=space.owner,
        permissions=render_permissions(space.permissions),
    )
