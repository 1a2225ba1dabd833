"""`/.well-known/openwop` says what holds, in both editions."""

from typing import Any

import httpx
import pytest

from functions.api.app import App
from functions.container import Container
from functions.platform.settings import ApiSettings, WrongSetting
from tests.contract.expect import ok
from tests.contract.openwop_calls import start
from tests.contract.service import Service, Tenant
from tests.contract.transport import HandlerTransport, open_client, turns

pytestmark = pytest.mark.in_process

SECRETS = [{"label": "stripe", "value": "sk_live_51HXyz0042"}]
MEMORY: dict[str, Any] = {
    "supported": True,
    "maxEntrySizeBytes": 65_536,
    "ttlSupported": True,
    "writable": True,
    "search": {"supported": True, "modes": ["filter", "semantic"]},
    "retention": {"ttl": True, "forget": False},
    "attribution": {"supported": True, "emitsWriteEvents": False},
    "injectionBudget": {"supported": True, "tokenCounter": "host-defined"},
    "runs": {"defaultTtlSeconds": 86_400, "maxTtlSeconds": 30 * 86_400, "maxMemories": 16},
    "replay": {
        "supported": True,
        "defaultRetentionSeconds": 30 * 86_400,
        "maxRetentionSeconds": 365 * 86_400,
        "expiredEntries": "absent",
    },
    "redaction": {
        "onSecret": ["redact", "reject"],
        "appliesTo": "every put into a memory, for the secrets of all its open runs",
        "fields": ["content", "tags"],
        "forms": ["literal", "json-escaped", "wrapped", "lines"],
        "notRecognized": ["other encodings", "another letter case", "parts of a line"],
        "minSecretCharacters": 8,
        "maxSecretCharacters": 4_096,
        "minLineCharacters": 32,
        "maxSecretsPerRun": 32,
        "maxSecretsPerMemory": 1_000,
    },
}
DOCUMENT = {
    "capabilities": {"agents": {"memoryBackends": ["longTerm"]}, "memory": MEMORY},
    "protocolVersion": "1.0",
    "supportedEnvelopes": [],
    "schemaVersions": {},
    "limits": {"clarificationRounds": 0, "schemaRounds": 0, "envelopesPerTurn": 0},
    "agents": {"memoryBackends": ["long-term"]},
    "memory": MEMORY,
}
MARKERS: dict[str | None, str] = {None: "<REDACTED:stripe>", "1.x": "[REDACTED:stripe]"}


def client_of(service: Service, edition: str | None, key: str | None = None) -> httpx.Client:
    """A client of a function that is set to an edition."""
    environment = service.environment() | ({"OPENWOP": edition} if edition else {})
    handler = App(Container(ApiSettings.from_env(environment), service.clock))
    return open_client(HandlerTransport(handler, turns(parallel=service.engine.parallel)), key)


@pytest.mark.parametrize("edition", MARKERS)
def test_advertised_capabilities_hold(tenant: Tenant, edition: str | None) -> None:
    marker, stranger = MARKERS[edition], client_of(tenant.service, edition)
    answer = stranger.get("/.well-known/openwop")
    assert ok(answer) == DOCUMENT
    assert answer.headers["Cache-Control"] == "public, max-age=300"
    assert stranger.get("/v1/openapi.json").content == stranger.get("/openapi.json").content
    key = tenant.principal("agent", "ada")["api_key"]
    ada = client_of(tenant.service, edition, key)
    run = start(ada, secrets=SECRETS)
    assert run.put("it is sk_live_51HXyz0042")["content"] == f"it is {marker}"
    size = MEMORY["maxEntrySizeBytes"]
    assert run.try_put("x" * size).status_code == 201
    assert run.try_put("x" * (size + 1)).status_code == 413
    for name, most in (
        ("ttl", MEMORY["runs"]["maxTtlSeconds"]),
        ("retainSnapshot", MEMORY["replay"]["maxRetentionSeconds"]),
    ):
        start(ada, **{name: most})
        answer = ada.post("/v1/runs", json={"agent": "planner", name: most + 1})
        assert answer.status_code == 400
    references = [start(ada, f"agent {number}").reference for number in range(17)]
    ok(ada.post("/v1/runs", json={"memoryRefs": references[:16]}), 201)
    assert ada.post("/v1/runs", json={"memoryRefs": references}).status_code == 400


@pytest.mark.parametrize("edition", ["2", "rfc-0005", " "])
def test_an_unknown_edition_fails_loudly(service: Service, edition: str) -> None:
    with pytest.raises(WrongSetting, match="OPENWOP"):
        client_of(service, edition)


@pytest.mark.parametrize(
    ("method", "path", "status", "error"),
    [
        ("GET", "/v1/nothing", 404, "not_found"),
        ("PUT", "/v1/runs", 405, "method_not_allowed"),
        ("PATCH", "/v1/memory/mref_x", 405, "method_not_allowed"),
        ("GET", "/v1/runs/run_x/end", 405, "method_not_allowed"),
    ],
)
def test_unknown_paths_have_the_envelope(
    tenant: Tenant, method: str, path: str, status: int, error: str
) -> None:
    answer = tenant.admin.request(method, path)
    assert (answer.status_code, answer.json()["error"]) == (status, error)


def test_without_a_good_key_it_is_unauthenticated(service: Service) -> None:
    for key in (None, "am_bad"):
        answer = service.client(key).post("/v1/runs", json={"agent": "planner"})
        assert (answer.status_code, answer.json()["error"]) == (401, "unauthenticated")
        assert answer.headers["WWW-Authenticate"] == "Bearer"
