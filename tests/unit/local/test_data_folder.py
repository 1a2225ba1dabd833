"""The data folder: its owner's alone, one server at a time."""

from pathlib import Path

import pytest

from functions.local.data_folder import opened
from functions.local.failure import CannotServe


def test_folder_and_secrets_are_their_owners_alone(tmp_path: Path) -> None:
    with opened(tmp_path / "new" / "folder") as folder:
        folder.secret("root-key", lambda: "a secret")
        assert folder.path.stat().st_mode & 0o777 == 0o700
        assert (folder.path / "root-key").stat().st_mode & 0o777 == 0o600


def test_a_secret_is_made_once_and_kept(tmp_path: Path) -> None:
    with opened(tmp_path) as folder:
        assert folder.secret("root-key", lambda: "first") == "first"
    with opened(tmp_path) as folder:
        assert folder.secret("root-key", lambda: "second") == "first"


def test_nothing_but_the_secret_is_left_behind(tmp_path: Path) -> None:
    with opened(tmp_path) as folder:
        folder.secret("root-key", lambda: "a secret")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["lock", "root-key"]


def test_an_empty_secret_is_refused(tmp_path: Path) -> None:
    (tmp_path / "root-key").touch()
    with opened(tmp_path) as folder, pytest.raises(CannotServe, match="root-key is empty"):
        folder.secret("root-key", lambda: "a secret")


def test_a_second_server_is_kept_out_until_the_first_is_gone(tmp_path: Path) -> None:
    with opened(tmp_path), pytest.raises(CannotServe, match="another server"), opened(tmp_path):
        pass
    with opened(tmp_path):
        pass


def test_a_file_in_the_folders_place_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CannotServe, match="AGENT_MEMORY_DATA"), opened(tmp_path / "file"):
        pass
