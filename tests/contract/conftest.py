"""Run contract tests on the embedded engine; each test has a new tenant.

Those marked `moto` run on moto, too: a smoke set for users who test with moto. Where the embedded
engine has no build, moto runs them all. Those that a deployment can take run on one in
`make e2e-contract`.
"""

import base64
import io
import logging
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from _pytest.mark import ParameterSet

from functions.platform.encryption import Cipher, FileKeys
from functions.platform.item_types import DEPLOYMENT_SECRET
from functions.platform.items import TypedItem, encode_item, encode_key
from functions.platform.observability import logger
from functions.platform.values import ValueCodec
from tests.contract import engines
from tests.contract.engines import Engine
from tests.contract.search_calls import Embed, embedder
from tests.contract.service import Service, Tenant, start
from tests.contract.transport import MovableClock
from tests.e2e.fixtures import DEPLOYED

START = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test the engines that it is meant for, unless it names its own."""
    if "engine" in metafunc.fixturenames and not _names_its_engine(metafunc):
        meant = list(_list_engines(metafunc))
        metafunc.parametrize("engine", meant, indirect=True, scope="package")


def _names_its_engine(metafunc: pytest.Metafunc) -> bool:
    marks = metafunc.definition.iter_markers("parametrize")
    return any("engine" in mark.args[0] for mark in marks)


def _list_engines(metafunc: pytest.Metafunc) -> Iterator[str | ParameterSet]:
    test = metafunc.definition
    yield "dynoxide"
    if test.get_closest_marker("moto") is not None or engines.find_dynoxide() is None:
        yield "moto"
    # where they would be deselected, thousands of tests aren't made at all: that takes seconds
    if "not deployed" not in metafunc.config.option.markexpr and not _stays_in_process(metafunc):
        yield DEPLOYED


def _stays_in_process(metafunc: pytest.Metafunc) -> bool:
    test = metafunc.definition
    marked = any(test.get_closest_marker(name) for name in ("in_process", "hypothesis"))
    return marked or not {"volume", "monkeypatch"}.isdisjoint(metafunc.fixturenames)


@pytest.fixture(scope="package")
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    if request.param == "deployed":
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")  # else a stray client finds AWS
            yield request.getfixturevalue("deployment").service.engine
        return
    with getattr(engines, request.param)() as running:
        yield running


@pytest.fixture(scope="package")
def key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key file for sensitive values: 32 bytes in base64."""
    path = tmp_path_factory.mktemp("keys") / "encryption.key"
    path.write_bytes(base64.b64encode(secrets.token_bytes(32)))
    return path


@pytest.fixture(scope="package")
def session_service(
    request: pytest.FixtureRequest,
    engine: Engine,
    key_file: Path,
    deployment_secret: TypedItem | None,
) -> Service:
    """One started API function per engine: starting costs more than most tests."""
    if deployment_secret is None:
        deployed: Service = request.getfixturevalue("deployment").service
        return deployed
    engine.make_tables()
    engine.client.put_item(TableName=engine.memory, Item=deployment_secret)
    engine.keep_items()
    return start(engine, MovableClock(START), key_file, key_cache_seconds=60)


@pytest.fixture(scope="package")
def deployment_secret(engine: Engine, key_file: Path) -> TypedItem | None:
    """The deployment's secret, which outlives a test: the started function remembers it."""
    if engine.name == "deployed":
        return None
    sealed = ValueCodec(Cipher(FileKeys(key_file))).encrypt(
        secrets.token_bytes(32), "~deployment", "secret", 1
    )
    return encode_key(DEPLOYMENT_SECRET.build_key()) | encode_item(sealed)


@pytest.fixture
def service(session_service: Service, engine: Engine) -> Iterator[Service]:
    """The service with empty tables, but for the deployment's secret."""
    yield session_service
    engine.empty_tables()


@pytest.fixture
def clock(service: Service) -> MovableClock:
    return service.clock


@pytest.fixture
def tenant(service: Service) -> Tenant:
    return service.tenant()


@pytest.fixture
def ada(tenant: Tenant) -> httpx.Client:
    return tenant.agent("ada")


@pytest.fixture
def alice(tenant: Tenant) -> httpx.Client:
    return tenant.agent("alice")


@pytest.fixture
def sdr(tenant: Tenant) -> httpx.Client:
    return tenant.agent("sdr")


@pytest.fixture
def agent(tenant: Tenant) -> httpx.Client:
    return tenant.agent("worker")


@pytest.fixture
def boss(tenant: Tenant) -> httpx.Client:
    return tenant.coordinator("boss")


@pytest.fixture
def embed(service: Service) -> Embed:
    """Has vectors follow the changes."""
    return embedder(service)


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


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """Everything that the function writes to its log, through all its loggers.

    A local server that runs in this process logs warnings only: the level is a function's here.
    """
    level = logger.log_level
    logger.setLevel("INFO")
    loggers = [
        each for each in logging.root.manager.loggerDict.values() if hasattr(each, "handlers")
    ]
    handlers = [
        h for each in loggers for h in each.handlers if isinstance(h, logging.StreamHandler)
    ]
    written, streams = io.StringIO(), [(each, each.stream) for each in handlers]
    for each in handlers:
        each.setStream(written)
    yield written
    for each, stream in streams:
        each.setStream(stream)
    logger.setLevel(level)
