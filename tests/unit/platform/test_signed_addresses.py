"""Addresses of large objects are signed by Signature Version 4 in every Region."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from botocore.session import Session

from functions.platform.archive_storage import S3ArchiveStorage
from functions.platform.aws import create_client

BUCKET = "agent-memory-archive"


def list_regions() -> Iterator[str]:
    """List the Regions of S3 in all partitions: commercial, China, GovCloud and others."""
    session = Session()
    for partition in session.get_available_partitions():
        yield from session.get_available_regions("s3", partition)


@pytest.fixture(params=sorted({*list_regions(), "cn-north-1", "us-gov-west-1", "us-east-1"}))
def storage(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> S3ArchiveStorage:
    monkeypatch.setenv("AWS_DEFAULT_REGION", request.param)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    return S3ArchiveStorage(create_client("s3"), BUCKET, "key-1")


def read_query(url: str) -> dict[str, list[str]]:
    return parse_qs(urlsplit(url).query)


def test_an_upload_is_signed_with_its_size_and_conditions(storage: S3ArchiveStorage) -> None:
    query = read_query(storage.sign_upload("films/1", 5, 900, is_sensitive=True).url)
    assert query["X-Amz-Algorithm"] == ["AWS4-HMAC-SHA256"]
    signed = query["X-Amz-SignedHeaders"][0].split(";")
    assert {"content-length", "if-none-match", "x-amz-server-side-encryption"} <= set(signed)


def test_a_download_is_signed_by_version_4(storage: S3ArchiveStorage) -> None:
    url = storage.sign_download("films/1", 900, "video/mp4")
    assert read_query(url)["X-Amz-Algorithm"] == ["AWS4-HMAC-SHA256"]
    assert urlsplit(url).netloc.startswith(f"{BUCKET}.s3.")
