"""Items of sessions, and where the large ones are."""

from hashlib import sha256
from typing import Any

from agent_memory import AsyncClient


def user(text: str) -> Any:
    return {"role": "user", "content": text}


def texts(items: list[Any]) -> list[str]:
    return [item["content"] for item in items]


async def beside(client: AsyncClient) -> list[dict[str, Any]]:
    """The large items that are kept for the session `s`."""
    listed_as = f"items of {sha256(b's').hexdigest()}"
    return [dict(each.raw) async for each in client.conversations.list(listed_as)]
