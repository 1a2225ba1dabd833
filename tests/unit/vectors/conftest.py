"""What adds up by numpy where it is, and by itself where it isn't."""

from collections.abc import Iterator

import pytest

from functions.vectors import arithmetic


@pytest.fixture(params=["with numpy", "without numpy"])
def numpy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A laptop has numpy, Lambda hasn't."""
    if request.param == "without numpy":
        monkeypatch.setattr("functions.vectors.arithmetic.find_spec", lambda _: None)
    arithmetic._has_numpy.cache_clear()  # noqa: SLF001 - looked up once a process
    yield
    arithmetic._has_numpy.cache_clear()  # noqa: SLF001
