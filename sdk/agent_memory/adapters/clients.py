"""Which client an adapter works with."""

import httpx

from agent_memory import AsyncClient, Client


def assert_client(client: object, kind: type[Client] | type[AsyncClient]) -> None:
    """Return if the client is of the kind that an adapter takes.

    Raises:
        TypeError: raised when it is something else, such as the client of the other kind.
    """
    if not isinstance(client, kind):
        raise TypeError(f"give an agent_memory.{kind.__name__}, not {type(client).__name__}")


def to_sync(client: object) -> Client:
    """Return a client that any thread can call: the `Client` itself, or one like an `AsyncClient`.

    The latter has connections of its own, which live as long as it is used.

    Raises:
        TypeError: raised when it is neither, or has a transport that only an AsyncClient can use.
    """
    if isinstance(client, Client):
        return client
    if not isinstance(client, AsyncClient):
        raise TypeError(f"give an agent_memory.Client, not {type(client).__name__}")
    carrier, settings = client.pool.carrier, client.settings
    if carrier is not None and not isinstance(carrier, httpx.BaseTransport):
        raise TypeError("this client's transport can't carry the requests of a Client")
    return Client(
        settings.server_url,
        settings.api_key,
        timeout=settings.timeout,
        max_retries=settings.max_retries,
        transport=carrier,
    )
