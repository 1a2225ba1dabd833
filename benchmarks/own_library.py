"""This service's API function, called in the process of who uses it, as a library would be."""

from typing import Any

from benchmarks import libraries
from benchmarks.inprocess import built_here, request_event
from benchmarks.workload import entry

_MEMORY = "/api/v1/memory"
_NAMESPACE = "invoice_processing"  # as `entry` has it


class OwnLibrary:
    """Entries of semantic memory, the tier that many agents share; a patch names its version."""

    def __init__(self, _entries: int) -> None:
        self._function = built_here()
        self.client = self._function.client
        self._admin = self._function.new_tenant("bench")
        self._made: dict[int, dict[str, Any]] = {}
        query = f"memory_type=semantic&namespace={_NAMESPACE}&tags=urgent,billing"
        self._query = self._event("GET", f"{_MEMORY}?{query}&limit={libraries.MATCHES}")
        self._make(-1, [])  # its namespace, too

    def create(self, number: int) -> object:
        return self._make(number, libraries.tags(number))

    def _make(self, number: int, tags: list[str]) -> object:
        body = entry(self._admin.id, f"step-{number}", "semantic", tags)
        self._made[number] = self._send(self._event("POST", _MEMORY, body))
        return self._made[number]

    def get(self, number: int) -> object:
        return self._send(self._event("GET", f"{_MEMORY}/{self._made[number]['id']}"))

    def patch(self, number: int) -> object:
        known = self._made[number]
        event = self._event(
            "PATCH",
            f"{_MEMORY}/{known['id']}",
            {"value": libraries.value(number)},
            if_match=str(known["version"]),
        )
        self._made[number] = self._send(event)
        return self._made[number]

    def two_tags(self) -> int:
        return len(self._send(self._query)["entries"])

    def _event(self, method: str, target: str, body: object = None, **more: str) -> dict[str, Any]:
        return request_event(method, target, self._admin.key, body, **more)

    def _send(self, event: dict[str, Any]) -> Any:
        return self._function.send(event)
