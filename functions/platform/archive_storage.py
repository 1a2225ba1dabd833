"""Store archived conversations and large objects: in a bucket, or in a folder on a laptop."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from botocore.exceptions import ClientError

from functions.platform.aws import translate_aws_errors

_MISSING = ("403", "404")  # a role that may not list gets 403 for what isn't there


class Address(NamedTuple):
    """Tells where a client may send a file for some minutes, and the headers that it has to send.

    A path means one on the host that was called.
    """

    url: str
    headers: dict[str, str]


class ArchiveStorage(Protocol):
    """Store bytes under names, which may have slashes.

    All methods raise `Unavailable` where the storage doesn't respond, `get` and `get_range` also
    where it no longer has the name.
    """

    def put(self, name: str, data: bytes) -> None:
        """Store `data`, in place of what has the name."""

    def get(self, name: str) -> bytes:
        """Read what has the name."""

    def get_range(self, name: str, start: int, end: int) -> bytes:
        """Read the bytes from `start` to before `end`."""

    def get_size(self, name: str) -> int | None:
        """Return how many bytes have the name; None if nothing has it."""

    def delete(self, name: str) -> None:
        """Delete what has the name, if anything."""

    def sign_upload(self, name: str, size: int, seconds: int, *, is_sensitive: bool) -> Address:
        """Make the address to which a client sends exactly `size` bytes, once.

        A second PUT is refused with 412, so what has been stored never changes.
        """

    def sign_download(self, name: str, seconds: int, content_type: str) -> str:
        """Make the URL from which a client reads a file, or a range of it."""

    def list_names(self, prefix: str) -> Iterator[str]:
        """List the names that begin so; a prefix ends with a slash."""


class S3ArchiveStorage:
    """Store in an S3 bucket.

    Args:
        sensitive_key: the KMS key with which S3 encrypts sensitive files that come by an address.
    """

    def __init__(self, s3: Any, bucket: str, sensitive_key: str | None) -> None:
        self._client = s3
        self._bucket = bucket
        self._sensitive_key = sensitive_key

    def put(self, name: str, data: bytes) -> None:
        self._call("put_object", name, Body=data)

    def get(self, name: str) -> bytes:
        data: bytes = self._call("get_object", name)["Body"].read()
        return data

    def get_range(self, name: str, start: int, end: int) -> bytes:
        asked = f"bytes={start}-{end - 1}"
        data: bytes = self._call("get_object", name, Range=asked)["Body"].read()
        return data

    def get_size(self, name: str) -> int | None:
        with translate_aws_errors("the archive"):
            try:
                found = self._client.head_object(Bucket=self._bucket, Key=name)
            except ClientError as error:
                if error.response["Error"]["Code"] in _MISSING:
                    return None
                raise
        return int(found["ContentLength"])

    def delete(self, name: str) -> None:
        self._call("delete_object", name)

    def sign_upload(self, name: str, size: int, seconds: int, *, is_sensitive: bool) -> Address:
        headers = {"If-None-Match": "*"}
        request: dict[str, Any] = {"ContentLength": size, "IfNoneMatch": "*"}
        if is_sensitive:
            headers |= {
                "x-amz-server-side-encryption": "aws:kms",
                "x-amz-server-side-encryption-aws-kms-key-id": str(self._sensitive_key),
            }
            request |= {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": self._sensitive_key}
        return Address(self._sign("put_object", name, seconds, **request), headers)

    def sign_download(self, name: str, seconds: int, content_type: str) -> str:
        return self._sign("get_object", name, seconds, ResponseContentType=content_type)

    def _sign(self, operation: str, name: str, seconds: int, **request: Any) -> str:
        parameters = {"Bucket": self._bucket, "Key": name, **request}
        url: str = self._client.generate_presigned_url(operation, parameters, seconds)
        return url

    def list_names(self, prefix: str) -> Iterator[str]:
        with translate_aws_errors("the archive"):
            pages = self._client.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self._bucket, Prefix=prefix):
                yield from (each["Key"] for each in page.get("Contents", ()))

    def _call(self, operation: str, name: str, **request: Any) -> dict[str, Any]:
        with translate_aws_errors("the archive"):
            response: dict[str, Any] = getattr(self._client, operation)(
                Bucket=self._bucket, Key=name, **request
            )
        return response
