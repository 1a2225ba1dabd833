"""What runs in a thread of its own, again and again, until it is told to stop."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from functions.platform.observability import log_unforeseen

_STOPPED_WITHIN = 15.0  # seconds; more than a call under way takes, once it hears of the end


@contextmanager
def regularly(seconds: float, work: Callable[[Event], object], name: str) -> Iterator[None]:
    """Calls `work` at once and then every `seconds`; at the end waits for the call under way.

    Args:
        seconds: from the end of one call to the start of the next.
        work: takes the event that says that the end has come; what it raises is logged.
        name: the thread's.
    """
    ending = Event()

    def run() -> None:
        while not ending.is_set():
            try:
                work(ending)
            except Exception as error:  # noqa: BLE001 - the next turn may well succeed
                log_unforeseen(error, worker=name)
            ending.wait(seconds)

    thread = Thread(target=run, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join(_STOPPED_WITHIN)
