"""Bodies of requests, valid unless a test changes them; and short forms of the common calls."""

from typing import Any

import httpx

from tests.contract.expect import ok

MEMORY = "/api/v1/memory"
BATCH = "/api/v1/memory/batch"
NAMESPACES = "/api/v1/memory/namespaces"
TASKS = "/api/v1/tasks"
PRINCIPALS = "/api/v1/principals"
DROP: Any = object()

Json = dict[str, Any]


def _body(defaults: Json, changes: Json) -> Json:
    return {name: value for name, value in (defaults | changes).items() if value is not DROP}


def entry(**changes: Any) -> Json:
    """A create body; a field set to DROP is left out."""
    defaults = {"namespace": "notes", "key": "k", "value": {"n": 1}, "memory_type": "episodic"}
    return _body(defaults, changes)


def working(task: str | None = None, **changes: Any) -> Json:
    """A create body for working memory, in the scope of a task if one is given."""
    scope = {} if task is None else {"scope": {"task_id": task}}
    return entry(memory_type="working", **(scope | changes))


def semantic(**changes: Any) -> Json:
    """A create body for semantic memory."""
    return entry(**({"memory_type": "semantic", "namespace": "facts"} | changes))


def task(**changes: Any) -> Json:
    """A create body for a task."""
    return _body({"intent_id": "intent_1", "name": "work"}, changes)


def sized(size: int) -> Json:
    """A value of exactly `size` bytes as compact JSON."""
    return {"s": "x" * (size - len('{"s":""}'))}


def create(client: httpx.Client, body: Json, **headers: str) -> Json:
    answer: Json = ok(client.post(MEMORY, json=body, headers=headers), 201)
    return answer


def patch(
    client: httpx.Client, target: str, version: int | str, body: Json, **headers: str
) -> httpx.Response:
    return client.patch(target, json=body, headers={"If-Match": str(version)} | headers)


def update(
    client: httpx.Client, entry_id: str, version: int | str, /, **body: Any
) -> httpx.Response:
    return patch(client, f"{MEMORY}/{entry_id}", version, body)


def read(client: httpx.Client, entry_id: str) -> httpx.Response:
    return client.get(f"{MEMORY}/{entry_id}")


def query(client: httpx.Client, **filters: Any) -> list[Json]:
    """The entries that a query finds; `task_id` and `intent_id` stand for the scope filters."""
    for name in ("task_id", "intent_id"):
        if name in filters:
            filters[f"scope.{name}"] = filters.pop(name)
    found: list[Json] = ok(client.get(MEMORY, params=filters))["entries"]
    return found


def create_task(client: httpx.Client, **fields: Any) -> Json:
    answer: Json = ok(client.post(TASKS, json=task(**fields)), 201)
    return answer


def change_task(client: httpx.Client, at: Json, /, **fields: Any) -> httpx.Response:
    return patch(client, f"{TASKS}/{at['id']}", at["version"], fields)


def grant(client: httpx.Client, task_id: str, principal: str, /, **body: Any) -> httpx.Response:
    """Grants a principal access to a task's working memory."""
    return client.put(f"{TASKS}/{task_id}/grants/{principal}", json=body)


def allow(client: httpx.Client, namespace: str, default: str, **access: str) -> Json:
    """Sets a namespace's permissions: the default, and the access of each named agent."""
    entries = [{"agent": agent, "access": level} for agent, level in access.items()]
    body = {"permissions": {"default": default, "allow": entries}}
    answer: Json = ok(client.patch(f"{NAMESPACES}/{namespace}", json=body))
    return answer
