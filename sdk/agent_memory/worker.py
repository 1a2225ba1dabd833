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
    """A decorator of a function with one argument, `ctx`; start the result by its method `run`
    (RFC-0015 "Worker Context", §8).

    If the function returns, the task is `completed`, with the result as its `output`. If it raises
    an exception, the task is `failed`, with the exception's type and message as its `error`. Both
    end the task and archive its memory. If the service can't be reached, the task stays open: a
    worker takes it again later, and the function continues from its checkpoint.

    Args:
        capabilities: it takes only tasks that require no others.
        lease: seconds for which a task stays with a process that has stopped responding. Two
            processes with one agent ID never run one task at once.
        grace: seconds that the running function has to finish when the worker is stopped.

    Raises:
        TypeError: the decorator has no parentheses.
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
            raise ValueError("lease must be at least 2 seconds, grace at least 0")
        self._capabilities = frozenset(capabilities)
        self._lease = lease
        self._grace = grace
        self._stops: set[Shutdown] = set()

    def __call__(self, function: Function) -> Self:
        """Decorate the function; `__wrapped__` is the function itself.

        Raises:
            TypeError: it is decorated already.
        """
        if hasattr(self, "__wrapped__"):
            raise TypeError(f"{self.__name__} is a worker: call its run()")
        functools.update_wrapper(self, function)
        return self

    def stop(self) -> None:
        """Stop taking tasks. Each `run` returns when its function has ended, or after the grace
        period. Any thread may call it.

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
        """Take the agent's tasks one by one, and run the function on each.

        It takes open tasks that are not `blocked`, whose required capabilities it has, and that
        wait for no other task: first started ones, then the oldest. In the main thread, SIGTERM and
        Ctrl-C stop it like `stop`; a second Ctrl-C ends it at once.

        Args:
            client: the agent's client; it stays open. By default, one is created from the next two.
            server_url, api_key: as for `Client`; by default, from the environment.
            poll: seconds between requests for tasks, and between checks of the running task.
            once: return when no task is left, instead of waiting for more.
            max_tasks: return after this number of tasks.

        Returns:
            The number of tasks that it took.

        Raises:
            AuthenticationError, MemoryAccessError: the key is invalid, or lacks permissions.
            MemoryCapacityError: the agent's own working memory has no room for a lease.
            ConnectionFailedError, ServiceUnavailableError, ThrottledError, InvalidAnswerError: with
                `once`, the service did not answer. Without `once`, the worker keeps trying.
            TypeError: there is no function, or it is async and the client is sync only.
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
    """Stop at SIGTERM and Ctrl-C; after the first signal, Ctrl-C has its former effect."""
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
