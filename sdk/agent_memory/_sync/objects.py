"""`client.objects`: bytes under a key, in spaces."""

import base64
import json
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Unpack
from urllib.parse import unquote

from agent_memory._sync.pages import Pages
from agent_memory._sync.resource import Resource
from agent_memory.exceptions import (
    ConnectionFailedError,
    MemoryConflictError,
    MemoryNotFoundError,
)
from agent_memory.model import NamespaceAccess, NamespacePermissions, ObjectHead, Sensitivity, Space
from agent_memory.object_model import StoredObject
from agent_memory.page import Paging
from agent_memory.requests import drop_none, quote_segment, render_time, to_bytes, to_list
from agent_memory.responses import get_member, parse, parse_items, parse_object

_READ_AT_ONCE, _READS = 100, 5
_MOST_IN_REQUEST = 4_194_304  # bytes
_ELSEWHERE, _GONE, _ALREADY_THERE = 307, 404, 412


class Objects(Resource):
    """Objects, in spaces.

    `agents/AGENT/NAME` is a private space: it belongs to this principal alone until it shares it.
    Any other name has no slash and is a shared space, which coordinators, users and administrators
    create. Large objects are sent to and read from an address that the service returns.
    """

    def put(
        self,
        space: str,
        key: str,
        data: bytes | bytearray | memoryview,
        *,
        content_type: str = "application/octet-stream",
        metadata: Mapping[str, Any] | None = None,
        ttl: str | float | timedelta | None = None,
        sensitivity: Sensitivity | None = None,
        version: int | None = None,
        only_new: bool = False,
    ) -> int:
        """Create or replace an object; return its version.

            client.objects.put("reports", "2026/10.csv", data, content_type="text/csv")

        Args:
            ttl: its lifetime: seconds, a `timedelta` or an ISO 8601 duration (`P30D`).
            metadata: a small JSON object.
            version: replace only this version.
            only_new: store it only if the key has no object.

        Raises:
            MemoryConflictError: it has another version, or exists already.
            TooLargeError: it is larger than an object may be.
            TypeError: raised when the data aren't bytes.
        """
        content = to_bytes(data)
        is_large = len(content) > _MOST_IN_REQUEST
        given = {
            "X-Object-Upload": self._upload(space, content, sensitivity)
            if is_large
            else None,
            "Content-Type": content_type,
            "X-Object-Metadata": None if metadata is None else json.dumps(metadata),
            "X-Object-TTL": None if ttl is None else str(render_time(ttl)),
            "X-Object-Sensitivity": sensitivity,
            "If-Match": None if version is None else str(version),
            "If-None-Match": "*" if only_new else None,
        }
        headers = {name: value for name, value in given.items() if value is not None}
        path = _path(space, key)
        body = b"" if is_large else content
        answer = self._client.request("PUT", path, content=body, headers=headers)
        return parse(int, get_member(parse_object(answer), "version"))

    def _upload(self, space: str, data: bytes, sensitivity: Sensitivity | None) -> str:
        """Send bytes to a new address; return the id of the upload."""
        body = drop_none(size=len(data), sensitivity=sensitivity)
        upload = self._call("POST", f"{_path(space)}/uploads", json=body)
        url, headers = get_member(upload, "url"), parse(dict, get_member(upload, "headers"))
        client = self._client
        sent = client.pool.transfer(client.settings, "PUT", url, data, headers)
        if not sent.is_success and sent.status_code != _ALREADY_THERE:
            raise _refused_by_storage(sent.status_code)
        return parse(str, get_member(upload, "upload_id"))

    def get(self, space: str, key: str) -> StoredObject | None:
        """Return an object; None if there is none.

        client.objects.get("reports", "2026/10.csv").data
        """
        for _ in range(_READS):
            try:
                answer = self._client.request("GET", _path(space, key))
            except MemoryNotFoundError:
                return None
            data: bytes | None = answer.content
            if answer.status_code == _ELSEWHERE:
                data = self._download(answer.headers["Location"])
            if data is not None:
                return parse(StoredObject.from_response, (data, answer.headers))
        raise MemoryConflictError("the object changes faster than it can be read; try again")

    def _download(self, url: str) -> bytes | None:
        """Read from an address; None if the object has been replaced."""
        client = self._client
        given = client.pool.transfer(client.settings, "GET", url)
        if given.status_code == _GONE:
            return None
        if not given.is_success:
            raise _refused_by_storage(given.status_code)
        return given.content

    def get_many(self, space: str, keys: Iterable[str]) -> dict[str, bytes]:
        """Return the bytes of the objects that exist, by key.

        client.objects.get_many("reports", ["2026/09.csv", "2026/10.csv"])
        """
        found: dict[str, bytes] = {}
        rest = list(dict.fromkeys(to_list(keys) or ()))
        while rest:
            asked, rest = rest[:_READ_AT_ONCE], rest[_READ_AT_ONCE:]
            page = self._call("POST", f"{_path(space)}/read", json={"keys": asked})
            for each in parse_items(get_member(page, "objects")):
                found[str(each["key"])] = base64.b64decode(each["data"])
            for key in parse(list, get_member(page, "too_large")):
                large = self.get(space, key)
                if large is not None:
                    found[key] = large.data
            rest = [*parse(list, get_member(page, "unread")), *rest]
        return found

    def delete(self, space: str, key: str, *, version: int | None = None) -> bool:
        """Delete an object; return True if it existed.

            client.objects.delete("reports", "2026/10.csv")

        Raises:
            MemoryConflictError: it has another version.
        """
        return self._delete(_path(space, key), version)

    def delete_all(self, space: str, prefix: str) -> int:
        """Delete all objects whose keys begin with `prefix`; return their number.

        client.objects.delete_all("reports", "2026/")
        """
        deleted, complete = 0, False
        while not complete:
            answer = self._call("DELETE", _path(space), params={"prefix": prefix})
            deleted += parse(int, get_member(answer, "deleted"))
            complete = parse(bool, get_member(answer, "complete"))
        return deleted

    def list_spaces(self, **paging: Unpack[Paging]) -> Pages[Space]:
        """Return the spaces that the caller may read; with `memory.admin`, all spaces.

            [each.space for each in client.objects.list_spaces()]

        Args:
            paging: `limit`, `page_size`, `after`.
        """
        return self._list("/api/v1/objects", "spaces", Space.from_document, paging)

    def list(
        self, space: str, prefix: str = "", **paging: Unpack[Paging]
    ) -> Pages[ObjectHead]:
        """Return the descriptions of objects whose keys begin with `prefix`, by key.

            for each in client.objects.list("reports", "2026/"):
                print(each.key, each.size)

        Args:
            paging: `limit`, `page_size`, `after`.
        """
        read = ObjectHead.from_document
        return self._list(_path(space), "objects", read, paging, {"prefix": prefix})

    def rename(self, space: str, key: str, new_key: str, *, overwrite: bool = False) -> int:
        """Rename an object; return its version.

            client.objects.rename("reports", "2026/10.csv", "2026/october.csv")

        Raises:
            MemoryNotFoundError: there is none.
            MemoryConflictError: another object has the new key, and `overwrite` isn't set.
        """
        body = {"from": key, "to": new_key, "overwrite": overwrite}
        renamed = self._call("POST", f"{_path(space)}/rename", json=body)
        return parse(int, get_member(renamed, "version"))

    def share(
        self,
        space: str,
        access: Mapping[str, NamespaceAccess] | None = None,
        *,
        default: NamespaceAccess | None = None,
    ) -> NamespacePermissions:
        """Change the permissions of a space; return them.

            client.objects.share("reports", {"planner": "read"}, default="none")

        Args:
            access: `none`, `read`, `write` or `admin`, by the ids of principals.
            default: the access of all principals that aren't listed.
        """
        permissions: dict[str, Any] = {} if default is None else {"default": default}
        if access is not None:
            permissions["allow"] = [{"agent": id, "access": each} for id, each in access.items()]
        changed = self._call("PATCH", _path(space), json={"permissions": permissions})
        return parse(Space.from_document, changed).permissions


def _refused_by_storage(status: int) -> ConnectionFailedError:
    return ConnectionFailedError(f"the storage of large objects returned HTTP {status}")


def name_private_space(agent_id: str, name: str) -> str:
    """Return the name of a principal's private space, such as `agents/ada/reports`."""
    return f"agents/{quote_segment(agent_id)}/{name}"


def _path(space: str, key: str | None = None) -> str:
    path = f"{_find_place(space)}/{quote_segment(space.rpartition('/')[2])}"
    return path if key is None else f"{path}/{quote_segment(key)}"


def _find_place(space: str) -> str:
    """Return the path of a space: below its owner if it is private."""
    match space.split("/"):
        case [_]:
            return "/api/v1/objects"
        case ["agents", owner, _]:
            return f"/api/v1/agents/{quote_segment(unquote(owner))}/objects"
        case _:
            raise ValueError("name a space `reports`, or `agents/AGENT/reports`")
