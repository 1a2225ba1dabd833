"""A tenant is created by the API function itself, whatever its address asks for."""

import io
import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from functions.api.app import App
from functions.container import Container
from functions.platform.schema import build_log_table, build_memory_table
from functions.platform.settings import ApiSettings
from operations import root_key
from tests.contract.aws_sessions import open_session
from tests.contract.regions import describe
from tests.contract.transport import LambdaContext

_KEY = "k" * 40


class Api:
    """Lambda and Secrets Manager, for a function in this process."""

    def __init__(self, key: str, app: App) -> None:
        self._key, self._app = key, app

    def get_secret_value(self, **_: str) -> dict[str, str]:
        return {"SecretString": self._key}

    def invoke(self, *, FunctionName: str, Payload: str) -> dict[str, Any]:  # noqa: N803 - AWS's
        assert FunctionName == "Api:live"
        answer = self._app(json.loads(Payload), LambdaContext())
        return {"Payload": io.BytesIO(json.dumps(answer).encode())}


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[App]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    key_file = tmp_path / "key"
    key_file.write_bytes(b64encode(bytes(32)))
    with mock_aws():
        monkeypatch.setattr(boto3, "DEFAULT_SESSION", open_session())
        for table in (build_memory_table("memory"), build_log_table("log")):
            boto3.client("dynamodb").create_table(**table)
        settings = ApiSettings(
            memory_table="memory",
            log_table="log",
            root_key=_KEY,
            encryption_key_file=str(key_file),
        )
        yield App(Container(settings))


def test_a_tenant_is_created_behind_a_closed_address(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(root_key, "client", lambda _: Api(_KEY, app))
    deployment = describe(ApiUrl="https://closed.invalid", RootKeySecretId="s")
    made = root_key.create_tenant(deployment, "acme")
    assert made["tenant"] == "acme"
    assert made["api_key"].startswith("am_")
    with pytest.raises(root_key.TenantNotCreated, match="ENTRY_EXISTS"):
        root_key.create_tenant(deployment, "acme")


def test_a_refusal_has_the_answer_of_the_service(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(root_key, "client", lambda _: Api("another", app))
    with pytest.raises(root_key.TenantNotCreated, match="UNAUTHENTICATED"):
        root_key.create_tenant(describe(RootKeySecretId="s"), "acme")
