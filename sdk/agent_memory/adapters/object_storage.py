"""The storage of adapters: a private space of objects of the principal."""

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from functools import cached_property
from typing import Any

from agent_memory import Client
from agent_memory._sync.objects import name_private_space
from agent_memory.adapters.parallel import Parallel
from agent_memory.model import Sensitivity
from agent_memory.object_model import StoredObject


class ObjectStorage:
    """The objects of one space, with their common options.

    Args:
        root: the name of the principal's private space.
        ttl: the lifetime of each object: seconds, a timedelta, or an ISO 8601 duration.
        sensitivity: of each object.
    """

    def __init__(
        self,
        client: Client,
        root: str,
        ttl: str | float | timedelta | None,
        sensitivity: Sensitivity | None,
    ) -> None:
        self.client = client
        self._root = root
        self._options: dict[str, Any] = {"ttl": ttl, "sensitivity": sensitivity}
        self._parallel = Parallel()

    @cached_property
    def space(self) -> str:
        """The name of the space, which is private to the principal."""
        return name_private_space(self.client.principals.cached_me().id, self._root)

    def put(self, key: str, data: bytes, **precondition: Any) -> None:
        """Store an object.

        Raises:
            MemoryConflictError: the precondition doesn't hold.
        """
        self.client.objects.put(self.space, key, data, **precondition, **self._options)

    def get(self, key: str) -> StoredObject | None:
        """Return an object; None if there is none."""
        return self.client.objects.get(self.space, key)

    def get_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Read the bytes of existing objects, by key."""
        return self.client.objects.get_many(self.space, list(keys))

    def list_keys(self, prefix: str, page_size: int) -> Iterator[str]:
        """Yield the keys with a prefix."""
        for each in self.list(prefix, page_size):
            yield str(each["key"])

    def list(self, prefix: str, page_size: int) -> Iterator[dict[str, Any]]:
        """Yield the descriptions of the objects with a prefix."""
        for each in self.client.objects.list(self.space, prefix, page_size=page_size):
            yield dict(each.raw)

    def copy(self, key: str, new_key: str) -> None:
        """Copy an object, if there is one."""
        found = self.get(key)
        if found is not None:
            self.put(new_key, found.data)

    def rename(self, key: str, new_key: str) -> None:
        """Rename an object.

        Raises:
            MemoryNotFoundError: there is none.
            MemoryConflictError: another object has the new key.
        """
        self.client.objects.rename(self.space, key, new_key)

    def delete(self, keys: Iterable[str]) -> None:
        """Delete objects."""
        self.run(lambda key: self.client.objects.delete(self.space, key), keys)

    def delete_all(self, prefix: str) -> None:
        """Delete all objects whose keys have a prefix."""
        self.client.objects.delete_all(self.space, prefix)

    def run(self, act: Callable[[Any], Any], arguments: Iterable[Any]) -> None:
        """Run calls in parallel; a single one in this thread."""
        self._parallel.run(act, arguments)
