"""`client.working_values`: short-lived values of agents' instances (ADR-043 Tier 1)."""

from typing import Any

from agent_memory._async.resource import AsyncResource
from agent_memory.exceptions import MemoryNotFoundError
from agent_memory.requests import quote_segment
from agent_memory.responses import get_member, parse


class AsyncWorkingValues(AsyncResource):
    """Working values of an instance. Each expires a short time after its last write.

    An instance's id has no slash: it is a part of the path.
    """

    async def put(self, instance_id: str, key: str, value: Any) -> None:
        """Store or replace a value for a short time.

            client.working_values.put("sdr-1", "draft", {"subject": "Hello"})

        Args:
            value: any JSON value.

        Raises:
            MemoryCapacityError: all values of the instance together would be too large.
            TooLargeError: it alone is too large.
        """
        await self._call("PUT", _path(instance_id, key), json={"value": value})

    async def get(self, instance_id: str, key: str, default: Any = None) -> Any:
        """Return a value; `default` if there is none, or if it has expired.

        client.working_values.get("sdr-1", "draft")
        """
        try:
            found = await self._call("GET", _path(instance_id, key))
        except MemoryNotFoundError:
            return default
        return get_member(found, "value")

    async def get_all(self, instance_id: str) -> dict[str, Any]:
        """Return all values of an instance, by key.

        client.working_values.get_all("sdr-1")
        """
        found = await self._call("GET", _of_instance(instance_id))
        return parse(dict, get_member(found, "values"))

    async def delete(self, instance_id: str, key: str) -> bool:
        """Delete a value; return True if it existed.

        client.working_values.delete("sdr-1", "draft")
        """
        return await self._delete(_path(instance_id, key))


def _of_instance(instance_id: str) -> str:
    if "/" in instance_id:
        raise ValueError("an instance's id must not contain a slash")
    return f"/api/v1/instances/{quote_segment(instance_id)}/working"


def _path(instance_id: str, key: str) -> str:
    return f"{_of_instance(instance_id)}/{quote_segment(key)}"
