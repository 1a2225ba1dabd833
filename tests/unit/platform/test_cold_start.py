"""How many threads numpy calculates in."""

import os

import pytest

from functions.platform.cold_start import limit_numpy_threads


@pytest.mark.parametrize(("given", "threads"), [(None, "1"), ("4", "4")])
def test_numpy_has_one_thread_unless_it_is_told_else(
    monkeypatch: pytest.MonkeyPatch, given: str | None, threads: str
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", given or "")
    if given is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    limit_numpy_threads()
    assert os.environ["OPENBLAS_NUM_THREADS"] == threads
