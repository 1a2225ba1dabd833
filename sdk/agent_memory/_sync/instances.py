"""`client.instances`: what agents' instances hold while they work (ADR-043 Tier 1; contract §8)."""

from typing import Any

from agent_memory._sync.resource import Resource, made, member, segment
from agent_memory.exceptions import MemoryNotFoundError


class Instances(Resource):
    """Working values: each lives for an hour from its last write, 131,072 bytes per instance.

    An instance's id holds no slash: it is a part of the path.
    """

    def put(self, instance_id: str, key: str, value: Any) -> None:
        """Stores a value for an hour, in place of the one before it.

        Args:
            value: whatever JSON can write.

        Raises:
            MemoryCapacityError: it doesn't fit beside the instance's other values.
            TooLargeError: it alone is too large.
        """
        self._document("PUT", _path(instance_id, key), json={"value": value})

    def get(self, instance_id: str, key: str, default: Any = None) -> Any:
        """A value; `default` if there is none, or its hour is over."""
        try:
            found = self._document("GET", _path(instance_id, key))
        except MemoryNotFoundError:
            return default
        return member(found, "value")

    def all(self, instance_id: str) -> dict[str, Any]:
        """All values of an instance, by key."""
        found = self._document("GET", _of_instance(instance_id))
        return made(dict, member(found, "values"))

    def delete(self, instance_id: str, key: str) -> bool:
        """Deletes a value; whether there was one."""
        return self._deleted(_path(instance_id, key))


def _of_instance(instance_id: str) -> str:
    if "/" in instance_id:
        raise ValueError("an instance's id holds no slash")
    return f"/api/v1/instances/{segment(instance_id)}/working"


def _path(instance_id: str, key: str) -> str:
    return f"{_of_instance(instance_id)}/{segment(key)}"
