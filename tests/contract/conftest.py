"""Every contract test runs on each engine; each test gets a tenant of its own."""

import base64
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.contract import engines
from tests.contract.door import MovableClock
from tests.contract.engines import Engine
from tests.contract.service import Service, Tenant, start

_START = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="session", params=["moto", "dynoxide"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """A running engine; its tables are made and dropped by the `service` fixture."""
    with getattr(engines, request.param)() as running:
        yield running


@pytest.fixture(scope="session")
def key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key file for sensitive values: 32 bytes in base64."""
    path = tmp_path_factory.mktemp("keys") / "encryption.key"
    path.write_bytes(base64.b64encode(secrets.token_bytes(32)))
    return path


@pytest.fixture(scope="session")
def session_service(engine: Engine, key_file: Path) -> Service:
    """One started API function per engine: starting costs more than most tests."""
    return start(engine, MovableClock(_START), key_file, key_cache_seconds=60)


@pytest.fixture
def service(session_service: Service, engine: Engine) -> Iterator[Service]:
    """The service with empty tables."""
    engine.make_tables()
    yield session_service
    engine.drop_tables()


@pytest.fixture
def clock(service: Service) -> MovableClock:
    """The service's clock."""
    return service.clock


@pytest.fixture
def tenant(service: Service) -> Tenant:
    """A fresh tenant."""
    return service.tenant()


@pytest.fixture
def volume(engine: Engine) -> None:
    """For tests that write hundreds of items, in many examples."""
    if not engine.takes_volume:
        pytest.skip(f"{engine.name} slows down with every item that it holds")


@pytest.fixture
def parallel(engine: Engine) -> None:
    """For tests that call from several threads."""
    if not engine.parallel:
        pytest.skip(f"{engine.name} in this process is not thread-safe")
