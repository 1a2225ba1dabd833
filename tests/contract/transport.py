"""The service behind httpx: requests become API Gateway events, in this process.

Every answer is checked for what the API promises of all of them.
"""

import base64
import json
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import copy_context
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from functions.local.file_server import FileServer
from functions.local.in_process import to_request_event
from functions.platform.archive_storage import FILES_PATH
from tests.contract.documented import check_status

Handler = Callable[[dict[str, Any], object], dict[str, Any]]

BASE_URL = "http://memory.test"
PROBLEM = {"type", "title", "status", "detail", "code", "message"}
_NEVER_SHOWN = ("Traceback", "botocore", "boto3", "dynamodb", "pydantic", ".py", "functions.")


@dataclass(frozen=True)
class LambdaContext:
    """The context that Lambda passes beside the event."""

    function_name: str = "api"
    function_version: str = "$LATEST"
    memory_limit_in_mb: int = 512
    invoked_function_arn: str = "arn:aws:lambda:eu-central-1:000000000000:function:api"
    aws_request_id: str = "00000000-0000-4000-8000-000000000000"

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until Lambda would stop the invocation."""
        return 30_000


class MovableClock:
    """Stands still until it is moved; epoch milliseconds."""

    def __init__(self, start: datetime) -> None:
        self.now = int(start.timestamp() * 1000)

    def __call__(self) -> int:
        return self.now

    def advance(self, *, seconds: float = 0, ms: int = 0) -> None:
        """Moves on; negative moves back."""
        self.now += round(seconds * 1000) + ms

    def time(self, *, seconds: float = 0, ms: int = 0) -> str:
        """The time that far from now, as the API writes times."""
        moment = datetime.fromtimestamp(0, UTC) + timedelta(
            milliseconds=self() + round(seconds * 1000) + ms
        )
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class HandlerTransport(httpx.BaseTransport):
    """Calls the handler with the event that the HTTP API would send for the request."""

    def __init__(
        self, handler: Handler, turn: AbstractContextManager[Any], files: FileServer | None = None
    ) -> None:
        self._handler = handler
        self._turn = turn
        self._files = files

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        headers = [(k.decode("latin-1"), v.decode("latin-1")) for k, v in request.headers.raw]
        if self._files is not None and request.url.path.startswith(FILES_PATH):
            with self._turn:
                path, data = request.url.path, request.read()
                answered = self._files.handle(request.method, path, headers, data)
            return httpx.Response(
                answered.status, headers=answered.headers, stream=httpx.ByteStream(answered.body)
            )
        event = to_request_event(request.method, request.url.raw_path, headers, request.read())
        with self._turn:
            sent = json.loads(json.dumps(event))
            answer = copy_context().run(self._handler, sent, LambdaContext())
        return to_response(json.loads(json.dumps(answer)))


def to_response(answer: dict[str, Any]) -> httpx.Response:
    """The response that an HTTP API makes of a function's answer."""
    body = answer.get("body") or ""
    content = base64.b64decode(body) if answer.get("isBase64Encoded") else body.encode()
    stream = httpx.ByteStream(content)
    return httpx.Response(answer["statusCode"], headers=answer["headers"], stream=stream)


def open_client(transport: httpx.BaseTransport, key: str | None = None) -> httpx.Client:
    """A client whose every answer is checked for the common rules."""
    return httpx.Client(
        base_url=BASE_URL,
        headers={} if key is None else {"X-API-Key": key},
        transport=transport,
        event_hooks={"response": [check_common_rules]},
        trust_env=False,
    )


def check_common_rules(response: httpx.Response) -> None:
    """Check the rules of all answers: a request id, a documented status below 500, problems."""
    response.read()
    check_status(response)
    assert response.headers["X-Request-Id"].strip()
    assert response.status_code < 500, response.text
    if response.status_code < 400:
        return
    if response.request.url.path.startswith("/v1/"):
        _check_envelope(response)
        return
    assert response.headers["Content-Type"].partition(";")[0] == "application/problem+json"
    problem = response.json()
    assert problem.keys() >= PROBLEM, problem
    assert problem["status"] == response.status_code
    assert problem["title"]
    assert problem["message"] == problem["detail"] != ""
    assert not [word for word in _NEVER_SHOWN if word in problem["detail"]]


def _check_envelope(response: httpx.Response) -> None:
    """Check an error of OpenWOP, which has another envelope."""
    assert response.headers["Content-Type"] == "application/json"
    envelope = response.json()
    assert envelope.keys() - {"details", "entry"} == {"error", "message"}
    assert envelope["error"].replace("_", "").isalpha()
    assert envelope["message"]
    assert not [word for word in _NEVER_SHOWN if word in response.text]


def turns(*, parallel: bool) -> AbstractContextManager[Any]:
    """A lock for an engine that takes one call at a time, nothing for one that takes many."""
    return nullcontext() if parallel else threading.Lock()
