"""DynamoDB that throttles: its answers are put in the place of the engine's, attempt by attempt."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from botocore.awsrequest import AWSPreparedRequest, AWSResponse

from functions.platform.aws import create_client

_REFUSAL = {"__type": "x#ThrottlingException", "message": "Rate exceeded"}
_WRITES = ("PutItem", "UpdateItem", "TransactWriteItems", "BatchWriteItem")


class _Body(io.BytesIO):
    """The body of an answer, as botocore reads it."""

    def stream(self, **_options: Any) -> Iterator[bytes]:
        yield self.read()


class Throttling:
    """Refuses a number of attempts of each write that holds a text.

    Attributes:
        attempts: of each write with the text, how many are refused.
        refused: how many attempts were.
    """

    def __init__(self) -> None:
        self.attempts: dict[str, int] = {}
        self.refused = 0
        self._seen: dict[str, int] = {}  # by the SDK's id of a call

    def answer(self, request: AWSPreparedRequest, **_event: Any) -> AWSResponse | None:
        """Answer an attempt in the place of the engine; None lets it pass."""
        if not self._is_refused(request):
            return None
        self.refused += 1
        return AWSResponse(request.url, 400, {}, _Body(json.dumps(_REFUSAL).encode()))

    def _is_refused(self, request: AWSPreparedRequest) -> bool:
        headers = {name.lower(): _decode(text) for name, text in request.headers.items()}
        if headers["x-amz-target"].rpartition(".")[2] not in _WRITES:
            return False
        call, body = headers["amz-sdk-invocation-id"], _decode(request.body)
        self._seen[call] = self._seen.get(call, 0) + 1
        return any(text in body and self._seen[call] <= n for text, n in self.attempts.items())


def _decode(text: Any) -> str:
    return text.decode() if isinstance(text, bytes) else str(text)


@contextmanager
def throttled() -> Iterator[Throttling]:
    """Give each container that is made in this context a client that retries without waits."""
    throttling, client = Throttling(), create_client("dynamodb")
    client.meta.events.register("before-send.dynamodb", throttling.answer)
    without_waits = SimpleNamespace(sleep=lambda _seconds: None)
    with (
        patch("functions.container.create_client", return_value=client),
        patch("botocore.endpoint.time", without_waits),
    ):
        yield throttling
