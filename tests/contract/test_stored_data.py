"""Test that an earlier release's data is read, and that a later one's is refused."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from functions.api.app import App
from functions.container import Container
from functions.platform import deployment_secret
from functions.platform.deployment_secret import NewerDataError
from functions.platform.item_types import DATA_VERSION, DEPLOYMENT_SECRET
from tests.contract import engines, stored_data
from tests.contract.bodies import MEMORY
from tests.contract.conftest import START
from tests.contract.expect import ok, refused
from tests.contract.service import Service, start
from tests.contract.streaming import log
from tests.contract.sweeping import sweep
from tests.contract.transport import HandlerTransport, MovableClock, open_client, turns

RELEASES = sorted(each.name for each in stored_data.FOLDER.glob("release-*"))
_LATER = 60  # seconds after everything was written


@pytest.fixture(scope="module", params=RELEASES)
def stored(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Service, dict[str, httpx.Client]]]:
    """This release on the data of another one, with clients of its principals."""
    folder = tmp_path_factory.mktemp("data")
    with engines.dynoxide() as engine:
        engine.make_tables()
        key_file, keys = stored_data.load(stored_data.FOLDER / request.param, engine, folder)
        service = start(engine, MovableClock(START), key_file, 60)
        service.clock.advance(seconds=_LATER)
        yield service, {name: service.client(key) for name, key in keys.items()}


@pytest.mark.parametrize(
    ("path", "holds"),
    [
        ("me", '"id":"alice"'),
        ("memory?agent_id=alice", '"total":3'),
        ("memory?memory_type=semantic&namespace=facts-alice", '"total":1'),
        ("memory/search", '"results"'),
        ("agents/alice/memory/summary", '"episodic"'),
        ("agents/alice/memory/config", '"capacity"'),
        ("tasks/task_alice", '"status"'),
        ("tasks/task_alice/context", '"working"'),
        ("intents/intent_alice/tasks", '"task_alice"'),
        ("conversations/s-alice", '"world"'),
        ("conversations/old-alice/archive", '"old"'),
        ("conversations?archived=true", '"old-alice"'),
        ("users/alice/conversations", '"s-alice"'),
        ("agents/alice/state/user_1/k", '"value":1'),
        ("agents/alice/state", '"owner_id":"user_1"'),
        ("runs?agent_type=sdr", '"runs"'),
        ("episodes?agent_type=sdr", '"said"'),
        ("facts", '"alice"'),
        ("procedures/sdr/mail", '"alice"'),
        ("instances/alice-1/working/k", '"value":1'),
        ("agents/alice/objects/files?prefix=", '"large"'),
        ("agents/alice/objects/files/small", "few"),
        ("agents/alice/objects/files/large", "xxx"),
    ],
)
def test_each_kind_of_thing_is_read(
    stored: tuple[Service, dict[str, httpx.Client]], path: str, holds: str
) -> None:
    client = stored[1]["alice"]
    if path == "memory/search":
        answer = client.post(
            f"{MEMORY}/search",
            json={"query": "episode", "agent_id": "alice", "memory_type": "episodic"},
        )
    else:
        answer = client.get(f"/api/v1/{path}")
    assert answer.status_code == 200, answer.text
    assert holds in answer.text


def test_a_sensitive_value_is_decrypted(stored: tuple[Service, dict[str, httpx.Client]]) -> None:
    found = ok(stored[1]["alice"].get(f"{MEMORY}?agent_id=alice&key=secret"))
    assert "zq-secret" in str(found)


def test_logs_and_the_audit_log_are_read(
    stored: tuple[Service, dict[str, httpx.Client]],
) -> None:
    admin = stored[1]["admin"]
    assert log(admin, "agents/alice")
    assert log(admin, "intents/intent_alice")
    actions = {each["action"] for each in ok(admin.get("/api/v1/audit"))["records"]}
    assert {"tenant.create", "guardrails.change"} <= actions


def test_the_schedule_goes_on_with_it(stored: tuple[Service, dict[str, httpx.Client]]) -> None:
    assert "failed" not in sweep(stored[0])


def set_version(service: Service, version: int) -> None:
    """Let the data have a version, as a release of that version would have written."""
    partition, sort = DEPLOYMENT_SECRET.build_key()
    service.engine.client.update_item(
        TableName=service.engine.memory,
        Key={"pk": {"S": partition}, "sk": {"S": sort}},
        UpdateExpression="SET data_version = :version",
        ExpressionAttributeValues={":version": {"N": str(version)}},
    )


def get_version(service: Service) -> int:
    (item,) = [each for each in service.stored() if each["pk"]["S"] == "~deployment"]
    return int(item["data_version"]["N"])


def connect(service: Service, key: str) -> httpx.Client:
    """Start another environment of the API function; return a client of it."""
    handler = App(Container(service.settings(), service.clock))
    client = open_client(HandlerTransport(handler, turns(parallel=True)), key)
    client.event_hooks = {}  # they let no answer of the 500s pass
    return client


def test_a_release_that_can_not_read_the_data_answers_503_with_the_reason(
    stored: tuple[Service, dict[str, httpx.Client]],
) -> None:
    service, clients = stored
    before = get_version(service)
    set_version(service, DATA_VERSION + 1)
    former = connect(service, clients["admin"].headers["X-API-Key"])
    for path in ("/api/v1/me", "/health?deep=true"):
        problem = refused(former.get(path), 503, "UNAVAILABLE")
        assert f"version {DATA_VERSION + 1}" in problem["detail"]
    ok(former.get("/health"))
    set_version(service, before)
    ok(former.get("/api/v1/me"))


def test_the_start_of_a_later_release_leaves_the_data_readable_for_this_one(
    stored: tuple[Service, dict[str, httpx.Client]], monkeypatch: pytest.MonkeyPatch
) -> None:
    service, clients = stored
    before, key = get_version(service), clients["admin"].headers["X-API-Key"]
    with monkeypatch.context() as patch:
        patch.setattr(deployment_secret, "DATA_VERSION", DATA_VERSION + 1)
        later = connect(service, key)  # as the check before the canary does
        ok(later.get("/health?deep=true"))
        ok(later.get("/api/v1/me"))
    assert get_version(service) == before
    ok(connect(service, key).get("/api/v1/me"))  # in the canary, or after a rollback


def test_the_operator_raises_the_version_of_the_data_and_never_lowers_it(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = get_version(service)
    with monkeypatch.context() as patch:
        patch.setattr(deployment_secret, "DATA_VERSION", DATA_VERSION + 1)
        later = Container(service.settings(), service.clock).deployment_secret
        later.raise_version(DATA_VERSION + 1)
        later.raise_version(DATA_VERSION)
        assert get_version(service) == DATA_VERSION + 1
    with pytest.raises(NewerDataError):
        Container(service.settings(), service.clock).deployment_secret.raise_version()
    set_version(service, before)


@pytest.fixture
def service(stored: tuple[Service, dict[str, httpx.Client]]) -> Service:
    return stored[0]


def test_the_stored_data_stays_small() -> None:
    files = (each for each in Path(stored_data.FOLDER).rglob("*") if each.is_file())
    assert sum(each.stat().st_size for each in files) < 200_000
