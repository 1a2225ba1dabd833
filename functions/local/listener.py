"""The listening socket of the local server."""

import socket

from functions.local.settings import StartupError


def listen(host: str, port: int) -> socket.socket:
    """Listen on an address; connections wait in the socket's backlog until they are accepted.

    Args:
        host: a name or address of this machine.
        port: 0 takes any free port.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        reason = str(error.strerror).partition(" (while")[0]
        raise StartupError(
            f"can't listen on {host} port {port} ({reason}); "
            "choose another address with AGENT_MEMORY_PORT or AGENT_MEMORY_HOST"
        ) from error


def build_url(listener: socket.socket) -> str:
    """Build the URL under which clients on this machine reach the listener."""
    host, port = listener.getsockname()[:2]
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared
    return f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"


def is_public(listener: socket.socket) -> bool:
    """Tell whether other machines can reach the listener."""
    host = listener.getsockname()[0]
    return not (host.startswith("127.") or host == "::1")
