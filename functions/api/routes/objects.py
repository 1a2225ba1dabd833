"""Objects: bytes under a key."""

import base64
from functools import partial
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from functions.api.documents import (
    VALUE,
    Count,
    JsonObject,
    Timestamp,
    UncountedPosition,
    Version,
    to_document,
)
from functions.api.http import Request, Response, json_response
from functions.api.object_headers import (
    DESCRIBING_HEADERS,
    OBJECT_HEADERS,
    describe,
    read_description,
    select_range,
)
from functions.api.paging import paginate_uncounted, truncate_to_limit
from functions.api.parameters import (
    UNCOUNTED_PAGE,
    VALUES_OF_ANSWER,
    HeaderParameter,
    PrefixParameter,
)
from functions.api.routes.spaces import read_space
from functions.api.routing import ANY, RouteTable
from functions.identity.model import READ, WRITE, Principal
from functions.objects.authority import DELETE_OBJECTS, WRITE_OBJECTS
from functions.objects.model import ObjectUpload, Precondition, StoredObject
from functions.objects.requests import NewObjectUpload, ObjectReading, ObjectRename
from functions.objects.uploads import UPLOAD_HEADER
from functions.platform import limits
from functions.platform.archive_storage import Address
from functions.platform.errors import ValidationFailed, ValueTooLarge
from functions.platform.sensitivity import Sensitivity
from functions.platform.values import UNREADABLE


class ObjectHeadDocument(TypedDict):
    """An object without its bytes."""

    space: str
    key: str
    version: Version
    """Grows with each write, in steps of any size."""
    etag: str
    """The version in the form for If-Match and If-None-Match."""
    size: Count
    """The size in bytes."""
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

    objects: list[ObjectHeadDocument]


class ObjectDataDocument(ObjectHeadDocument):
    """An object with its bytes."""

    data: Annotated[str, Field(json_schema_extra={"contentEncoding": "base64"})]
    """The bytes in base64."""


class ObjectsDocument(TypedDict):
    """The requested objects."""

    objects: list[ObjectDataDocument]
    missing: list[str]
    """The keys without an object."""
    too_large: list[str]
    """The keys of objects over {MAX_OBJECT_BYTES}: get each in a separate request."""
    unread: list[str]
    """The keys of objects that don't fit into the response: request them again."""


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
    """The time until which the address is valid."""
    expires_at: Timestamp
    """The time until which the upload can be completed. Then the bytes are deleted."""


class DeletedObjectsDocument(TypedDict):
    """The number of deleted objects."""

    deleted: Count
    complete: bool
    """True if none are left. If false, time ran out: repeat the request to continue."""


def render_object(stored: StoredObject) -> ObjectHeadDocument:
    """Render an object without its bytes."""
    document = to_document(stored, ObjectHeadDocument, etag=f'"{stored.version}"')
    if not stored.metadata:
        del document["metadata"]
    if stored.metadata is UNREADABLE:
        document["unreadable"] = True
    return document


def render_upload(upload: ObjectUpload, address: Address, url: str) -> ObjectUploadDocument:
    """Render an upload with the URL of its address."""
    headers = address.headers
    return to_document(upload, ObjectUploadDocument, url=url, method="PUT", headers=headers)


ROUTES = RouteTable()

_SPACES = "/api/v1/objects"

_SPACE = f"{_SPACES}/{{space}}"

_OBJECT = f"{_SPACE}/{{key+}}"

_PREFIX = PrefixParameter("prefix", "The prefix of the keys.")

_LARGEST_RENDERED = 2**63 - 1  # in responses; requests accept any number


@ROUTES.add(
    f"POST {_SPACE}/rename",
    WRITE,
    {200: ObjectHeadDocument},
    error_statuses=(404, 409),
    if_match="optional",
    idempotent=True,
    audited=(WRITE_OBJECTS,),
)
def rename_object(request: Request, caller: Principal, asked: ObjectRename) -> Response:
    """Rename an object.

    The bytes are not copied. If-Match names the object's version.
    """
    renamed = request.services.objects.rename(
        caller,
        read_space(request),
        asked,
        Precondition(request.if_match),
        request.idempotency_token(caller),
    )
    return json_response(200, render_object(renamed), renamed.version)


def _read_data(request: Request) -> bytes:
    data = request.body
    if len(data) > limits.MAX_OBJECT_BYTES:
        message = f"the object has {len(data)} bytes; begin an upload of it"
        raise ValueTooLarge(message, max=limits.MAX_OBJECT_BYTES, actual=len(data))
    return data


@ROUTES.add(f"POST {_SPACE}/read", READ, {200: ObjectsDocument}, is_query=True)
def read_objects(request: Request, caller: Principal, asked: ObjectReading) -> Response:
    """Read several objects."""
    keys, most_bytes = asked.keys, limits.MAX_PAGE_BYTES * 3 // 4
    reader = request.services.object_reader
    read = reader.read_many(caller, read_space(request), keys, most_bytes)
    shown: list[ObjectDataDocument] = truncate_to_limit(
        {**render_object(stored), "data": base64.b64encode(data).decode()}
        for stored, data in read.found
    )
    document: ObjectsDocument = {
        "objects": shown,
        "missing": read.missing,
        "too_large": read.too_large,
        "unread": [*(stored.key for stored, _ in read.found[len(shown) :]), *read.unread],
    }
    return json_response(200, document)


