"""Simulate DynamoDB in this process: moto answers at a separate address.

moto's `mock_aws` replaces all clients and the environment, and entering it again drops all data.
A user's tests may use it beside this service. Therefore only clients of this address get moto's
answers here, from separate backends. moto has no public interface for that, so its version is
pinned, and only this module uses its classes.
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

URL = "http://dynamodb.agent-memory.invalid"  # RFC 2606: this host never exists
_REGION, _ACCOUNT = "us-east-1", "000000000000"


class Simulation:
    """Tables in memory. Safe for use by several threads, which moto itself isn't."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.clear()

    def clear(self) -> None:
        """Drop all tables."""
        reset_model_data()  # moto keeps deleted items, too, for its dashboard
        tables = DynamoDBBackend(_REGION, _ACCOUNT)
        streams = _with(DynamoDBStreamsBackend, dynamodb=tables)(_REGION, _ACCOUNT)
        self._dynamodb = _with(DynamoHandler, dynamodb_backend=tables)
        self._dynamodb_streams = _with(DynamoDBStreamsHandler, backend=streams)

    @contextmanager
    def connect(self) -> Iterator[None]:
        """Answer the requests of all AWS clients for `URL` that are created in this context."""
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
        is_stream = normal.headers["X-Amz-Target"].startswith("DynamoDBStreams_")
        with self._lock:
            handler = self._dynamodb_streams if is_stream else self._dynamodb
            status, headers, body = handler.dispatch(normal, normal.raw_url, normal.headers)
        return AWSResponse(request.url, status, headers, MockRawResponse(body))


def _with(base: type, **backends: object) -> Any:
    """Derive a class of moto whose properties return these backends."""
    return type(base.__name__, (base,), backends)
