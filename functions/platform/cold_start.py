"""Make a function's start cheaper, and the calculations of what it does then."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager


def limit_numpy_threads() -> None:
    """Have numpy calculate in one thread where it is imported later, unless the variable is set.

    Its threads wait for each other by spinning. Where cores are busy, or a function has a share of
    one, to rank 10,000 vectors takes 55 ms with two threads and 2 ms with one.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


_NEW_OBJECTS = 10_000  # between two collections; with Python's 700 a list takes 5 % more CPU


@contextmanager
def pause_gc() -> Iterator[None]:
    """Pause the garbage collector while modules are imported and clients are built.

    They stay as long as the process, so collecting finds nothing, and takes a tenth of a start.
    Afterwards it runs less often: a list of 100 makes thousands of objects, none of them garbage.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(_NEW_OBJECTS)
        gc.enable()
