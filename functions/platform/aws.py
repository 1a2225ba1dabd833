"""The AWS clients; nothing else makes any."""

from functools import cached_property
from typing import Any

from botocore.config import Config
from botocore.session import get_session

from functions.platform.dynamodb import make_lean

_CONFIG = Config(
    parameter_validation=False,
    connect_timeout=1,
    read_timeout=5,
    max_pool_connections=50,
    retries={"mode": "standard", "total_max_attempts": 4},
)


def client(service: str) -> Any:
    """A client of `service`, for many threads; region and endpoint come from the environment."""
    session = get_session()
    if service in ("dynamodb", "dynamodbstreams"):
        make_lean(session)
    return session.create_client(service, config=_CONFIG)


def client_later(service: str) -> Any:
    """The same, made at its first call: for services that few requests need.

    Making a client takes some 15 ms of CPU, that of S3 30.
    """
    return _Later(service)


class _Later:
    def __init__(self, service: str) -> None:
        self._service = service

    @cached_property
    def _client(self) -> Any:
        return client(self._service)

    def __getattr__(self, operation: str) -> Any:
        return getattr(self._client, operation)
