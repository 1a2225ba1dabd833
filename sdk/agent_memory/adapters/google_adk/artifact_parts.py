"""Artifacts of ADK: their scope, and the data stored beside their bytes."""

from dataclasses import dataclass
from urllib.parse import quote

from google.adk.artifacts import artifact_util
from google.adk.artifacts.base_artifact_service import ArtifactVersion
from google.adk.errors.input_validation_error import InputValidationError
from google.genai import types

from agent_memory.adapters.google_adk.documents import Document
from agent_memory.adapters.hashing import hash_id

USER_PREFIX = "user:"
MOST_HOPS = 5  # the maximum length of a chain of references


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope of artifacts: a session, or without a session a user."""

    app: str
    user: str
    session: str | None

    @property
    def prefix(self) -> str:
        """The prefix of all keys of the scope."""
        owner = f"{hash_id(self.app)}/{hash_id(self.user)}"
        return f"{owner}/user" if self.session is None else f"{owner}/{hash_id(self.session)}"

    def build_prefix(self, filename: str) -> str:
        """Build the prefix of the keys of an artifact's versions."""
        return f"{self.prefix}/versions/{quote(filename, safe='')}/"

    def build_key(self, filename: str, version: int) -> str:
        """Build the key of a version."""
        return f"{self.build_prefix(filename)}{version:010d}"

    def build_data_key(self, name: str) -> str:
        """Build the key of a version's bytes."""
        return f"{self.prefix}/data/{name}"


def to_place(app: str, user: str, session: str | None, filename: str) -> tuple[Scope, str]:
    """Return the scope of an artifact, and its name there."""
    if session is None or filename.startswith(USER_PREFIX):
        return Scope(app, user, None), filename.removeprefix(USER_PREFIX)
    return Scope(app, user, session.strip()), filename


def assert_supported(part: types.Part, scope: Scope) -> None:
    """Return if a part can be an artifact.

    Raises:
        InputValidationError: it has no text, data or file, or refers to another scope.
    """
    if part.inline_data is None and part.text is None and part.file_data is None:
        raise InputValidationError("Not supported artifact type.")
    if artifact_util.is_artifact_ref(part):
        artifact_util.resolve_artifact_reference(
            file_uri=part.file_data.file_uri,
            app_name=scope.app,
            user_id=scope.user,
            session_id=scope.session,
            remaining_depth=MOST_HOPS,
        )


def dump_without_data(part: types.Part) -> Document:
    """Return a part as JSON, without its bytes."""
    dumped: Document = part.model_dump(
        mode="json", exclude_none=True, exclude={"inline_data": {"data"}}
    )
    return dumped


def find_mime_type(part: types.Part) -> str | None:
    """Find the media type of a part; a reference has none."""
    if part.inline_data is not None:
        return str(part.inline_data.mime_type) if part.inline_data.mime_type else None
    if part.text is not None:
        return "text/plain"
    is_reference = artifact_util.is_artifact_ref(part)
    return None if is_reference else part.file_data.mime_type


def to_version(scope: Scope, name: str, document: Document) -> ArtifactVersion:
    """Return the description of a version."""
    uri = artifact_util.get_artifact_uri(
        scope.app, scope.user, name, document["version"], scope.session
    )
    named = ("version", "mime_type", "custom_metadata", "create_time")
    return ArtifactVersion(canonical_uri=uri, **{field: document[field] for field in named})
