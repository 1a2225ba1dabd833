"""Sessions of boto3 that share what botocore reads about each service."""

from functools import cache

import boto3
from botocore.loaders import Loader
from botocore.session import get_session


def open_session() -> boto3.Session:
    """Open a session for the environment's region and credentials.

    A session that boto3 makes reads up to a megabyte of JSON for the first client of each service.
    """
    session = get_session()
    session.register_component("data_loader", _share_loader())
    return boto3.Session(botocore_session=session)


@cache
def _share_loader() -> Loader:
    """Create what reads and remembers botocore's data, once a process."""
    return Loader()
