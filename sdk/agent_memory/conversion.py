"""Convert one kind of client to the other."""

import httpx

from agent_memory._async.client import AsyncClient
from agent_memory._sync.client import Client


def to_async(client: object) -> AsyncClient:
    """Return the `AsyncClient` itself, or a new one with the settings of a `Client`.

    Raises:
        TypeError: raised when it is no client, or has a transport that only a Client can use.
    """
    if isinstance(client, AsyncClient):
        return client
    if not isinstance(client, Client):
        raise TypeError(f"give an agent_memory.AsyncClient, not {type(client).__name__}")
    carrier = client.pool.carrier
    if carrier is not None and not isinstance(carrier, httpx.AsyncBaseTransport):
        raise TypeError("this client's transport can't carry the requests of an AsyncClient")
    return AsyncClient(**client.settings.to_arguments(), transport=carrier)


def to_sync(client: object) -> Client:
    """Return a client for any thread: the `Client` itself, or one with an `AsyncClient`'s settings.

    The new client has its own connections, which live as long as it is used.

    Raises:
        TypeError: raised when it is no client, or has a transport that only an AsyncClient can use.
    """
    if isinstance(client, Client):
        return client
    if not isinstance(client, AsyncClient):
        raise TypeError(f"give an agent_memory.Client, not {type(client).__name__}")
    carrier = client.pool.carrier
    if carrier is not None and not isinstance(carrier, httpx.BaseTransport):
        raise TypeError("this client's transport can't carry the requests of a Client")
    return Client(**client.settings.to_arguments(), transport=carrier)
