"""Processes that are forked off this one, forked anew when something kills them, ended together."""

import os
import signal
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
_POLL, _PAUSE = 0.01, 0.1  # seconds

Work = Callable[[], None]


class Processes:
    """Children of a process without threads: what a thread locks would stay locked in a copy."""

    def __init__(self) -> None:
        self._works: dict[int, Work] = {}
        self._tie = end_with_parent()

    def start(self, work: Work) -> None:
        """Does a work in a process of its own, which a KeyboardInterrupt ends in good order."""
        with _endings_held():
            pid = os.fork()
            if pid:
                self._works[pid] = work
                return
            self._tie()
            os.setsid()  # Ctrl-C reaches the parent, which tells its children
            _do(work)

    def keep_up(self) -> None:
        """Forks anew what was killed; returns when a process ends that isn't one of these.

        Raises:
            CannotServe: one of these has failed by itself, and said why.
        """
        while True:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
            if ended is None or ended.si_pid not in self._works:
                return
            with _endings_held():
                work = self._works.pop(ended.si_pid)
                _, status = os.waitpid(ended.si_pid, 0)
            if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0:
                raise CannotServe("a process of the server has failed; what is above says why")
            time.sleep(_PAUSE)  # whatever kills it again and again
            self.start(work)

    def end(self) -> None:
        """Lets all finish what they are at, and waits until they have ended."""
        for pid in self._works:
            os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + _ENDED_WITHIN
        while self._works and time.monotonic() < deadline:
            self._works = {pid: work for pid, work in self._works.items() if not _reaped(pid)}
            time.sleep(_POLL)
        for pid in self._works:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _reaped(pid: int) -> bool:
    return os.waitpid(pid, os.WNOHANG)[0] == pid


def _do(work: Work) -> NoReturn:
    """Ends this process after the work, by-passing whatever its parent would have cleared away."""
    code = 1
    try:
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
def _endings_held() -> Iterator[None]:
    """No signal comes between a fork, or an end, and the note of it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
