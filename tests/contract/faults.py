"""A DynamoDB client that fails at one of its writes: it crashes, or raises an error."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal
from unittest.mock import patch

import boto3

WRITES = frozenset(
    {"put_item", "update_item", "delete_item", "batch_write_item", "transact_write_items"}
)
Meanwhile = Callable[[], object]
When = Literal["before", "after"]


class Killed(BaseException):
    """The process is gone. No handler of errors catches it, and no call comes through after it."""


class FaultyClient:
    """A boto3 client whose n-th write fails; all else is the client's own.

    Args:
        client: does the work.
        at: which write fails, from 1 on; 0 is none.
        when: whether it fails before it is carried out, or after.
        error: what it raises; None is `Killed`, which every further call raises again.
    """

    def __init__(
        self,
        client: Any,
        at: int = 0,
        when: When = "before",
        error: BaseException | None = None,
    ) -> None:
        self._client = client
        self._at = at
        self._when = when
        self._error = error or Killed()
        self._dead = False
        self._interrupts: dict[str, tuple[Callable[[dict[str, Any]], bool], Meanwhile]] = {}
        self.writes = 0

    def interrupt(
        self,
        operation: str,
        found: Callable[[dict[str, Any]], bool],
        meanwhile: Meanwhile,
    ) -> None:
        """Has something happen once, right before an operation whose request `found` picks."""
        self._interrupts[operation] = found, meanwhile

    def __getattr__(self, name: str) -> Any:
        """The client's own attribute; a call may fail."""
        found = getattr(self._client, name)
        if not callable(found) or name in ("get_paginator", "get_waiter"):
            return found

        def call(**request: Any) -> Any:
            if self._dead:
                raise self._error
            if name in self._interrupts and self._interrupts[name][0](request):
                self._interrupts.pop(name)[1]()
            if name not in WRITES or _is_note_of_persons(request):
                return found(**request)
            self.writes += 1
            if self.writes != self._at:
                return found(**request)
            self._dead = isinstance(self._error, Killed)
            if self._when == "after":
                found(**request)
            raise self._error

        return call


def _is_note_of_persons(request: dict[str, Any]) -> bool:
    """Return whether a write only notes the persons of the next one, which alone means nothing."""
    puts = [each for batch in request.get("RequestItems", {}).values() for each in batch]
    keys = [each.get("PutRequest", {}).get("Item", {}).get("pk", {}).get("S", "") for each in puts]
    return bool(keys) and all(key.endswith("#persons") for key in keys)


@contextmanager
def faulty(
    at: int = 0, when: When = "before", error: BaseException | None = None
) -> Iterator[FaultyClient]:
    """Give a faulty client of DynamoDB to each container that is made in this context."""
    client = FaultyClient(boto3.client("dynamodb"), at, when, error)
    with patch("functions.container.create_client", return_value=client):
        yield client
