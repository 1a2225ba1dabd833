"""Requests and what goes on beside them, in one process or in several."""

import os
import signal
import socket
from collections.abc import Callable

from functions.local.gateway import Handler
from functions.local.processes import Processes
from functions.local.server import Server
from functions.local.upkeep import Upkeep

Greet = Callable[[], None]


def alone(listener: socket.socket, handler: Handler, upkeep: Upkeep, greet: Greet) -> None:
    """Serves in this process; returns when the database has ended."""
    server = Server(listener, handler, greet)
    if upkeep.store.engine is not None:
        upkeep.store.engine.on_death(server.stop)
    with upkeep.running():
        server.run()


def together(
    workers: int, listener: socket.socket, handler: Handler, upkeep: Upkeep, greet: Greet
) -> None:
    """Serves in processes that share the listener; returns when the database has ended.

    What goes on beside has a process of its own, so that this one has no threads.

    Raises:
        CannotServe: a process has failed by itself.
    """
    started = _first_of_all(greet)

    def serve() -> None:
        Server(listener, handler, started).run()

    def keep() -> None:
        listener.close()
        with upkeep.running():
            while True:
                signal.pause()

    processes = Processes()
    try:
        for work in (keep, *[serve] * workers):
            processes.start(work)
        processes.keep_up()
    finally:
        listener.close()  # at once, while what is in flight is finished
        processes.end()


def _first_of_all(greet: Greet) -> Greet:
    """Greets in the first of the processes, forked off later, that calls it."""
    token, sent = os.pipe()
    os.write(sent, b"!")
    os.set_blocking(token, False)

    def greet_once() -> None:
        try:
            os.read(token, 1)
        except BlockingIOError:
            return
        greet()

    return greet_once
