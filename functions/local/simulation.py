"""A DynamoDB of its own in this process: moto's, behind an address that leads nowhere else.

Unlike `mock_aws` it leaves every other client and the environment alone, and it stands apart from
whatever a test keeps in `mock_aws` itself.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.handlers import BUILTIN_HANDLERS
from moto.core.botocore_stubber import MockRawResponse
from moto.core.model_instances import reset_model_data
from moto.core.request import normalize_request
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.responses import DynamoHandler
from moto.dynamodbstreams.models import DynamoDBStreamsBackend
from moto.dynamodbstreams.responses import DynamoDBStreamsHandler

URL = "http://dynamodb.agent-memory.invalid"  # RFC 2606: no such host, whatever happens
_REGION, _ACCOUNT = "us-east-1", "000000000000"


class _Streams(DynamoDBStreamsBackend):
    """The change streams of one given database."""

    def __init__(self, database: DynamoDBBackend) -> None:
        super().__init__(_REGION, _ACCOUNT)
        self._database = database

    @property
    def dynamodb(self) -> DynamoDBBackend:
        return self._database


class _Tables(DynamoHandler):
    def __init__(self, database: DynamoDBBackend) -> None:
        super().__init__()
        self._database = database

    @property
    def dynamodb_backend(self) -> DynamoDBBackend:
        return self._database


class _TableStreams(DynamoDBStreamsHandler):
    def __init__(self, streams: _Streams) -> None:
        super().__init__()
        self._streams = streams

    @property
    def backend(self) -> DynamoDBStreamsBackend:
        return self._streams


class Simulation:
    """Tables in memory. Safe for use by several threads, which moto itself isn't."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.clear()

    def clear(self) -> None:
        """Forgets all tables."""
        reset_model_data()  # moto keeps every item there ever was for a dashboard of its own
        self._database = DynamoDBBackend(_REGION, _ACCOUNT)
        self._streams = _Streams(self._database)

    @contextmanager
    def connected(self) -> Iterator[None]:
        """Whatever AWS client is made meanwhile for `URL` keeps talking to this simulation."""
        registration = ("before-send", self._answer)
        BUILTIN_HANDLERS.append(registration)
        try:
            yield
        finally:
            BUILTIN_HANDLERS.remove(registration)

    def _answer(self, request: AWSPreparedRequest, **_event: Any) -> AWSResponse | None:
        if not request.url.startswith(URL):
            return None
        normal = normalize_request(request)
        streams = normal.headers["X-Amz-Target"].startswith("DynamoDBStreams_")
        with self._lock:
            handler = _TableStreams(self._streams) if streams else _Tables(self._database)
            status, headers, body = handler._dispatch(normal, normal.raw_url, normal.headers)  # noqa: SLF001 - what moto's own `dispatch` calls on an instance that it makes
        return AWSResponse(request.url, status, headers, MockRawResponse(body))
