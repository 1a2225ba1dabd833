"""Requests and what goes on beside them, in one process or in several."""

import os
import signal
import socket
from collections.abc import Callable
from functools import partial

from functions.local.gateway import Handler
from functions.local.handover import give_in_turn
from functions.local.processes import ENDINGS, Processes, ends_told
from functions.local.server import Server
from functions.local.upkeep import Upkeep

Greet = Callable[[], None]


def alone(listener: socket.socket, handler: Handler, upkeep: Upkeep, greet: Greet) -> None:
    """Serves in this process; returns when the database has ended."""
    server = Server(handler, greet, listener=listener)
    if upkeep.store.engine is not None:
        upkeep.store.engine.on_death(server.stop)
    with upkeep.running():
        server.run()


def together(
    workers: int, listener: socket.socket, handler: Handler, upkeep: Upkeep, greet: Greet
) -> None:
    """Serves in processes, gives connections to them; returns when the database has ended.

    What goes on beside has a process of its own, so that this one has no threads.

    Raises:
        CannotServe: a process has failed by itself.
    """
    started = _first_of_all(greet)
    channels = [socket.socketpair() for _ in range(workers)]  # outlive a worker, with what is in it

    def serve(channel: socket.socket) -> None:
        listener.close()
        Server(handler, started, channel=channel).run()

    def keep() -> None:
        listener.close()
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
        with upkeep.running():
            signal.sigwait(ENDINGS)  # also one that came before

    processes = Processes()
    try:
        processes.start(keep)
        for _, taking in channels:
            processes.start(partial(serve, taking))
        with ends_told() as interruption:
            giving = [each for each, _ in channels]
            give_in_turn(listener, giving, interruption, processes.keep_up)
    finally:
        listener.close()  # at once, while they finish what is in flight
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
