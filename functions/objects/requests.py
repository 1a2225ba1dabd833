"""Requests about objects."""

from typing import Any

from pydantic import Field

from functions.namespaces.requests import Permissions
from functions.platform.limits import MAX_CONTENT_TYPE_CHARACTERS, MAX_READ_OBJECTS
from functions.platform.sensitivity import Sensitivity
from functions.platform.validation import Name, RequestModel, Ttl


class ObjectOptions(RequestModel):
    """The fields of an object in the headers of a PUT."""

    content_type: str = Field(
        default="application/octet-stream",
        alias="Content-Type",
        max_length=MAX_CONTENT_TYPE_CHARACTERS,
        pattern=r"^[\x20-\x7e]+$",
    )
    metadata: dict[str, Any] = Field(default={}, alias="X-Object-Metadata")
    ttl: Ttl | None = Field(default=None, alias="X-Object-TTL")
    sensitivity: Sensitivity | None = Field(default=None, alias="X-Object-Sensitivity")


class NewObjectUpload(RequestModel):
    """Body of `POST /api/v1/objects/{space}/uploads`."""

    size: int = Field(ge=0)
    """The size of the object in bytes, up to 104,857,600."""
    sensitivity: Sensitivity | None = None
    """The sensitivity of the object, as in the PUT that completes the upload."""


class ObjectRename(RequestModel):
    """Body of `POST /api/v1/objects/{space}/rename`."""

    source: str = Field(alias="from", min_length=1)
    """The object's key."""
    target: str = Field(alias="to", min_length=1)
    """Its new key."""
    overwrite: bool = False
    """True replaces an object that has the new key; with false, the rename is rejected with 409."""


class ObjectReading(RequestModel):
    """Body of `POST /api/v1/objects/{space}/read`."""

    keys: list[str] = Field(min_length=1, max_length=MAX_READ_OBJECTS)


class SpaceChange(RequestModel):
    """Body of `PATCH /api/v1/objects/{space}`."""

    space: Name | None = None
    """The name in the path, if it is repeated."""
    permissions: Permissions
    """As for a namespace, but a null `default` means `none`: the space is private."""
