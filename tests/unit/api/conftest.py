"""The document, and a service on quick tables that can be held against it."""

import base64
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.contract import engines
from tests.contract.documented import Json, read_document
from tests.contract.service import Tenant, start
from tests.contract.transport import MovableClock


@pytest.fixture
def document() -> Json:
    return read_document()


@pytest.fixture(scope="module")
def tenant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tenant]:
    """A tenant of a service on quick tables."""
    key_file = tmp_path_factory.mktemp("keys") / "encryption.key"
    key_file.write_bytes(base64.b64encode(secrets.token_bytes(32)))
    clock = MovableClock(datetime(2030, 1, 1, tzinfo=UTC))
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("AWS_ENDPOINT_URL_DYNAMODB", raising=False)  # another test's engine
        yield from _on_own_engine(clock, key_file)


def _on_own_engine(clock: MovableClock, key_file: Path) -> Iterator[Tenant]:
    with engines.dynoxide() if engines.find_dynoxide() else engines.moto() as engine:
        engine.make_tables()
        yield start(engine, clock, key_file, key_cache_seconds=60).tenant()
