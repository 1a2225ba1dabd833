"""ADK's artifacts: an object for the bytes, and one for each version."""

import asyncio
import uuid
from typing import Any
from urllib.parse import unquote

from google.adk.artifacts import artifact_util
from google.adk.artifacts.base_artifact_service import (
    ArtifactVersion,
    BaseArtifactService,
    ensure_part,
)
from google.adk.platform import time as adk_time
from google.genai import types

from agent_memory.adapters.google_adk.artifact_parts import (
    MOST_HOPS,
    USER_PREFIX,
    Scope,
    assert_supported,
    dump_without_data,
    find_mime_type,
    to_place,
    to_version,
)
from agent_memory.adapters.google_adk.documents import Document, DocumentService

_PAGE = 1000
_REMOVED = ("application/octet-stream", b"")  # the part that ADK saves when it rewinds a session


class AgentMemoryArtifactService(DocumentService, BaseArtifactService):  # type: ignore[misc]
    """ADK's artifacts, each an object, in versions 0, 1, 2 and so on.

    Names that begin with `user:`, and all without a session, belong to the user. Concurrent saves
    get separate versions. Artifacts belong to the principal. Any event loop may use it.

    Args:
        client: calls as the principal; stays open.
        root: the prefix of the name of the space of objects; each root has its own artifacts.
        sensitivity: `confidential` or `restricted` to store all encrypted.

    Raises:
        TypeError: raised when it is no client.
    """

    _root = "adk-artifacts"

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
            InputValidationError: it has no text, data or file, or refers to another scope.
        """
        scope, name = to_place(app_name, user_id, session_id, filename)
        part = ensure_part(artifact)
        assert_supported(part, scope)
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
            InputValidationError: it refers to an artifact of another scope.
        """
        scope, name = to_place(app_name, user_id, session_id, filename)
        return await asyncio.to_thread(self._load, scope, name, version, MOST_HOPS)

    async def list_artifact_keys(
        self, *, app_name: str, user_id: str, session_id: str | None = None
    ) -> list[str]:
        """Return the names of a session's artifacts, and of its user's."""
        names = await asyncio.to_thread(self._list_names, Scope(app_name, user_id, None))
        found = {USER_PREFIX + name for name in names}
        if session_id is not None:
            scope = Scope(app_name, user_id, session_id.strip())
            found |= await asyncio.to_thread(self._list_names, scope)
        return sorted(found)

    async def delete_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> None:
        """Delete an artifact with all its versions, if there is one."""
        place = to_place(app_name, user_id, session_id, filename)
        await asyncio.to_thread(self._delete, *place)

    async def list_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[int]:
        """Return the numbers of an artifact's versions."""
        place = to_place(app_name, user_id, session_id, filename)
        return await asyncio.to_thread(self._list_versions, *place)

    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """Return the descriptions of an artifact's versions."""
        scope, name = to_place(app_name, user_id, session_id, filename)
        found = await asyncio.to_thread(self._documents.get_below, scope.build_prefix(name))
        return [to_version(scope, name, document) for document in found]

    async def get_artifact_version(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        session_id: str | None = None,
        version: int | None = None,
    ) -> ArtifactVersion | None:
        """Return the description of a version, by default the latest; None if there is none."""
        scope, name = to_place(app_name, user_id, session_id, filename)
        found = await asyncio.to_thread(self._read, scope, name, version)
        return None if found is None else to_version(scope, name, found)

    def _save(self, scope: Scope, name: str, part: types.Part, custom: Document) -> int:
        document: Document = {
            "part": dump_without_data(part),
            "data": None,
            "mime_type": find_mime_type(part),
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

    def _load(self, scope: Scope, name: str, version: int | None, hops: int) -> types.Part | None:
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
            place = to_place(target.app_name, target.user_id, target.session_id, target.filename)
            return self._load(*place, target.version, hops - 1)
        return self._add_data(scope, part, found["data"])

    def _add_data(self, scope: Scope, part: types.Part, name: str | None) -> types.Part | None:
        if name is None:
            return part
        stored = self._documents.storage.get(scope.build_data_key(name))
        if stored is None or (part.inline_data.mime_type, stored.data) == _REMOVED:
            return None
        part.inline_data.data = stored.data
        return part

    def _read(self, scope: Scope, name: str, version: int | None) -> Document | None:
        if version is None:
            version = max(self._list_versions(scope, name), default=None)
        if version is None or version < 0:
            return None
        found = self._documents.get(scope.build_key(name, version))
        return None if found is None else found[0]

    def _list_versions(self, scope: Scope, name: str) -> list[int]:
        keys = self._documents.storage.list_keys(scope.build_prefix(name), _PAGE)
        return [int(key.rpartition("/")[2]) for key in keys]

    def _list_names(self, scope: Scope) -> set[str]:
        prefix = f"{scope.prefix}/versions/"
        keys = self._documents.storage.list_keys(prefix, _PAGE)
        return {unquote(key.removeprefix(prefix).partition("/")[0]) for key in keys}

    def _delete(self, scope: Scope, name: str) -> None:
        found = self._documents.get_below(scope.build_prefix(name))
        self._documents.storage.delete_all(scope.build_prefix(name))
        data = [scope.build_data_key(each["data"]) for each in found if each["data"]]
        self._documents.storage.delete(data)
