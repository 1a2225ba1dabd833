"""Which client an adapter works with."""

from agent_memory import AsyncClient, Client


def assert_client(client: object, kind: type[Client] | type[AsyncClient]) -> None:
    """Return if the client is of the kind that an adapter takes.

    Raises:
        TypeError: raised when it is something else, such as the client of the other kind.
    """
    if not isinstance(client, kind):
        raise TypeError(f"give an agent_memory.{kind.__name__}, not {type(client).__name__}")
