"""Conversations as tests write and read them."""

from typing import Any

import httpx

from tests.contract.expect import ok
from tests.contract.service import Service
from tests.contract.sweeping import items

CONVERSATIONS = "/api/v1/conversations"
Json = dict[str, Any]


def message(text: str, role: str = "user", **fields: Any) -> Json:
    return {"role": role, "content": text} | fields


def conversation(*texts: str, user_id: str = "user_1", **fields: Any) -> Json:
    """A conversation's body, with a message for each text."""
    return {"user_id": user_id, "messages": [message(text) for text in texts]} | fields


def put(client: httpx.Client, session: str, *texts: str, **fields: Any) -> httpx.Response:
    return client.put(f"{CONVERSATIONS}/{session}", json=conversation(*texts, **fields))


def append(client: httpx.Client, session: str, *texts: str, **headers: str) -> httpx.Response:
    """Appends messages, one as itself, several together."""
    bodies = [message(text) for text in texts]
    body = bodies[0] if len(bodies) == 1 else {"messages": bodies}
    return client.post(f"{CONVERSATIONS}/{session}/messages", json=body, headers=headers)


def pop(client: httpx.Client, session: str, **headers: str) -> httpx.Response:
    return client.post(f"{CONVERSATIONS}/{session}/messages/pop", headers=headers)


def said(client: httpx.Client, session: str, **page: int) -> list[str]:
    """The contents of a page of a conversation's messages."""
    found = ok(client.get(f"{CONVERSATIONS}/{session}", params=page))
    return [each["content"] for each in found["messages"]]


def stored_messages(service: Service) -> int:
    """Count the messages in storage, shown or not."""
    return len(items(service, "msg#"))


def residue(service: Service) -> list[Json]:
    """Whatever is in storage of conversations, archives' notes aside."""
    kinds = ("h", "d", "msg#", "w#", "k#", "g#", "j#", "l#", "y#", "c#")
    found = [item for kind in kinds for item in items(service, kind)]
    return [item for item in found if "#v#" in item["pk"] or "#u#" in item["pk"]]
