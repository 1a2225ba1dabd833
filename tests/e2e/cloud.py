"""The emulated AWS: one process on one loopback port, with IAM enforced and TLS."""

import json
import os
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import boto3
import httpx
from botocore.config import Config

from tests.contract.engines import free_port
from tests.e2e.certificate import write_certificate
from tests.e2e.environment import ROOT, emulator_python

ACCOUNT = "000000000000"
REGION = "eu-central-1"
_CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
_READY_SECONDS = 60.0
_STOP_SECONDS = 15.0


@dataclass
class Cloud:
    """A running emulator.

    Attributes:
        folder: all its files, and those of who uses it.
        url: where all services answer.
        certificate: what is to be trusted for it.
    """

    folder: Path
    url: str
    certificate: Path
    process: subprocess.Popen[bytes]
    _read: int = field(default=0, init=False)

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a command that uses this cloud and no other."""
        return _CREDENTIALS | {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder),
            "AWS_ENDPOINT_URL": self.url,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_CA_BUNDLE": str(self.certificate),
            "AWS_EC2_METADATA_DISABLED": "true",
            "NODE_EXTRA_CA_CERTS": str(self.certificate),
        }

    @cached_property
    def trust(self) -> ssl.SSLContext:
        """A TLS context that trusts this cloud alone."""
        return ssl.create_default_context(cafile=str(self.certificate))

    def client(self, service: str, region: str = REGION) -> Any:
        return boto3.client(
            service,
            endpoint_url=self.url,
            region_name=region,
            aws_access_key_id=_CREDENTIALS["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=_CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
            verify=str(self.certificate),
            config=Config(retries={"total_max_attempts": 1}),
        )

    def new_denials(self) -> list[dict[str, str]]:
        """The calls that IAM has refused since this was last asked."""
        lines = self.denials_file.read_text().splitlines()
        new, self._read = lines[self._read :], len(lines)
        return [json.loads(line) for line in new]

    def children(self) -> list[int]:
        """List the ids of the processes that it has started (Linux)."""
        found = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return [int(each) for file in found for each in file.read_text().split()]

    @property
    def denials_file(self) -> Path:
        return self.folder / "denials.jsonl"

    @property
    def log(self) -> str:
        """All that the emulator has said, its functions' own output included."""
        return (self.folder / "emulator.log").read_text(errors="replace")


@contextmanager
def running(folder: Path, concurrency: int | None = None) -> Iterator[Cloud]:
    """A new, empty cloud; it is gone at the end, with every process that it has started.

    With `concurrency`, its account runs at most that number of functions at a time.

    It ends by itself when this process does, however that happens: its input is a pipe from here.
    """
    port = free_port()
    url = f"https://localhost:{port}"
    certificate, key = write_certificate(folder)
    (folder / "denials.jsonl").touch()
    with (
        (folder / "emulator.log").open("wb") as log,
        subprocess.Popen(
            [emulator_python(), "-m", "tests.e2e.emulator"],
            cwd=ROOT,
            env=_settings(folder, port, certificate, key) | _limit(concurrency),
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        cloud = Cloud(folder, url, certificate, process)
        try:
            _await_ready(cloud)
            yield cloud
        finally:
            _stop(process)


def _settings(folder: Path, port: int, certificate: Path, key: Path) -> dict[str, str]:
    """The emulator's environment; its functions inherit it."""
    return _CREDENTIALS | {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "STATE_DIR": str(folder / "state"),
        "S3_DATA_DIR": str(folder / "s3"),
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "MINISTACK_REGION": REGION,
        "AUTH": "true",
        "USE_SSL": "1",
        "MINISTACK_SSL_CERT": str(certificate),
        "MINISTACK_SSL_KEY": str(key),
        "AWS_CA_BUNDLE": str(certificate),
        "SFTP_ENABLED": "0",
        "IOT_MTLS_ENABLED": "0",
        "DENIALS_FILE": str(folder / "denials.jsonl"),
    }


def _limit(concurrency: int | None) -> dict[str, str]:
    return {} if concurrency is None else {"ACCOUNT_CONCURRENCY": str(concurrency)}


def _await_ready(cloud: Cloud) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    with httpx.Client(verify=cloud.trust, trust_env=False) as client:
        while time.monotonic() < deadline and cloud.process.poll() is None:
            try:
                client.get(f"{cloud.url}/_ministack/health").raise_for_status()
            except httpx.HTTPError:
                time.sleep(0.05)
            else:
                return
    raise AssertionError(f"the emulator did not start:\n{cloud.log[-4000:]}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
