"""Lambda's Runtime API, as far as AWS's own runtime client asks for it.

A function's process gets each event as Lambda's JSON, and answers in JSON of the client's own
encoding. So both encodings are Lambda's, and so are its rules for INIT and errors.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import httpx

from functions.local.in_process import to_request_event
from tests.contract.transport import to_response

_INVOCATION = "/2018-06-01/runtime/invocation/"
_PATIENCE = 60.0  # seconds
_MOST_BYTES = 6 * 1024 * 1024  # of an event or a response
RUNTIME = "AWS_Lambda_python3.14"


class FunctionFailed(Exception):
    """The function answered with an error, or could not be started."""


class RuntimeApi(ThreadingHTTPServer):
    """Hands events to one process of a function, one after the other."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.events: Queue[bytes] = Queue()
        self.answers: Queue[tuple[str, bytes]] = Queue()
        self._turn = threading.Lock()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    def invoke(self, event: Any) -> Any:
        """Invoke the function with an event.

        Raises:
            FunctionFailed: it raised an exception, or Lambda would refuse event or answer.
        """
        sent = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
        if len(sent) > _MOST_BYTES:
            raise FunctionFailed(f"Lambda refuses an event of {len(sent)} bytes")
        with self._turn:
            self.events.put(sent)
            try:
                kind, body = self.answers.get(timeout=_PATIENCE)
            except Empty:
                raise FunctionFailed("the function does not answer") from None
        if kind != "response":
            raise FunctionFailed(body.decode())
        if len(body) > _MOST_BYTES:
            raise FunctionFailed(f"Lambda refuses a response of {len(body)} bytes")
        return json.loads(body)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: RuntimeApi

    def do_GET(self) -> None:
        """Answer with the next event."""
        event = self.server.events.get()
        headers = {
            "Content-Type": "application/json",
            "Lambda-Runtime-Aws-Request-Id": "00000000-0000-4000-8000-000000000000",
            "Lambda-Runtime-Deadline-Ms": str(round((time.time() + 30) * 1000)),  # noqa: TID251 - Lambda's own clock
            "Lambda-Runtime-Invoked-Function-Arn": "arn:aws:lambda:eu-central-1:1:function:f",
        }
        self._answer(200, headers, event)

    def do_POST(self) -> None:
        """Take a response, an error, or an error of INIT."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.answers.put((self.path.rpartition("/")[2], body))
        self._answer(202, {"Content-Type": "application/json"}, b'{"status":"OK"}')

    def _answer(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def running(handler: str, variables: Mapping[str, str]) -> Iterator[RuntimeApi]:
    """Run a handler, as in `functions.api.main.handler`, behind AWS's own client."""
    api = RuntimeApi()
    threading.Thread(target=api.serve_forever, daemon=True).start()
    own = {
        "AWS_LAMBDA_RUNTIME_API": api.address,
        "AWS_EXECUTION_ENV": RUNTIME,
        "AWS_LAMBDA_FUNCTION_NAME": "f",
        "AWS_LAMBDA_FUNCTION_VERSION": "1",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1024",
        "LAMBDA_TASK_ROOT": str(Path.cwd()),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "awslambdaric", handler],
        env=os.environ | dict(variables) | own,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield api
    finally:
        process.kill()
        process.wait()
        api.shutdown()
        api.server_close()


class RuntimeTransport(httpx.BaseTransport):
    """Sends requests to the API function's process, as an HTTP API does."""

    def __init__(self, api: RuntimeApi) -> None:
        self._api = api

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        headers = [(k.decode("latin-1"), v.decode("latin-1")) for k, v in request.headers.raw]
        event = to_request_event(request.method, request.url.raw_path, headers, request.read())
        return to_response(self._api.invoke(event))
