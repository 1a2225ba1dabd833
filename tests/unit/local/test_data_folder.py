"""The data folder: only its owner can read it, one server at a time."""

from pathlib import Path

import pytest

from functions.local.data_folder import open_data_folder
from functions.local.settings import StartupError


def test_only_the_owner_can_read_the_folder_and_its_secrets(tmp_path: Path) -> None:
    with open_data_folder(tmp_path / "new" / "folder") as folder:
        folder.secret("root-key", lambda: "a secret")
        assert folder.path.stat().st_mode & 0o777 == 0o700
        assert (folder.path / "root-key").stat().st_mode & 0o777 == 0o600


def test_a_secret_is_made_once(tmp_path: Path) -> None:
    with open_data_folder(tmp_path) as folder:
        assert folder.secret("root-key", lambda: "first") == "first"
    with open_data_folder(tmp_path) as folder:
        assert folder.secret("root-key", lambda: "second") == "first"


def test_no_temporary_file_is_left(tmp_path: Path) -> None:
    with open_data_folder(tmp_path) as folder:
        folder.secret("root-key", lambda: "a secret")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["lock", "root-key"]


def test_an_empty_secret_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "root-key").touch()
    with (
        open_data_folder(tmp_path) as folder,
        pytest.raises(StartupError, match="root-key is empty"),
    ):
        folder.secret("root-key", lambda: "a secret")


def test_a_second_server_cannot_start_until_the_first_has_stopped(tmp_path: Path) -> None:
    with (
        open_data_folder(tmp_path),
        pytest.raises(StartupError, match="another server"),
        open_data_folder(tmp_path),
    ):
        pass
    with open_data_folder(tmp_path):
        pass


def test_a_file_instead_of_the_folder_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(StartupError, match="AGENT_MEMORY_DATA"),
        open_data_folder(tmp_path / "file"),
    ):
        pass
