"""The worker: takes the tasks that are assigned to an agent, and runs a function on each.

@Worker(capabilities=["billing"])
def process_invoices(ctx):
    progress = ctx.memory.get("invoice_processing", "batch_progress")
    ...

process_invoices.run(server_url="http://127.0.0.1:8080", api_key="am_…")
"""

import functools
import signal
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

from agent_memory._sync.client import Client
from agent_memory._worker.assignments import Assignments
from agent_memory._worker.options import WorkerOptions
from agent_memory._worker.run_loop import RunLoop
from agent_memory._worker.shutdown import Shutdown
from agent_memory._worker.start import Starter
from agent_memory.context import AsyncContext, Context

Function = Callable[[Context], Any] | Callable[[AsyncContext], Awaitable[Any]]


class Worker:
    """Decorates a function of one argument, `ctx`; what it decorates is the worker, not called but
    `run` (RFC-0015 "Worker Context", §8).

    What the function returns becomes the `output` of the task, which is then `completed`. What it
    raises makes the task `failed`, with the exception's type and message as its `error`. Either
    ends the task, and archives its memory. If the memory service is out of reach, nothing ends: the
    task is taken again later, here or elsewhere, and the function continues from what it saved.

    Args:
        capabilities: what tasks may require of it; it takes no others.
        lease: seconds for which a task stays with a process that is heard of no more. Two
            processes with one agent id never run one task at once.
        grace: seconds that a function has to end in when the worker is asked to stop.

    Raises:
        TypeError: written without its parentheses.
        ValueError: a lease below 2 seconds, or a negative grace.
    """

    __name__: str
    __wrapped__: Function

    def __init__(
        self, capabilities: Iterable[str] = (), *, lease: int = 30, grace: float = 20.0
    ) -> None:
        if callable(capabilities) or isinstance(capabilities, str):
            raise TypeError('write @Worker(capabilities=["..."])')
        if lease < 2 or grace < 0:
            raise ValueError("lease is at least 2 seconds, grace at least 0")
        self._capabilities = frozenset(capabilities)
        self._lease = lease
        self._grace = grace
        self._stops: set[Shutdown] = set()

    def __call__(self, function: Function) -> Self:
        """Decorate the function, which stays at hand as `__wrapped__`.

        Raises:
            TypeError: it is decorated already.
        """
        if hasattr(self, "__wrapped__"):
            raise TypeError(f"{self.__name__} is a worker: call its run()")
        functools.update_wrapper(self, function)
        return self

    def stop(self) -> None:
        """Make each `run` take no more tasks, and return: when its function has ended, or after
        the grace. Any thread may call it.

            threading.Timer(3600, worker.stop).start()
        """
        for stop in list(self._stops):
            stop.request()

    def run(
        self,
        client: Client | None = None,
        *,
        server_url: str | None = None,
        api_key: str | None = None,
        poll: float = 1.0,
        once: bool = False,
        max_tasks: int | None = None,
    ) -> int:
        """Take the agent's tasks, one after another, and run the function on each.

        It takes open tasks, but not `blocked` ones, that require none but its capabilities and wait
        for no other task; first those that were begun, then the oldest. SIGTERM and Ctrl-C stop it
        like `stop`, if the main thread runs it; a second Ctrl-C ends it at once.

        Args:
            client: calls as the agent; stays open. Otherwise one is made of the next two arguments.
            server_url, api_key: as for `Client`; without them the environment says.
            poll: seconds between looks for tasks, and at the task under way.
            once: return when no task is left, instead of waiting for more.
            max_tasks: return after so many.

        Returns:
            How many tasks it took.

        Raises:
            AuthenticationError, MemoryAccessError: the key is no good, or may not do this.
            MemoryCapacityError: the agent's own working memory has no room for a lease.
            ConnectionFailedError, ServiceUnavailableError, ThrottledError, InvalidAnswerError:
                with `once`, the service gave no answer. Without it, the worker keeps trying.
            TypeError: there is no function, or it is async and the client can only be sync.
        """
        if not hasattr(self, "__wrapped__"):
            raise TypeError("a worker decorates a function: @Worker(...)")
        options = WorkerOptions(self._lease, self._grace, poll, once, max_tasks)
        stop = Shutdown()
        self._stops.add(stop)
        try:
            with _opened(client, server_url, api_key) as caller, _request_on_signals(stop):
                return self._shift(caller, options, stop).work()
        finally:
            self._stops.discard(stop)

    def _shift(self, client: Client, options: WorkerOptions, stop: Shutdown) -> RunLoop:
        patience = min(client.settings.timeout, options.lease / 3)
        control = client.with_options(timeout=patience, max_retries=1)
        assignments = Assignments(control, self._capabilities)
        start = Starter(self.__wrapped__, client, stop)
        return RunLoop(control, assignments, options, stop, start)


@contextmanager
def _opened(client: Client | None, server_url: str | None, api_key: str | None) -> Iterator[Client]:
    if client is not None:
        yield client
        return
    with Client(server_url, api_key) as opened:
        yield opened


@contextmanager
def _request_on_signals(stop: Shutdown) -> Iterator[None]:
    """SIGTERM and Ctrl-C ask to stop; after one of them, Ctrl-C means again what it meant."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def request(_number: int, _frame: FrameType | None) -> None:
        stop.request()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = {each: signal.signal(each, request) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler or signal.SIG_DFL)
