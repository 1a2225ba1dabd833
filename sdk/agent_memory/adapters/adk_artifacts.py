"""ADK's artifacts: the bytes as an object of their own, and one object for each version."""

import asyncio
import uuid
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from google.adk.artifacts import artifact_util
from google.adk.artifacts.base_artifact_service import (
    ArtifactVersion,
    BaseArtifactService,
    ensure_part,
)
from google.adk.errors.input_validation_error import InputValidationError
from google.adk.platform import time as adk_time
from google.genai import types

from agent_memory import AsyncClient, Client
from agent_memory.adapters.adk_store import Document, Documents
from agent_memory.adapters.hashing import hash_id

_USER = "user:"
_HOPS = 5  # from an artifact that refers to another one
_PAGE = 1000
_REMOVED = ("application/octet-stream", b"")  # what ADK saves when it rewinds a session


@dataclass(frozen=True, slots=True)
class _Scope:
    """Whose artifacts: a session's, or without a session a user's."""

    app: str
    user: str
    session: str | None

    @property
    def prefix(self) -> str:
        owner = f"{hash_id(self.app)}/{hash_id(self.user)}"
        return f"{owner}/user" if self.session is None else f"{owner}/{hash_id(self.session)}"

    def build_prefix(self, filename: str) -> str:
        """Build what the keys of an artifact's versions begin with."""
        return f"{self.prefix}/versions/{quote(filename, safe='')}/"

    def build_key(self, filename: str, version: int) -> str:
        """Build the key of a version."""
        return f"{self.build_prefix(filename)}{version:010d}"

    def build_data_key(self, name: str) -> str:
        """Build the key of a version's bytes."""
        return f"{self.prefix}/data/{name}"