@ROUTES.add(f"POST {_SPACE}/uploads", WRITE, {201: ObjectUploadDocument}, idempotent=True)
def begin_object_upload(request: Request, caller: Principal, new: NewObjectUpload) -> Response:
    """Begin the upload of an object of up to {MAX_UPLOADED_OBJECT_BYTES}.

    Send the bytes to its `url` by `method` with its `headers`, and without your API key. Then a
    PUT of the object with `X-Object-Upload` completes it.
    """
    token = request.idempotency_token(caller)
    if new.size > limits.MAX_UPLOADED_OBJECT_BYTES:
        message = f"the object has {new.size} bytes"
        actual = min(new.size, _LARGEST_RENDERED)
        raise ValueTooLarge(message, max=limits.MAX_UPLOADED_OBJECT_BYTES, actual=actual)
    uploads = request.services.object_uploads
    upload, address = uploads.begin(caller, read_space(request), new, token)
    document = render_upload(upload, address, request.resolve(address.url))
    return json_response(201, document)


@ROUTES.add(
    f"GET {_SPACE}",
    READ,
    {200: ObjectPageDocument},
    query=(_PREFIX, *UNCOUNTED_PAGE, VALUES_OF_ANSWER),
)
def list_objects(request: Request, caller: Principal) -> Response:
    """List the objects of a space by their keys.

    Keys sort by their UTF-8 bytes. A space that does not exist is empty.
    """
    prefix, space = _PREFIX.read(request), read_space(request)
    page, position = paginate_uncounted(
        request,
        caller,
        partial(request.services.object_reader.list_all, caller, space, prefix),
        render_object,
        lambda each: each.key,
    )
    return json_response(200, ObjectPageDocument(objects=page, **position))


@ROUTES.add(
    f"DELETE {_SPACE}",
    ANY,
    {200: DeletedObjectsDocument},
    query=(_PREFIX,),
    audited=(DELETE_OBJECTS,),
)
def delete_objects(request: Request, caller: Principal) -> Response:
    """Delete all objects with a prefix.

    With `memory.write` and write access to the space, or `memory.admin`. `prefix` is required; an
    empty prefix selects all. Objects are deleted in groups of 20.
    """
    prefix = _PREFIX.require(request)
    deleted, complete = request.services.objects.delete_prefix(caller, read_space(request), prefix)
    return json_response(200, DeletedObjectsDocument(deleted=deleted, complete=complete))


@ROUTES.add(
    f"PUT {_OBJECT}",
    WRITE,
    {200: ObjectHeadDocument, 201: ObjectHeadDocument},
    request_model=bytes,
    media_types=("*/*",),
    request_headers=(
        *DESCRIBING_HEADERS,
        HeaderParameter(UPLOAD_HEADER, "The `upload_id` of bytes that were uploaded."),
    ),
    response_headers=("ETag",),
    if_match="optional",
    idempotent=True,
    audited=(WRITE_OBJECTS,),
)
def put_object(request: Request, caller: Principal) -> Response:
    """Store an object.

    The body is its bytes, of any media type, up to {MAX_OBJECT_BYTES}; with `X-Object-Upload` it
    is empty. Replaces the object with this key and its metadata. If-Match replaces only the named
    version; `If-None-Match: *` only creates. The first object creates the space, which then only
    the caller can use.
    """
    space, key = _names(request)
    expected = Precondition(request.if_match, request.must_not_exist)
    new, data = read_description(request), _read_data(request)
    upload_id = request.headers.get(UPLOAD_HEADER.lower())
    token = request.optional_idempotency_token(caller, new, upload_id)
    if upload_id is None:
        objects = request.services.objects
        stored, is_new = objects.put(caller, space, key, new, data, expected, token)
    elif data:
        raise ValidationFailed(UPLOAD_HEADER, "needs an empty body: the bytes were uploaded before")
    else:
        uploads = request.services.object_uploads
        stored, is_new = uploads.complete(caller, space, key, upload_id, new, expected, token)
    # No Location: it is logged, and keys of objects are not ids.
    return json_response(201 if is_new else 200, render_object(stored), stored.version)


@ROUTES.add(
    f"GET {_OBJECT}",
    READ,
    {200: bytes, 206: bytes, 304: None, 307: None},
    request_headers=(HeaderParameter("Range", "A single range of bytes, such as `bytes=0-99`."),),
    response_headers=OBJECT_HEADERS,
    error_statuses=(404, 409, 416),
)
def get_object(request: Request, caller: Principal) -> Response:
    """Get an object.

    The response has the object's media type. HEAD returns the headers only. If more than
    {MAX_OBJECT_BYTES} are requested, the response is 307 with an address that is valid for
    {DOWNLOAD_ADDRESS_SECONDS}.
    """
    space, key = _names(request)
    reader = request.services.object_reader
    if request.is_head or "if-none-match" in request.headers:
        stored = reader.get(caller, space, key)
        if request.has_version(stored.version):
            return Response(304, headers={"etag": f'"{stored.version}"'})
        if request.is_head:
            size = {"content-length": str(stored.size)}
            return Response(200, b"", describe(stored) | size)
    read = reader.read(caller, space, key, lambda stored: select_range(request, stored))
    headers = describe(read.stored)
    if read.address is not None:
        return Response(307, headers=headers | {"location": request.resolve(read.address)})
    if read.part is None:
        return Response(200, read.data, headers, is_binary=True)
    start, end = read.part
    headers["content-range"] = f"bytes {start}-{end - 1}/{read.stored.size}"
    return Response(206, read.data, headers, is_binary=True)


@ROUTES.add(f"DELETE {_OBJECT}", ANY, {204: None}, if_match="optional", audited=(DELETE_OBJECTS,))
def delete_object(request: Request, caller: Principal) -> Response:
    """Delete an object.

    With `memory.write` and write access to the space, or `memory.admin`.
    """
    space, key = _names(request)
    request.services.objects.delete(caller, space, key, Precondition(request.if_match))
    return Response(204)


def _names(request: Request) -> tuple[str, str]:
    return read_space(request), request.path_params["key"]
