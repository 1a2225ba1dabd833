"""Move this process to a private network, so that only it reaches the embedded database.

The engine listens on a TCP port and accepts any credentials. In a separate network namespace, only
this process and its children reach that port. Web pages in the user's browser and other users'
processes don't. Sockets that were bound before stay in the clients' network.

A relay leads to models: a child process that stays in the clients' network. It accepts connections
at a Unix socket, which works between networks, and forwards their bytes to the endpoint only.
"""

import ctypes
import fcntl
import os
import shutil
import signal
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from threading import Thread
from urllib.parse import urlsplit

_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000  # flags of unshare(2)
_SET_FLAGS = 0x8914  # the request SIOCSIFFLAGS, see netdevice(7)
_UP_AND_RUNNING = 0x1 | 0x40
_CONNECT_SECONDS = 10.0
_BYTES = 65_536
_PORTS = {"http": 80, "https": 443}


def enter() -> bool:
    """Move this process, which must have one thread, to a new network namespace.

    Returns:
        False if the platform doesn't allow it; then the process is unchanged.
    """
    if sys.platform != "linux" or not _can_enter():
        return False
    _enter()
    return True


def _can_enter() -> bool:
    """Try it in a child process, since a process can't leave a half-configured network."""
    child = os.fork()
    if child == 0:
        try:
            _enter()
        except OSError:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


def _enter() -> None:
    user, group = os.getuid(), os.getgid()
    try:
        _unshare(_NEW_NETWORK)
    except PermissionError:  # an unprivileged process needs a new user namespace, too
        _unshare(_NEW_USER | _NEW_NETWORK)
        _write("setgroups", "deny")
        _write("uid_map", f"{user} {user} 1")
        _write("gid_map", f"{group} {group} 1")
    _start_loopback()


def _unshare(flags: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)  # os.unshare needs Python 3.12
    if libc.unshare(flags) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _write(name: str, text: str) -> None:
    with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123 - not a file
        file.write(text)


def _start_loopback() -> None:
    request = struct.pack("16sh", b"lo", _UP_AND_RUNNING)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, request)


def start_relay(url: str) -> str:
    """Start the relay to a URL, and return the path of its socket.

    This process must have one thread, and no files open that the child must not keep. The child
    ends with this process.
    """
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
    """Relay until the parent has ended, then remove the socket."""
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
    """Forward the bytes of one connection; close it if the endpoint can't be reached."""
    with client, suppress(OSError), socket.create_connection(address, _CONNECT_SECONDS) as server:
        server.settimeout(None)
        Thread(target=_pump, args=(client, server), daemon=True).start()
        _pump(server, client)


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(_BYTES):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
