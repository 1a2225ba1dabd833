"""Spaces and the objects in them."""

from typing import NamedTuple

from functions.namespaces.model import Namespace
from functions.platform.sensitivity import Sensitivity


class Space(NamedTuple):
    """A space of objects.

    Attributes:
        owner: the id of the principal that created it.
        permissions: the access of principals; at first only the owner's.
    """

    owner: str
    permissions: Namespace

    @property
    def list_position(self) -> str:
        """Return the space's position in lists, newest first."""
        return self.permissions.list_position

    @property
    def name(self) -> str:
        """The space's name."""
        return self.permissions.namespace


class SpaceTarget(NamedTuple):
    """A space as a target of actions; `space` is None if it does not exist."""

    name: str
    space: Space | None


class StoredObject(NamedTuple):
    """An object without its bytes.

    Attributes:
        key: its name in the space, by which lists sort.
        version: grows with each write, even after a deletion; the ETag.
        metadata: a JSON object as text; empty if the caller may not read it.
        created_by: the id of the principal that wrote it.
        created_at: when the key was written first, since it was last deleted (epoch ms).
        generation: names one write; what is stored of it is bound to this name.
        owner: the id of the principal that made its space.
    """

    space: str
    key: str
    version: int
    size: int
    content_type: str
    metadata: bytes
    created_by: str
    created_at: int
    updated_at: int
    generation: str
    owner: str
    sensitivity: Sensitivity | None = None
    expires_at: int | None = None
    request: bytes | None = None

    def is_expired(self, now: int) -> bool:
        """Tell whether it may no longer be read."""
        return self.expires_at is not None and self.expires_at <= now


class Precondition(NamedTuple):
    """The conditions on the object that a write replaces.

    Attributes:
        must_not_exist: whether `If-None-Match: *` was sent.
    """

    version: int | None = None
    must_not_exist: bool = False


class NewObject(NamedTuple):
    """The fields of an object in a PUT, without its bytes.

    Attributes:
        metadata: a JSON object as text.
        ttl: its lifetime, in the form of requests.
    """

    content_type: str
    metadata: bytes
    ttl: str | None
    sensitivity: Sensitivity | None


class ObjectUpload(NamedTuple):
    """A file that a client sends to a signed address.

    Attributes:
        writer: the id of the principal that began it, and alone completes it.
        expires_at: until when it can be completed (epoch ms).
        address_expires_at: until when its address takes bytes (epoch ms).
        is_completed: whether an object has or had its file.
    """

    upload_id: str
    writer: str
    size: int
    is_sensitive: bool
    expires_at: int
    address_expires_at: int
    request: bytes
    is_completed: bool = False
