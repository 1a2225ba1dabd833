"""Which DynamoDB is used, and how the AWS SDK is configured for it."""

import os
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from functions.local import database
from functions.local.data_folder import DataFolder
from functions.local.settings import LocalSettings, StartupError
from functions.platform.schema import build_log_table


@pytest.fixture(autouse=True)
def environment() -> Iterator[None]:
    """A separate environment: the SDK's variables are those of the whole process."""
    with patch.dict(os.environ, {"PATH": "", "AWS_PROFILE": "work", "HTTP_PROXY": "http://proxy"}):
        yield


def test_an_engine_that_is_not_installed_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "find_spec", lambda _name: None)
    choice = database.open_database(LocalSettings(), DataFolder(tmp_path), tmp_path)
    with pytest.raises(StartupError, match="make run"), choice:
        pass


def test_where_the_engine_is_not_installed_moto_is_used(tmp_path: Path) -> None:
    with database.open_database(LocalSettings(), DataFolder(tmp_path), tmp_path) as database_:
        database.ensure_tables(build_log_table("log"))
        database.ensure_tables(build_log_table("log"))
        assert database_.engine is None
        assert database_.is_simulated
        assert "AWS_PROFILE" not in os.environ


def test_data_of_the_engine_is_not_hidden_by_an_empty_journal(tmp_path: Path) -> None:
    (tmp_path / "memory.db").touch()
    choice = database.open_database(LocalSettings(), DataFolder(tmp_path), tmp_path)
    with pytest.raises(StartupError, match="dynoxide"), choice:
        pass


def test_the_real_dynamodb_is_called_with_the_users_own_account(tmp_path: Path) -> None:
    os.environ["AWS_ENDPOINT_URL_DYNAMODB"] = "aws"
    settings = LocalSettings.from_env()
    with database.open_database(settings, DataFolder(tmp_path), tmp_path):
        assert "AWS_ENDPOINT_URL_DYNAMODB" not in os.environ
        assert os.environ["AWS_PROFILE"] == "work"


def test_a_dynamodb_out_of_reach_is_one_line(tmp_path: Path) -> None:
    del os.environ["AWS_PROFILE"], os.environ["HTTP_PROXY"]
    os.environ["AWS_ENDPOINT_URL_DYNAMODB"] = "http://127.0.0.1:1"
    with (
        database.open_database(LocalSettings.from_env(), DataFolder(tmp_path), tmp_path),
        pytest.raises(StartupError, match=r"127\.0\.0\.1:1") as error,
    ):
        database.ensure_tables(build_log_table("log"))
    assert "\n" not in str(error.value)
