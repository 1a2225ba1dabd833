"""Runs and episodes as tests write and read them."""

from typing import Any

import httpx

from functions.platform.items import Item
from tests.contract.expect import ok
from tests.contract.service import Service
from tests.contract.sweeping import items

RUNS = "/api/v1/runs"
EPISODES = "/api/v1/episodes"
DAY = 86_400
Json = dict[str, Any]


def start(client: httpx.Client, agent_type: str = "sdr", **fields: Any) -> Json:
    run: Json = ok(client.post(RUNS, json={"agent_type": agent_type} | fields), 201)
    return run


def try_append(client: httpx.Client, run: str, content: Any, /, **more: Any) -> httpx.Response:
    """Appends an episode; `key` is the Idempotency-Key."""
    key = more.pop("key", None)
    headers = {} if key is None else {"Idempotency-Key": key}
    body = {"content": content} | more
    return client.post(f"{RUNS}/{run}/episodes", json=body, headers=headers)


def append(client: httpx.Client, run: Json, content: Any, /, **more: Any) -> Json:
    episode: Json = ok(try_append(client, run["id"], content, **more), 201)
    return episode


def recall(client: httpx.Client, **query: Any) -> list[Any]:
    """The contents of the episodes that a recall gives."""
    found = ok(client.get(EPISODES, params=query))["episodes"]
    return [each["content"] for each in found]


def end(client: httpx.Client, run: Json, how: str = "complete", **body: Any) -> httpx.Response:
    """Completes a run, or fails it; `key` is the Idempotency-Key."""
    key = body.pop("key", None)
    headers = {} if key is None else {"Idempotency-Key": key}
    return client.post(f"{RUNS}/{run['id']}/{how}", json=body, headers=headers)


def listed(client: httpx.Client, agent_type: str | None = "sdr", **query: Any) -> list[str]:
    """The ids of the runs that a list gives; an agent type of None is no filter."""
    filters = ({} if agent_type is None else {"agent_type": agent_type}) | query
    return [each["id"] for each in ok(client.get(RUNS, params=filters))["runs"]]


def stored_episodes(service: Service) -> list[Item]:
    """The episodes in storage, expired or not."""
    return items(service, "ep#")
