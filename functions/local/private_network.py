"""A network of the service's own, in which nobody else reaches the embedded database.

The engine listens on a TCP port and takes any credentials. In a network namespace of its own that
port exists for this process and those that it starts, and neither for a web page in the user's
browser nor for other users' processes. Sockets that were bound before stay where they are, so
clients reach the service as ever.
"""

import ctypes
import fcntl
import os
import socket
import struct
import sys

_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000  # flags of unshare(2)
_SET_FLAGS = 0x8914  # the request SIOCSIFFLAGS, see netdevice(7)
_UP_AND_RUNNING = 0x1 | 0x40


def enter() -> bool:
    """Move this process, which has one thread, to a network that nobody else is in.

    Returns:
        False where the platform doesn't allow it; then nothing has changed.
    """
    if sys.platform != "linux" or not _can_enter():
        return False
    _enter()
    return True


def _can_enter() -> bool:
    """Try in a child process: a half-made network can't be left again."""
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
    except PermissionError:  # without privileges it takes a user namespace as well
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
