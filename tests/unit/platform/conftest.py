"""A server in the place of DynamoDB."""

from collections.abc import Iterator

import pytest

from tests.unit.platform.recording_server import RecordingServer, start_recording_server


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[RecordingServer]:
    with start_recording_server() as running:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
        monkeypatch.setenv("AWS_ENDPOINT_URL", running.url)
        yield running
