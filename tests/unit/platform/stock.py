"""A client that is botocore's own in every part, to compare ours with."""

from typing import Any

from botocore.config import Config
from botocore.session import get_session

from functions.platform.aws import client


def stock(service: str = "dynamodb") -> Any:
    """Retries as often as ours."""
    config = Config(parameter_validation=False, retries=client(service).meta.config.retries)
    return get_session().create_client(service, config=config)
