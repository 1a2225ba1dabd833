"""Connections that one process accepts and others serve, each of them in its turn.

Where several processes accept from one listener, the first to wake takes all that wait: clients who
come together and keep their connections are then served by one of them alone.
"""

import select
import selectors
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import cycle, islice

_PAUSE = 0.01  # seconds


def take(channel: socket.socket) -> list[socket.socket]:
    """The connection that was given; none if this process has too many files open."""
    _, descriptors, _, _ = socket.recv_fds(channel, 1, 1)
    return [socket.socket(fileno=each) for each in descriptors]


def give_in_turn(
    listener: socket.socket,
    channels: Sequence[socket.socket],
    interruption: socket.socket,
    goes_on: Callable[[], bool],
) -> None:
    """Accepts connections and gives them away, until `goes_on` says no.

    Args:
        listener: where clients connect.
        channels: lead to those who serve.
        interruption: whatever comes from it, `goes_on` is asked again.
        goes_on: asked before anything else.
    """
    listener.setblocking(False)
    turns = cycle(channels)
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        selector.register(interruption, selectors.EVENT_READ)
        while goes_on():
            for key, _ in selector.select():
                if key.fileobj is listener:
                    _give(listener, islice(turns, len(channels)))
                else:
                    interruption.recv(4096)


def _give(listener: socket.socket, turns: Iterable[socket.socket]) -> None:
    """Gives a connection to the first whose channel has room; while none has, clients wait."""
    free = next((each for each in turns if select.select([], [each], [], 0)[1]), None)
    if free is None:
        time.sleep(_PAUSE)
        return
    try:
        connection, _ = listener.accept()
        with connection:
            socket.send_fds(free, [b"!"], [connection.fileno()])
    except OSError:  # the client went away again, or too many files are open
        time.sleep(_PAUSE)
