"""Wrong settings fail at the start, and say which variable is wrong."""

import pytest

from functions.platform.settings import ApiSettings, ScheduleSettings, WrongSetting

GOOD = {
    "MEMORY_TABLE": "memory",
    "LOG_TABLE": "log",
    "ROOT_KEY": "a-root-key-of-this-test",
    "ENCRYPTION_KEY_FILE": "/key",
}


def test_variables_are_read_as_what_they_are() -> None:
    settings = ApiSettings.from_env(GOOD | {"KEY_CACHE_SECONDS": "2.5", "ROOT_KEY_SECRET_ID": ""})
    assert (settings.memory_table, settings.key_cache_seconds) == ("memory", 2.5)
    assert settings.root_key_secret_id is None
    tables = {name: GOOD[name] for name in ("MEMORY_TABLE", "LOG_TABLE", "ENCRYPTION_KEY_FILE")}
    assert ScheduleSettings.from_env(tables | {"SWEEP_THREADS": "3"}).sweep_threads == 3


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("MEMORY_TABLE", ""),
        ("ROOT_KEY", "short"),
        ("ROOT_KEY", ""),
        ("ROOT_KEY_SECRET_ID", "beside-root-key"),
        ("ENCRYPTION_KEY_FILE", ""),
        ("ENCRYPTION_KEY_ID", "beside-key-file"),
        ("KEY_CACHE_SECONDS", "61"),
        ("KEY_CACHE_SECONDS", "-1"),
        ("KEY_CACHE_SECONDS", "nan"),
        ("KEY_CACHE_SECONDS", "long"),
        ("JWT_TENANT_CLAIM", "alone"),
        ("EMBEDDING_MODEL", "bedrock:other"),
    ],
)
def test_a_wrong_variable_is_named_and_its_value_is_not(name: str, text: str) -> None:
    with pytest.raises(WrongSetting, match=name) as wrong:
        ApiSettings.from_env(GOOD | {name: text})
    assert not text or text not in str(wrong.value)


@pytest.mark.parametrize("threads", ["0", "33", "2.5"])
def test_a_number_out_of_range_is_wrong(threads: str) -> None:
    tables = {name: GOOD[name] for name in ("MEMORY_TABLE", "LOG_TABLE")}
    with pytest.raises(WrongSetting, match="SWEEP_THREADS"):
        ScheduleSettings.from_env(tables | {"SWEEP_THREADS": threads})


def test_archives_have_one_place() -> None:
    with pytest.raises(WrongSetting, match="only one of ARCHIVE_BUCKET and ARCHIVE_FOLDER"):
        ApiSettings.from_env(GOOD | {"ARCHIVE_BUCKET": "bucket", "ARCHIVE_FOLDER": "/folder"})
