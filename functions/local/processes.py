"""Processes that are forked off this one, forked anew when something kills them, ended together."""

import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from functions.local.failure import CannotServe
from functions.local.lifeline import end_with_parent

ENDINGS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
_ENDED_WITHIN = 20.0  # seconds; more than the grace for requests in flight
_POLL, _PAUSE, _SHORT_LIFE = 0.01, 0.1, 1.0  # seconds

Work = Callable[[], None]


class Processes:
    """Children of a process without threads: what a thread locks would stay locked in a copy."""

    def __init__(self) -> None:
        self._running: dict[int, tuple[Work, float]] = {}  # and since when
        self._tie = end_with_parent()

    def start(self, work: Work) -> None:
        """Does a work in a process of its own, which a KeyboardInterrupt ends in good order."""
        with endings_held():
            pid = os.fork()
            if pid:
                self._running[pid] = work, time.monotonic()
                return
            self._tie()
            os.setsid()  # Ctrl-C reaches the parent, which tells its children
            _do(work)

    def keep_up(self) -> bool:
        """Forks anew what was killed; False once a process has ended that isn't one of these.

        Raises:
            CannotServe: one of these has failed by itself, and said why.
        """
        ended = []
        while found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | os.WNOHANG):
            if found.si_pid not in self._running:
                return False
            ended.append(self._buried(found.si_pid))
        for work in ended:
            self.start(work)
        return True

    def _buried(self, pid: int) -> Work:
        """The work of a process that was killed."""
        with endings_held():
            work, since = self._running.pop(pid)
            _, status = os.waitpid(pid, 0)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0:
            raise CannotServe("a process of the server has failed; what is above says why")
        if time.monotonic() - since < _SHORT_LIFE:
            time.sleep(_PAUSE)  # what kills it may do so again and again
        return work

    def end(self) -> None:
        """Lets all finish what they are at, and waits until they have ended."""
        for pid in self._running:
            os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + _ENDED_WITHIN
        while self._running and time.monotonic() < deadline:
            for pid in [each for each in self._running if _reaped(each)]:
                del self._running[pid]
            time.sleep(_POLL)
        for pid in self._running:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


@contextmanager
def ends_told() -> Iterator[socket.socket]:
    """What can be read from as soon as a child of this process has ended (and at other signals)."""
    reading, writing = socket.socketpair()
    writing.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda _signal, _frame: None)
    with reading, writing:
        signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
        try:
            yield reading
        finally:
            signal.set_wakeup_fd(-1)


def _reaped(pid: int) -> bool:
    return os.waitpid(pid, os.WNOHANG)[0] == pid


def _do(work: Work) -> NoReturn:
    """Ends this process after the work, by-passing whatever its parent would have cleared away."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)  # its parent's
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)
        work()
        code = 0
    except KeyboardInterrupt:
        code = 0
    except BaseException:  # noqa: BLE001 - nothing may unwind into the parent's frames
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


@contextmanager
def endings_held() -> Iterator[None]:
    """What would end this process waits meanwhile."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
