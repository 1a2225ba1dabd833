"""The AWS clients; nothing else makes any."""

from typing import Any

import boto3
from botocore.config import Config

_CONFIG = Config(
    parameter_validation=False,
    connect_timeout=1,
    read_timeout=5,
    max_pool_connections=50,
    retries={"mode": "standard", "total_max_attempts": 4},
)


def client(service: str) -> Any:
    """A client of `service`, for many threads; region and endpoint come from the environment."""
    return boto3.session.Session().client(service, config=_CONFIG)
