"""The AWS clients; nothing else makes any."""

from functools import cached_property
from typing import Any

import orjson
from botocore.config import Config
from botocore.parsers import JSONParser, ResponseParserFactory
from botocore.session import get_session

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
        session.register_component("response_parser_factory", _PlainParsers())
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


class _PlainParser(JSONParser):  # type: ignore[misc]
    """Leaves an answer as its JSON says, binary values in base64 included.

    Botocore's own parser walks every attribute of every item against the service model, which
    takes half of the time of a query; `functions.platform.items` reads the typed form anyway.
    """

    def _handle_json_body(self, raw_body: bytes, shape: object) -> Any:  # noqa: ARG002
        return orjson.loads(raw_body) if raw_body else {}


class _PlainParsers(ResponseParserFactory):  # type: ignore[misc]
    def create_parser(self, protocol_name: str) -> Any:  # noqa: ARG002
        return _PlainParser(**self._defaults)
