"""The sockets of the service's address: bound once, before anything else starts.

Every worker process has a listener of its own, over which the kernel spreads the connections. From
one common listener, the first worker to wake takes all that wait: often all eight of eight clients.
"""

import fcntl
import os
import socket
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from functions.local.settings import StartupError

BACKLOG = 2048


class Listeners:
    """The bound sockets of an address, and one more to try it from outside.

    Attributes:
        sockets: one for each worker.
        probe: a client's socket in the network that the listeners are in.
    """

    def __init__(self, sockets: list[socket.socket]) -> None:
        self.sockets = sockets
        self.probe = socket.socket(sockets[0].family)

    @property
    def address(self) -> tuple[str, int]:
        """The host and port that are listened on."""
        host, port = self.sockets[0].getsockname()[:2]
        return host, port

    @property
    def url(self) -> str:
        """The URL under which a client on this machine reaches the listeners."""
        host, port = self.address
        reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared
        return f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"

    @property
    def is_public(self) -> bool:
        """Whether other machines may reach it."""
        host, _ = self.address
        return not (host.startswith("127.") or host == "::1")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in (*self.sockets, self.probe):
            each.close()


def listen(host: str, port: int, workers: int) -> Listeners:
    """Take the address; clients that connect wait until a worker accepts them.

    Args:
        host: a name or address of this machine.
        port: 0 takes any free port.
        workers: how many listeners the address has.

    Raises:
        StartupError: the address is taken, or isn't this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        first = socket.create_server((host, port), family=family, backlog=BACKLOG)
        if workers == 1:
            return Listeners([first])
        address = first.getsockname()[:2]
        first.close()  # it has found the address free; it wouldn't let others share it
        return Listeners(_bind_all(family, address, workers))
    except OSError as error:
        reason = str(error.strerror).partition(" (while")[0]
        raise StartupError(
            f"can't listen on {host} port {port} ({reason}); "
            "choose another with AGENT_MEMORY_PORT or AGENT_MEMORY_HOST"
        ) from error


def _bind_all(family: int, address: tuple[str, int], count: int) -> list[socket.socket]:
    with ExitStack() as stack:
        bound = []
        for _ in range(count):
            shared = stack.enter_context(socket.socket(family))
            shared.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            shared.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            shared.bind(address)
            shared.listen(BACKLOG)
            bound.append(shared)
        stack.pop_all()
        return bound


class WorkerListener(socket.socket):
    """Stands for one listener in the supervisor, and becomes a free one in each worker process.

    uvicorn pickles it for every worker that it starts, and for each that takes a dead one's place.
    """

    def __init__(self, sockets: list[socket.socket], folder: Path) -> None:
        super().__init__(sockets[0].family, fileno=os.dup(sockets[0].fileno()))
        self._sockets = sockets
        self._folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        return _take_free_listener, (self._sockets, self._folder)


def _take_free_listener(sockets: list[socket.socket], folder: Path) -> socket.socket:
    """Take the first listener that no living worker has, and close the others.

    A lock that ends with its process says who has which.
    """
    taken: socket.socket | None = None
    for number, each in enumerate(sockets):
        if taken is None and _lock_for_life(folder / f"worker-{number}.lock"):
            taken = each
        else:
            each.close()
    if taken is None:
        raise RuntimeError("there are more workers than listeners")
    return taken


def _lock_for_life(file: Path) -> bool:
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return False
    return True  # the descriptor stays open, and with it the lock
