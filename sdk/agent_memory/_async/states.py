"""`client.states`: an agent's JSON values for an owner (Agent Memory Protocol §3; contract §9)."""

from typing import Any

from agent_memory._async.resource import AsyncResource, made, member, position, segment
from agent_memory.exceptions import MemoryNotFoundError


class AsyncStates(AsyncResource):
    """Agents' states. An owner's id holds no slash: it is a part of the path."""

    async def put(
        self, agent_id: str, owner_id: str, key: str, value: Any, *, version: int | None = None
    ) -> int:
        """Stores a state; its version.

        Args:
            value: whatever JSON can write, up to 65,536 bytes.
            version: replace only this version.

        Raises:
            MemoryConflictError: it is at another version.
            MemoryAccessError: it is another agent's.
        """
        path = _path(agent_id, owner_id, key)
        stored = await self._document("PUT", path, json={"value": value}, version=version)
        return made(int, member(stored, "version"))

    async def get(self, agent_id: str, owner_id: str, key: str, default: Any = None) -> Any:
        """A state's value; `default` if there is none."""
        try:
            found = await self._document("GET", _path(agent_id, owner_id, key))
        except MemoryNotFoundError:
            return default
        return member(found, "value")

    async def delete(self, agent_id: str, owner_id: str, key: str) -> bool:
        """Deletes a state; whether there was one."""
        return await self._deleted(_path(agent_id, owner_id, key))

    async def all(self, agent_id: str, owner_id: str) -> dict[str, Any]:
        """All of an agent's states for an owner, by key."""
        found: dict[str, Any] = {}
        following: int | None = 0
        while following is not None:
            page = await self._document(
                "GET", _of_owner(agent_id, owner_id), params={"offset": following}
            )
            found |= made(dict, member(page, "states"))
            following = position(page)
        return found


def _of_owner(agent_id: str, owner_id: str) -> str:
    if "/" in owner_id:
        raise ValueError("an owner's id holds no slash")
    return f"/api/v1/agents/{segment(agent_id)}/state/{segment(owner_id)}"


def _path(agent_id: str, owner_id: str, key: str) -> str:
    return f"{_of_owner(agent_id, owner_id)}/{segment(key)}"
