"""Create the AWS clients; no other module creates any."""

import encodings.idna  # noqa: F401 - else the first connection imports it
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from typing import Any

import botocore
import orjson
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.loaders import Loader
from botocore.parsers import JSONParser, ResponseParserFactory
from botocore.session import get_session
from botocore.utils import lowercase_dict

from functions.platform import request_context
from functions.platform.errors import Throttled, Unavailable

_CONFIG = Config(
    parameter_validation=False,
    connect_timeout=1,
    read_timeout=5,
    max_pool_connections=50,
    retries={"mode": "standard", "total_max_attempts": 4},
    # A fixed text: botocore's default is built twice for each call (66 of 700 us of CPU).
    user_agent=f"agent-memory Botocore/{botocore.__version__}",
)

_S3_CONFIG = _CONFIG.merge(
    Config(
        # S3 redirects a URL of the other form of host in the first hours of a bucket.
        s3={"addressing_style": "virtual"},
        # In eight Regions, botocore signs URLs by version 2, which S3 rejects for KMS encryption.
        signature_version="s3v4",
    )
)


def create_client(service: str, *, read_timeout: float | None = None) -> Any:
    """Create a client of `service` for many threads.

    Region, endpoint and credentials come from the environment. Clients of DynamoDB and of its
    streams return items in DynamoDB's typed form, with binary values in base64.
    """
    session = get_session()
    session.register_component("data_loader", _share_loader())
    if service in ("dynamodb", "dynamodbstreams"):
        factory, parser = ResponseParserFactory(), _DynamoParser()
        factory.create_parser = lambda _protocol: parser
        session.register_component("response_parser_factory", factory)
    config = _S3_CONFIG if service == "s3" else _CONFIG
    if read_timeout is not None:  # of a slow service: each call is tried once
        config = config.merge(Config(read_timeout=read_timeout, retries={"total_max_attempts": 1}))
    return session.create_client(service, config=config)


@cache
def _share_loader() -> Loader:
    """Create the loader of botocore's data, once a process: it takes 80 ms of CPU."""
    return Loader()


@contextmanager
def translate_aws_errors(service: str) -> Iterator[None]:
    """Raise `Unavailable` for botocore's errors; its message begins with `service`."""
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise Unavailable(f"{service} does not respond; try again in a second") from error


def is_service_failure(error: BaseException) -> bool:
    """Tell whether the called service failed, so that the call may succeed later."""
    return isinstance(error, BotoCoreError | ClientError | Throttled | Unavailable)


class LazyClient:
    """A client that is built at its first call, for services that only few requests need.

    Building a client takes about 15 ms of CPU, that of S3 takes 30.
    """

    def __init__(self, service: str, *, read_timeout: float | None = None) -> None:
        self._service = service
        self._read_timeout = read_timeout

    @cached_property
    def _client(self) -> Any:
        return create_client(self._service, read_timeout=self._read_timeout)

    def __getattr__(self, operation: str) -> Any:
        return getattr(self._client, operation)


OVERLOAD_CODES = frozenset(
    {"ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException"}
)
"""DynamoDB's error codes of throttled requests."""
OVERLOAD_REASONS = OVERLOAD_CODES | {"ProvisionedThroughputExceeded", "ThrottlingError"}
"""The codes of throttled calls, and of transactions cancelled for it; their names vary."""


class _DynamoParser(JSONParser):  # type: ignore[misc]
    """Parse a successful response as plain JSON, without walking the service model.

    The walk takes three quarters of the CPU of a query of 100 items, and `functions.platform.items`
    decodes the typed form anyway. Errors and other content are left to botocore.
    """

    def parse(self, response: dict[str, Any], shape: Any) -> Any:
        if response["status_code"] >= 300 or shape is None:
            refused = super().parse(response, shape)
            if (throttles := request_context.throttles.get()) is not None:
                throttles += _list_error_codes(refused) & OVERLOAD_REASONS
            return refused
        try:
            parsed = orjson.loads(response["body"])
        except orjson.JSONDecodeError:
            return super().parse(response, shape)
        headers = lowercase_dict(response["headers"])
        parsed["ResponseMetadata"] = {
            "RequestId": headers.get("x-amzn-requestid", ""),
            "HTTPStatusCode": response["status_code"],
            "HTTPHeaders": headers,
        }
        return parsed


def _list_error_codes(refused: dict[str, Any]) -> set[str]:
    """List the codes of DynamoDB's error: of the call, and of a transaction's reasons."""
    reasons = refused.get("CancellationReasons", ())
    return {refused.get("Error", {}).get("Code", ""), *(each.get("Code", "") for each in reasons)}
