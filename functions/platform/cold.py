"""Cold storage: where archived conversations go. A bucket in the cloud, a folder on a laptop."""

from pathlib import Path
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from functions.platform.aws import create_lazy_client
from functions.platform.errors import Unavailable
from functions.platform.settings import Settings


class ColdStorage(Protocol):
    """Keeps bytes under names; names are plain, with slashes between their parts."""

    def put(self, name: str, data: bytes) -> None:
        """Stores `data`, in place of what had the name.

        Raises:
            Unavailable: the storage did not answer.
        """

    def get(self, name: str) -> bytes:
        """What is stored under the name.

        Raises:
            Unavailable: the storage did not answer, or no longer has it.
        """

    def delete(self, name: str) -> None:
        """Removes what has the name, if anything.

        Raises:
            Unavailable: the storage did not answer.
        """


class Bucket:
    """An S3 bucket."""

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
        try:
            answer: dict[str, Any] = getattr(self._client, operation)(
                Bucket=self._bucket, Key=name, **request
            )
        except (BotoCoreError, ClientError) as error:
            raise Unavailable("the archive did not answer; try again in a second") from error
        return answer


class Folder:
    """A folder; what is half written never shows under its name."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def put(self, name: str, data: bytes) -> None:
        path = self._root / name
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        half = path.with_suffix(".half")
        half.write_bytes(data)
        half.chmod(0o600)
        half.replace(path)

    def get(self, name: str) -> bytes:
        try:
            return (self._root / name).read_bytes()
        except FileNotFoundError as error:
            raise Unavailable("the archive no longer has this conversation") from error

    def delete(self, name: str) -> None:
        (self._root / name).unlink(missing_ok=True)


def cold_storage(settings: Settings) -> ColdStorage | None:
    """The storage that the settings name, if any."""
    if settings.archive_bucket is not None:
        return Bucket(create_lazy_client("s3"), settings.archive_bucket)
    if settings.archive_folder is not None:
        return Folder(Path(settings.archive_folder))
    return None
