"""Store archived conversations and large objects: in a bucket, or in a folder on a laptop."""

from pathlib import Path
from typing import Any, Protocol

from functions.platform.aws import create_lazy_client, translate_aws_errors
from functions.platform.errors import Unavailable
from functions.platform.settings import Settings


class ArchiveStorage(Protocol):
    """Store bytes under names, which may have slashes."""

    def put(self, name: str, data: bytes) -> None:
        """Store `data`, in place of what has the name.

        Raises:
            Unavailable: the storage doesn't respond.
        """

    def get(self, name: str) -> bytes:
        """Read what has the name.

        Raises:
            Unavailable: the storage doesn't respond, or no longer has it.
        """

    def delete(self, name: str) -> None:
        """Delete what has the name, if anything.

        Raises:
            Unavailable: the storage doesn't respond.
        """


class S3ArchiveStorage:
    """Store in an S3 bucket."""

    def __init__(self, s3: Any, bucket: str) -> None:
        self._client = s3
        self._bucket = bucket

    def put(self, name: str, data: bytes) -> None:
        self._call("put_object", name, Body=data)

    def get(self, name: str) -> bytes:
        data: bytes = self._call("get_object", name)["Body"].read()
        return data

    def delete(self, name: str) -> None:
        self._call("delete_object", name)

    def _call(self, operation: str, name: str, **request: Any) -> dict[str, Any]:
        with translate_aws_errors("the archive"):
            response: dict[str, Any] = getattr(self._client, operation)(
                Bucket=self._bucket, Key=name, **request
            )
        return response


class FolderArchiveStorage:
    """Store in a folder; a partly written file never has its name."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def put(self, name: str, data: bytes) -> None:
        path = self._root / name
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        partial = path.with_suffix(".partial")
        partial.write_bytes(data)
        partial.chmod(0o600)
        partial.replace(path)

    def get(self, name: str) -> bytes:
        try:
            return (self._root / name).read_bytes()
        except FileNotFoundError as error:
            raise Unavailable("the storage no longer has this") from error

    def delete(self, name: str) -> None:
        path = self._root / name
        for each in (path, path.with_suffix(".partial")):
            each.unlink(missing_ok=True)


def create_archive_storage(settings: Settings) -> ArchiveStorage | None:
    """Create the storage that the settings name, if any."""
    if settings.archive_bucket is not None:
        return S3ArchiveStorage(create_lazy_client("s3"), settings.archive_bucket)
    if settings.archive_folder is not None:
        return FolderArchiveStorage(Path(settings.archive_folder))
    return None
