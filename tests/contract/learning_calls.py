"""Learning as tests use it: the stream and the schedule run when they say so."""

from collections.abc import Callable
from typing import Any

import httpx

from functions.platform.items import decode_item
from tests.contract.bodies import NAMESPACES
from tests.contract.expect import ok
from tests.contract.language_model import Model
from tests.contract.service import Service, Tenant
from tests.contract.streaming import Stream, stream_function
from tests.contract.sweeping import sweep

STRATEGIES = "/api/v1/strategies"
Json = dict[str, Any]


class Learning:
    """A deployment whose strategies ask a model.

    Attributes:
        stream: the changes of the memory table.
        deliver: has the stream function process records.
    """

    def __init__(self, service: Service, model: Model, **settings: Any) -> None:
        self._service = service
        self._chosen = {
            "learning_model": "openai:recorded",
            "learning_url": model.url,
            "learning_key": "sk-recorded",
            "stream_consumers": "learning",
        } | settings
        self.stream = Stream(service)
        self.deliver = self.start()

    def start(self) -> Callable[[list[Json]], list[str]]:
        """Start one more instance of the learning function."""
        return stream_function(self._service, **self._chosen)

    def settle(self) -> None:
        """Process all changes, and those that follow from them."""
        while records := self.stream.read():
            assert self.deliver(records) == []

    def stored(self) -> list[Json]:
        """Every item in the tables."""
        return [decode_item(each) for each in self._service.stored()]

    def wake(self) -> None:
        """Run the schedule, then process the changes that follow."""
        sweep(self._service)
        self.settle()


def close_users(tenant: Tenant) -> None:
    """Close the memory of users to all but the admin."""
    allow = [{"agent": tenant.admin_id, "access": "write"}]
    rule = {"permissions": {"default": "none", "allow": allow}}
    ok(tenant.admin.patch(f"{NAMESPACES}/users%2F*", json=rule))


def declare(admin: httpx.Client, kind: str, name: str = "", **fields: Any) -> None:
    """Set a strategy that reads each message at once."""
    body = {"kind": kind, "trigger": {"messages": 1}} | fields
    assert admin.put(f"{STRATEGIES}/{name or kind}", json=body).is_success


def status(admin: httpx.Client, name: str) -> Json:
    found: Json = ok(admin.get(f"{STRATEGIES}/{name}/status"))
    return found


def facts(admin: httpx.Client, **query: Any) -> list[str]:
    """The facts that hold, in words and in order."""
    found = ok(admin.get("/api/v1/facts", params=query))["facts"]
    return sorted(f"{each['subject']} {each['predicate']} {each['object']}" for each in found)


def entries(admin: httpx.Client, namespace: str = "users/ada/memory") -> list[Json]:
    query = {"memory_type": "semantic", "namespace": namespace}
    found: list[Json] = ok(admin.get("/api/v1/memory", params=query))["entries"]
    return found
