"""Serve signed addresses as S3 does: store a file once, and return all or a range of it."""

import uuid

from functions.local.gateway import GatewayResponse, Headers, render_error
from functions.objects.rules import parse_range
from functions.platform.archive_storage import FileGrant, FolderArchiveStorage
from functions.platform.errors import (
    AccessDenied,
    EntryExists,
    NotFound,
    ServiceError,
    Unavailable,
)

_SANDBOX = "default-src 'none'; sandbox"


class AlreadyUploaded(EntryExists):
    """The address was used."""

    status, title = 412, "The address was used"


class FileServer:
    """Answers requests to signed addresses of the files of a folder."""

    def __init__(self, storage: FolderArchiveStorage) -> None:
        self._storage = storage

    def limit_body(self, method: str, path: str) -> int:
        """Return the size that a request's address was signed for, in bytes."""
        return self._verify(method, path).size

    def handle(self, method: str, path: str, headers: Headers, body: bytes) -> GatewayResponse:
        """Answer one request; header names are in any case."""
        try:
            grant = self._verify(method, path)
            if grant.method == "PUT":
                return self._take(grant, body)
            return self._give(grant, {name.lower(): value for name, value in headers})
        except ServiceError as error:
            return render_error(error)

    def _verify(self, method: str, path: str) -> FileGrant:
        grant = self._storage.verify(method, path)
        if grant is None:
            raise AccessDenied("this address is not valid or has expired")
        return grant

    def _take(self, grant: FileGrant, body: bytes) -> GatewayResponse:
        if len(body) != grant.size:
            raise AccessDenied(f"this address accepts a body of exactly {grant.size} bytes")
        if not self._storage.put_new(grant.name, body, is_sensitive=grant.is_sensitive):
            raise AlreadyUploaded("a file was already uploaded to this address")
        return _respond(200)

    def _give(self, grant: FileGrant, headers: dict[str, str]) -> GatewayResponse:
        try:
            data = self._storage.get(grant.name)
        except Unavailable:
            raise NotFound("the file was deleted") from None
        described = {"content-type": grant.content_type, "accept-ranges": "bytes"}
        part = parse_range(headers.get("range"), len(data))
        if part is None:
            return _respond(200, described, data)
        start, end = part
        described["content-range"] = f"bytes {start}-{end - 1}/{len(data)}"
        return _respond(206, described, data[start:end])


def _respond(
    status: int, headers: dict[str, str] | None = None, body: bytes = b""
) -> GatewayResponse:
    named = (headers or {}) | {
        "cache-control": "no-store",
        "content-length": str(len(body)),
        "content-security-policy": _SANDBOX,
        "x-content-type-options": "nosniff",
        "x-request-id": str(uuid.uuid4()),
    }
    encoded = [(name.encode(), value.encode("latin-1")) for name, value in named.items()]
    return GatewayResponse(status, encoded, body)
