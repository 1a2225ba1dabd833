"""One way to call the sync and the async client, so that each fault test runs on both."""

import asyncio
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from agent_memory import AsyncClient, Client
from agent_memory._sync.pages import Pages

Kind = Literal["sync", "async"]


class Calling:
    """Calls a client and waits for what comes of it: `calling(lambda c: c.memory.get(…))`."""

    def __init__(self, client: Client | AsyncClient, runner: asyncio.Runner) -> None:
        self._client = client
        self._runner = runner

    def with_options(self, **options: Any) -> "Calling":
        """Return the same with other options of the client, on the same connections."""
        return Calling(self._client.with_options(**options), self._runner)

    def __call__(self, operation: Callable[[Any], Any]) -> Any:
        """Return the operation's answer; of an iterator, the list."""
        answer = operation(self._client)
        if hasattr(answer, "__aiter__"):
            return self._runner.run(_listed(answer))
        if inspect.isawaitable(answer):
            return self._runner.run(_awaited(answer))
        is_list = hasattr(answer, "__next__") or isinstance(answer, Pages)
        return list(answer) if is_list else answer


async def _awaited(answer: Any) -> Any:
    return await answer


async def _listed(answer: Any) -> list[Any]:
    return [each async for each in answer]


@contextmanager
def calling(kind: Kind, address: str, api_key: str, **options: Any) -> Iterator[Calling]:
    """A client of that kind, with these options."""
    with asyncio.Runner() as runner:
        if kind == "sync":
            with Client(address, api_key, **options) as client:
                yield Calling(client, runner)
        else:
            asynchronous = AsyncClient(address, api_key, **options)
            yield Calling(asynchronous, runner)
            runner.run(asynchronous.close())
