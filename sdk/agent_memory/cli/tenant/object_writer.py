"""Writes spaces and the objects in them."""

import base64

from agent_memory.cli.tenant.import_context import (
    ORIGIN,
    Document,
    ImportContext,
    select_fields,
)

_HEADERS = {
    "X-Object-Version": "version",
    "X-Object-Created-At": "created_at",
    "X-Object-Updated-At": "updated_at",
    "X-Object-Expires-At": "expires_at",
}


class ObjectWriter:
    """Writes what an export has of objects, each document as often as one likes."""

    def __init__(self, context: ImportContext) -> None:
        self._context = context
        self._spaces: dict[str, Document] = {}

    def write_space(self, document: Document) -> None:
        """Make a space as its owner, with its permissions."""
        owner, permissions = self._context.get_client(document["owner"]), document["permissions"]
        access = {each["agent"]: each["access"] for each in permissions["allow"]}
        with owner.keep(**select_fields(document, ORIGIN)):
            owner.objects.share(document["space"], access, default=permissions["default"])
        self._spaces[document["space"]] = document

    def write_object(self, document: Document) -> None:
        """Write an object as who wrote it, or else as the owner of its space."""
        if self._context.has_expired(document["expires_at"]):
            return
        space, author = document["space"], document["created_by"]
        may_write = _may_write(author, self._spaces.get(space))
        writer = self._context.get_client(author if may_write else document["owner"])
        headers = {name: document[field] for name, field in _HEADERS.items()}
        with writer.keep_headers({name: str(each) for name, each in headers.items() if each}):
            writer.objects.put(
                space,
                document["key"],
                base64.b64decode(document["data"]),
                content_type=document["content_type"],
                metadata=document["metadata"],
                sensitivity=document["sensitivity"],
            )


def _may_write(principal: str, space: Document | None) -> bool:
    """Return whether a space's permissions let a principal write in it."""
    if space is None or principal == space["owner"]:
        return space is not None
    permissions = space["permissions"]
    access = {each["agent"]: each["access"] for each in permissions["allow"]}
    return access.get(principal, permissions["default"]) in ("write", "admin")
