"""Move this process to a private network, so that only it reaches the embedded database.

The engine listens on a TCP port and accepts any credentials. In a separate network namespace, only
this process and its children reach that port. Web pages in the user's browser and other users'
processes don't. Sockets that were bound before stay in the clients' network.
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
    """Move this process, which must have one thread, to a new network namespace.

    Returns:
        False if the platform doesn't allow it; then the process is unchanged.
    """
    if sys.platform != "linux" or not _can_enter():
        return False
    _enter()
    return True


def _can_enter() -> bool:
    """Try in a child process, since a process can't leave a half-configured network."""
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
