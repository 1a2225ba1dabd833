"""Fail if the port of the local server is taken; `make run` checks it first."""

import os
import socket
import sys


def main() -> None:
    """Exit with a message that names the remedy if the server could not listen."""
    host = os.environ.get("AGENT_MEMORY_HOST") or "127.0.0.1"
    port = os.environ.get("AGENT_MEMORY_PORT") or "8080"
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, int(port)), family=family).close()
    except (OSError, OverflowError, ValueError) as error:
        sys.exit(
            f"agent-memory: can't listen on {host}, port {port} ({error}); "
            "choose another address with AGENT_MEMORY_PORT or AGENT_MEMORY_HOST"
        )


if __name__ == "__main__":
    main()
