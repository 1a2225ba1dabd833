"""A child that ends with its parent, however the parent ends (Linux)."""

import ctypes
import os
import signal
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def end_with_parent() -> Callable[[], None]:
    """What a child calls first; all that may fail is done here, before there is one.

    Call it from the main thread: Linux ties the child's life to the thread that made it.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    parent = os.getpid()

    def in_child() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it was gone before the tie was made
            os._exit(1)

    return in_child
