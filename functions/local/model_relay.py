"""Reach a model's endpoint from the private network of the embedded database.

A child process stays in the clients' network. It takes connections at a Unix socket, which works
between networks, and passes their bytes on to the endpoint, and to nothing else.
"""

import os
import shutil
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from threading import Thread
from urllib.parse import urlsplit

_CONNECT_SECONDS = 10.0
_BYTES = 65_536
_PORTS = {"http": 80, "https": 443}


def start(url: str) -> str | None:
    """Start the child process, and return the path of its socket; None where none is needed.

    This process must have one thread, and no files open that the child must not keep. The child
    ends with this process.
    """
    if sys.platform != "linux":
        return None
    parts = urlsplit(url)
    address = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    path = Path(mkdtemp(prefix="agent-memory-")) / "model"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    reading, writing = os.pipe()  # the writing end closes when this process ends
    if os.fork() == 0:
        os.close(writing)
        _run_child(listener, address, reading, path.parent)
    os.close(reading)
    listener.close()
    return str(path)


def _run_child(
    listener: socket.socket, address: tuple[str, int], reading: int, folder: Path
) -> None:
    """Relay until the parent has ended, and leave nothing behind."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    Thread(target=_accept, args=(listener, address), daemon=True).start()
    with suppress(OSError):
        os.read(reading, 1)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def _accept(listener: socket.socket, address: tuple[str, int]) -> None:
    while True:
        client, _ = listener.accept()
        Thread(target=_relay, args=(client, address), daemon=True).start()


def _relay(client: socket.socket, address: tuple[str, int]) -> None:
    """Pass on the bytes of one connection; it closes if the endpoint is out of reach."""
    with client, suppress(OSError), socket.create_connection(address, _CONNECT_SECONDS) as server:
        server.settimeout(None)
        Thread(target=_pump, args=(client, server), daemon=True).start()
        _pump(server, client)


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(_BYTES):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
