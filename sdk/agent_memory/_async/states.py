"""`client.states`: an agent's JSON values for an owner (Agent Memory Protocol §3)."""

from typing import Any, Unpack

from agent_memory._async.pages import AsyncPages
from agent_memory._async.resource import AsyncResource
from agent_memory.exceptions import MemoryNotFoundError
from agent_memory.model import Sensitivity, State, StateHead
from agent_memory.page import Paging
from agent_memory.requests import drop_none, quote_segment
from agent_memory.responses import get_member, parse, parse_position


class AsyncStates(AsyncResource):
    """Agents' states. An owner's id must not have a slash: it is a part of the path."""

    async def put(
        self,
        agent_id: str,
        owner_id: str,
        key: str,
        value: Any,
        *,
        sensitivity: Sensitivity | None = None,
        version: int | None = None,
    ) -> int:
        """Store a state; return its version.

            client.states.put("biller", "ada", "language", "fr")

        Args:
            value: any JSON value.
            sensitivity: `confidential` and `restricted` values are stored encrypted.
            version: replace only this version; 0: only if there is none.

        Raises:
            MemoryConflictError: it has another version.
            MemoryAccessError: it belongs to another agent or agent type.
        """
        path = _path(agent_id, owner_id, key)
        body = {"value": value, **drop_none(sensitivity=sensitivity)}
        stored = await self._call("PUT", path, json=body, version=version)
        return parse(int, get_member(stored, "version"))

    async def get(self, agent_id: str, owner_id: str, key: str, default: Any = None) -> Any:
        """Return a state's value; `default` if there is none.

        client.states.get("biller", "ada", "language", default="en")
        """
        try:
            found = await self._call("GET", _path(agent_id, owner_id, key))
        except MemoryNotFoundError:
            return default
        return get_member(found, "value")

    async def delete(self, agent_id: str, owner_id: str, key: str) -> bool:
        """Delete a state; return True if it existed.

        client.states.delete("biller", "ada", "language")
        """
        return await self._delete(_path(agent_id, owner_id, key))

    def list(self, agent_id: str, owner_id: str, **paging: Unpack[Paging]) -> AsyncPages[StateHead]:
        """Return an agent's states for an owner without their values, the last updated first.

            [each.key for each in client.states.list("biller", "ada")]

        Args:
            paging: `limit`, `page_size`, `after`.
        """
        path, asked = _of_owner(agent_id, owner_id), {"values": "omit"}
        return self._list(path, "heads", StateHead.from_document, paging, asked)

    def list_all(self, agent_id: str, **paging: Unpack[Paging]) -> AsyncPages[State]:
        """Return an agent's states for all owners with their values, grouped by owner.

            {each.owner_id for each in client.states.list_all("biller")}

        A caller that is neither the agent nor of its type sees only states that it owns.

        Args:
            paging: `limit`, `page_size`, `after`.
        """
        return self._list(_of_agent(agent_id), "states", State.from_document, paging)

    async def get_all(self, agent_id: str, owner_id: str) -> dict[str, Any]:
        """Return all of an agent's states for an owner, by key; the last updated come first.

        client.states.get_all("biller", "ada")
        """
        path = _of_owner(agent_id, owner_id)
        found, after = await self._read_states(path, None)
        if after is None:
            return found
        while after is not None:
            states, after = await self._read_states(path, after)
            found |= {key: value for key, value in states.items() if key not in found}
        updated, _ = await self._read_states(path, None)  # states that have moved to the front
        return updated | {key: value for key, value in found.items() if key not in updated}

    async def _read_states(self, path: str, after: str | None) -> tuple[dict[str, Any], str | None]:
        page = await self._call("GET", path, params={"total": "none", **drop_none(after=after)})
        return parse(dict, get_member(page, "states")), parse_position(page)


def _of_agent(agent_id: str) -> str:
    return f"/api/v1/agents/{quote_segment(agent_id)}/state"


def _of_owner(agent_id: str, owner_id: str) -> str:
    if "/" in owner_id:
        raise ValueError("an owner's id must not contain a slash")
    return f"{_of_agent(agent_id)}/{quote_segment(owner_id)}"


def _path(agent_id: str, owner_id: str, key: str) -> str:
    return f"{_of_owner(agent_id, owner_id)}/{quote_segment(key)}"
