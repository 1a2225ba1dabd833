"""From one kind of client to the other."""

import httpx

from agent_memory._async.client import AsyncClient
from agent_memory._sync.client import Client


def to_async(client: Client) -> AsyncClient:
    """Return a new `AsyncClient` with the settings of a `Client`, on connections of its own.

    Raises:
        TypeError: the client has a transport of its own, which isn't made for both kinds.
    """
    carrier, settings = client.pool.carrier, client.settings
    if carrier is not None and not isinstance(carrier, httpx.AsyncBaseTransport):
        raise TypeError("this client's transport can't carry the requests of an AsyncClient")
    return AsyncClient(
        settings.server_url,
        settings.api_key,
        timeout=settings.timeout,
        max_retries=settings.max_retries,
        transport=carrier,
    )
