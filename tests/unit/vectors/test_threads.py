"""Test in how many threads numpy calculates."""

import importlib
import os

import pytest

import functions.vectors


@pytest.mark.parametrize(("given", "threads"), [(None, "1"), ("4", "4")])
def test_numpy_has_one_thread_unless_the_variable_is_set(
    monkeypatch: pytest.MonkeyPatch, given: str | None, threads: str
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", given or "")
    if given is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    importlib.reload(functions.vectors)
    assert os.environ["OPENBLAS_NUM_THREADS"] == threads
