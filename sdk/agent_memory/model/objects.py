"""Objects and their spaces.

Generated from the service's OpenAPI document; do not edit.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agent_memory.document import Model
from agent_memory.model.access import NamespacePermissions
from agent_memory.model.literals import Sensitivity


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectHead(Model):
    """An object without its bytes.

    Attributes:
        version: Grows with each write, in steps of any size.
        etag: The version in the form for If-Match and If-None-Match.
        size: The size in bytes.
        metadata: Absent without `memory.read`.
        unreadable: True if the stored metadata was damaged or moved: replace it or delete the
            object.
        created_by: The id of the principal that wrote it last.
    """

    space: str
    key: str
    version: int
    etag: str
    size: int
    content_type: str
    metadata: dict[str, Any] = field(default_factory=dict)
    unreadable: bool = False
    sensitivity: Sensitivity | None = None
    created_by: str
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Space(Model):
    """A space of objects with its permissions.

    Attributes:
        owner: The id of the principal that created it.
        version: The version of the permissions.
    """

    space: str
    owner: str
    permissions: NamespacePermissions
    version: int
    created_at: datetime
    updated_at: datetime
