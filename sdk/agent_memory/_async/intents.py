"""`client.intents`: who may use an intent (contract §5)."""

from collections.abc import Mapping
from typing import Any

from agent_memory._async.resource import AsyncResource
from agent_memory.requests import quote_segment


class AsyncIntents(AsyncResource):
    """The intents of the caller's tenant."""

    async def acl(self, intent_id: str) -> dict[str, Any]:
        """Return an intent's access list: `{intent_id, owner, entries, version}`."""
        return await self._call("GET", _acl(intent_id))

    async def set_acl(self, intent_id: str, access: Mapping[str, str]) -> dict[str, Any]:
        """Replace an intent's access list: `read` or `write` for principals, by id."""
        entries = [{"principal": id, "access": level} for id, level in access.items()]
        return await self._call("PUT", _acl(intent_id), json={"entries": entries})


def _acl(intent_id: str) -> str:
    return f"/api/v1/intents/{quote_segment(intent_id)}/acl"