class AgentMemoryArtifactService(BaseArtifactService):  # type: ignore[misc]
    """ADK's artifacts, up to 100 MB each, in versions 0, 1, 2 and so on.

    Names that begin with `user:`, and all without a session, are the user's. Those who save at the
    same time get versions of their own. Artifacts are the principal's own. It may be used from any
    event loop.

    Args:
        client: calls as the principal; stays open.
        root: what the name of the space of objects begins with: another root, other artifacts.
        sensitivity: `confidential` or `restricted` to store all encrypted.

    Raises:
        TypeError: raised when it is no client.
    """

    def __init__(
        self,
        client: Client | AsyncClient,
        *,
        root: str = "adk-artifacts",
        sensitivity: str | None = None,
    ) -> None:
        self._documents = Documents(client, root, sensitivity)

    async def save_artifact(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        artifact: types.Part | dict[str, Any],
        session_id: str | None = None,
        custom_metadata: dict[str, Any] | None = None,
    ) -> int:
        """Store a new version of an artifact; return its number.

        Raises:
            InputValidationError: it has neither text nor data nor a file, or refers to another
                scope.
        """
        scope, name = _to_place(app_name, user_id, session_id, filename)
        part = ensure_part(artifact)
        _assert_supported(part, scope)
        return await asyncio.to_thread(self._save, scope, name, part, custom_metadata or {})

    async def load_artifact(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        session_id: str | None = None,
        version: int | None = None,
    ) -> types.Part | None:
        """Return an artifact, the latest version unless one is named; None if there is none.

        Raises:
            InputValidationError: it refers to another one that it may not refer to.
        """
        scope, name = _to_place(app_name, user_id, session_id, filename)
        return await asyncio.to_thread(self._load, scope, name, version, _HOPS)

    async def list_artifact_keys(
        self, *, app_name: str, user_id: str, session_id: str | None = None
    ) -> list[str]:
        """Return the names of a session's artifacts, and of its user's."""
        names = await asyncio.to_thread(self._list_names, _Scope(app_name, user_id, None))
        found = {_USER + name for name in names}
        if session_id is not None:
            scope = _Scope(app_name, user_id, session_id.strip())
            found |= await asyncio.to_thread(self._list_names, scope)
        return sorted(found)

    async def delete_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> None:
        """Delete an artifact with all its versions, if there is one."""
        place = _to_place(app_name, user_id, session_id, filename)
        await asyncio.to_thread(self._delete, *place)

    async def list_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[int]:
        """Return the numbers of an artifact's versions."""
        place = _to_place(app_name, user_id, session_id, filename)
        return await asyncio.to_thread(self._list_versions, *place)

    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """Return what describes an artifact's versions."""
        scope, name = _to_place(app_name, user_id, session_id, filename)
        found = await asyncio.to_thread(self._documents.get_below, scope.build_prefix(name))
        return [_to_version(scope, name, document) for document in found]

    async def get_artifact_version(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        session_id: str | None = None,
        version: int | None = None,
    ) -> ArtifactVersion | None:
        """Return what describes a version, by default the latest; None if there is none."""
        scope, name = _to_place(app_name, user_id, session_id, filename)
        found = await asyncio.to_thread(self._read, scope, name, version)
        return None if found is None else _to_version(scope, name, found)

    def _save(self, scope: _Scope, name: str, part: types.Part, custom: Document) -> int:
        document: Document = {
            "part": _dump_without_data(part),
            "data": None,
            "mime_type": _find_mime_type(part),
            "custom_metadata": custom,
            "create_time": adk_time.get_time(),
        }
        if part.inline_data is not None:
            document["data"] = uuid.uuid4().hex
            data = part.inline_data.data or b""
            self._documents.storage.put(scope.build_data_key(document["data"]), data)
        number = max(self._list_versions(scope, name), default=-1) + 1
        while not self._documents.add(
            scope.build_key(name, number), document | {"version": number}
        ):
            number += 1
        return number

    def _load(self, scope: _Scope, name: str, version: int | None, hops: int) -> types.Part | None:
        found = self._read(scope, name, version)
        if found is None:
            return None
        part = types.Part.model_validate(found["part"])
        if artifact_util.is_artifact_ref(part):
            target = artifact_util.resolve_artifact_reference(
                file_uri=part.file_data.file_uri,
                app_name=scope.app,
                user_id=scope.user,
                session_id=scope.session,
                remaining_depth=hops,
            )
            place = _to_place(target.app_name, target.user_id, target.session_id, target.filename)
            return self._load(*place, target.version, hops - 1)
        return self._add_data(scope, part, found["data"])

    def _add_data(self, scope: _Scope, part: types.Part, name: str | None) -> types.Part | None:
        if name is None:
            return part
        stored = self._documents.storage.get(scope.build_data_key(name))
        if stored is None or (part.inline_data.mime_type, stored.data) == _REMOVED:
            return None
        part.inline_data.data = stored.data
        return part

    def _read(self, scope: _Scope, name: str, version: int | None) -> Document | None:
        if version is None:
            version = max(self._list_versions(scope, name), default=None)
        if version is None or version < 0:
            return None
        found = self._documents.get(scope.build_key(name, version))
        return None if found is None else found[0]

    def _list_versions(self, scope: _Scope, name: str) -> list[int]:
        keys = self._documents.storage.list_keys(scope.build_prefix(name), _PAGE)
        return [int(key.rpartition("/")[2]) for key in keys]

    def _list_names(self, scope: _Scope) -> set[str]:
        prefix = f"{scope.prefix}/versions/"
        keys = self._documents.storage.list_keys(prefix, _PAGE)
        return {unquote(key.removeprefix(prefix).partition("/")[0]) for key in keys}

    def _delete(self, scope: _Scope, name: str) -> None:
        found = self._documents.get_below(scope.build_prefix(name))
        self._documents.storage.delete_all(scope.build_prefix(name))
        data = [scope.build_data_key(each["data"]) for each in found if each["data"]]
        self._documents.storage.delete(data)


def _to_place(app: str, user: str, session: str | None, filename: str) -> tuple[_Scope, str]:
    if session is None or filename.startswith(_USER):
        return _Scope(app, user, None), filename.removeprefix(_USER)
    return _Scope(app, user, session.strip()), filename


def _assert_supported(part: types.Part, scope: _Scope) -> None:
    if part.inline_data is None and part.text is None and part.file_data is None:
        raise InputValidationError("Not supported artifact type.")
    if artifact_util.is_artifact_ref(part):
        artifact_util.resolve_artifact_reference(
            file_uri=part.file_data.file_uri,
            app_name=scope.app,
            user_id=scope.user,
            session_id=scope.session,
            remaining_depth=_HOPS,
        )


def _dump_without_data(part: types.Part) -> Document:
    dumped: Document = part.model_dump(
        mode="json", exclude_none=True, exclude={"inline_data": {"data"}}
    )
    return dumped


def _find_mime_type(part: types.Part) -> str | None:
    if part.inline_data is not None:
        return str(part.inline_data.mime_type) if part.inline_data.mime_type else None
    if part.text is not None:
        return "text/plain"
    is_reference = artifact_util.is_artifact_ref(part)
    return None if is_reference else part.file_data.mime_type


def _to_version(scope: _Scope, name: str, document: Document) -> ArtifactVersion:
    uri = artifact_util.get_artifact_uri(
        scope.app, scope.user, name, document["version"], scope.session
    )
    named = ("version", "mime_type", "custom_metadata", "create_time")
    return ArtifactVersion(canonical_uri=uri, **{field: document[field] for field in named})
