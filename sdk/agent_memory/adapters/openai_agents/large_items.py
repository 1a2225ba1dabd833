"""Items that are too large for one message: each is a separate conversation."""

import base64
import json
import uuid
import zlib
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from agent_memory import AsyncClient
from agent_memory.exceptions import MemoryNotFoundError

_CHUNK = 60_000  # characters, so that each message is one item of the service
_AT_ONCE = 50  # messages in one request

Document = Mapping[str, Any]


class LargeItems:
    """The large items of one session.

    Their user ID belongs to no user, so no user's list shows them. `clear` finds all of them, even
    after a crash.
    """

    def __init__(self, session_id: str, client: AsyncClient) -> None:
        self._conversations = client.conversations
        self._listed_as = f"items of {sha256(session_id.encode()).hexdigest()}"  # and how ids begin

    async def put(self, text: bytes, session: Document) -> str:
        """Store an item with the expiry, sensitivity and principals of its session.

        Args:
            text: the item's JSON.
            session: the conversation that it belongs to.

        Returns:
            Its name among the large items of the session.
        """
        name = uuid.uuid4().hex
        packed = base64.b64encode(zlib.compress(text)).decode()
        starts = range(0, len(packed), _CHUNK)
        parts = [{"role": "part", "content": packed[at : at + _CHUNK]} for at in starts]
        first, rest = parts[:_AT_ONCE], parts[_AT_ONCE:]
        id = self._id(name)
        await self._conversations.put(id, self._listed_as, first, **_alike(session))
        if rest:
            await self._conversations.append(id, rest)
        return name

    async def get(self, name: str) -> Any:
        """Return the item; None if it is removed."""
        try:
            said = [part async for part in self._conversations.list_messages(self._id(name))]
        except MemoryNotFoundError:
            return None
        packed = "".join(part.content for part in said)
        return json.loads(zlib.decompress(base64.b64decode(packed)))

    async def delete(self, name: str) -> None:
        """Remove an item."""
        await self._conversations.delete(self._id(name))

    async def clear(self) -> None:
        """Remove all items of the session."""
        kept = [each async for each in self._conversations.list(self._listed_as)]
        for each in kept:
            await self._conversations.delete(each.session_id)

    def _id(self, name: str) -> str:
        """Return the id of the item; no name in a message can point elsewhere."""
        return f"{self._listed_as}: {name}"


def _alike(session: Document) -> dict[str, Any]:
    owners = {session["user_id"], session["created_by"], *session["agent_participants"]}
    kept = {name: session[name] for name in ("shared_with", "sensitivity", "expires_at")}
    return {"agent_participants": sorted(owners), **kept}
