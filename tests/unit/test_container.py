"""The container makes each service once."""

import time
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from functions.container import Container, _Lazy
from functions.platform.settings import ApiSettings, StreamSettings

_THREADS = 8


def _make_slowly(_container: Container) -> object:
    time.sleep(0.02)  # as long as an import takes; the other threads ask during it
    return object()


class _Observed(Container):
    service = _Lazy(_make_slowly)


def test_threads_that_ask_at_once_get_one_service() -> None:
    container = _Observed(StreamSettings(memory_table="m", log_table="l"), dynamodb=object())
    ready = Barrier(_THREADS)

    def ask(_number: int) -> Any:
        ready.wait()
        return container.service

    with ThreadPoolExecutor(_THREADS) as pool:
        found = list(pool.map(ask, range(_THREADS)))
    assert len(set(map(id, found))) == 1


def test_each_declared_service_is_made_of_others(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text(b64encode(bytes(32)).decode(), "utf-8")
    settings = ApiSettings(
        memory_table="m", log_table="l", root_key="root-key", encryption_key_file=str(key)
    )
    container = Container(settings, dynamodb=object())
    for name in Container.__annotations__:
        service = getattr(container, name)
        assert getattr(container, name) is service, name


def test_what_is_not_declared_is_missing() -> None:
    container = Container(StreamSettings(memory_table="m", log_table="l"), dynamodb=object())
    with pytest.raises(AttributeError):
        _ = container.entrys  # type: ignore[attr-defined]
