"""The container makes each service once."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from functions.container import Container, _Lazy
from functions.platform.settings import StreamSettings

_THREADS = 8


def _make_slowly(_container: Container) -> object:
    time.sleep(0.02)  # as an import takes; the others ask meanwhile
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
