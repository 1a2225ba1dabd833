"""The service as its operator and its tenants meet it."""

import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from functions import container as composition
from functions.api.app import App
from functions.container import Container
from functions.local.file_server import FileServer
from functions.platform.settings import ApiSettings
from tests.contract.engines import Engine
from tests.contract.expect import ok
from tests.contract.transport import HandlerTransport, MovableClock, open_client, turns

ROOT_KEY = "root-key-of-the-contract-tests"
_serial = itertools.count(1)


@dataclass(frozen=True)
class Tenant:
    """A fresh tenant. Its factories make principals and give clients that hold their keys."""

    service: "Service"
    id: str
    admin: httpx.Client
    admin_id: str

    def principal(self, kind: str, id: str, **fields: Any) -> dict[str, Any]:
        body = {"id": id, "kind": kind} | fields
        answer: dict[str, Any] = ok(self.admin.post("/api/v1/principals", json=body), 201)
        return answer

    def agent(self, id: str, **fields: Any) -> httpx.Client:
        """A new principal of kind `agent`; by default it may read and write."""
        return self.service.client(self.principal("agent", id, **fields)["api_key"])

    def agents(self, *ids: str) -> list[httpx.Client]:
        return [self.agent(id) for id in ids]

    def coordinator(self, id: str, **fields: Any) -> httpx.Client:
        """A new principal of kind `coordinator`."""
        return self.service.client(self.principal("coordinator", id, **fields)["api_key"])

    def user(self, id: str, **fields: Any) -> httpx.Client:
        """A new principal of kind `user`."""
        return self.service.client(self.principal("user", id, **fields)["api_key"])


@dataclass(frozen=True)
class Service:
    """The API function on one engine, with a clock that the test moves."""

    engine: Engine
    clock: MovableClock
    key_file: Path
    transport: httpx.BaseTransport
    root_key: str = ROOT_KEY
    root: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", self.client(self.root_key))

    def settings(self) -> ApiSettings:
        """Return the settings of another instance of the API function."""
        return settings(self.engine, self.key_file, 60)

    @property
    def archive(self) -> Path:
        """The folder that stands for cold storage."""
        return self.key_file.parent / "archive"

    def client(self, key: str | None = None) -> httpx.Client:
        return open_client(self.transport, key)

    def tenant(self, id: str | None = None) -> Tenant:
        name = id or f"tenant-{next(_serial)}"
        admin = ok(self.root.post("/api/v1/tenants", json={"id": name}), 201)["admin"]
        return Tenant(self, name, self.client(admin["api_key"]), admin["id"])

    def stored(self) -> list[dict[str, Any]]:
        """Every item in the tables, in DynamoDB's typed form."""
        return self.engine.items()

    def state(self) -> list[str]:
        """Every item in the tables as text, the same for the same content."""
        return sorted(json.dumps(_ordered(item), sort_keys=True) for item in self.stored())

    def environment(self) -> dict[str, str]:
        """The API function's variables, for another process on the same tables."""
        return self.engine.environment | {
            "MEMORY_TABLE": self.engine.memory,
            "LOG_TABLE": self.engine.log,
            "ROOT_KEY": ROOT_KEY,
            "ENCRYPTION_KEY_FILE": str(self.key_file),
            "ARCHIVE_FOLDER": str(self.archive),
        }


def _ordered(attribute: Any) -> Any:
    """Sets in order and bytes as text; engines give both as they like."""
    if isinstance(attribute, dict):
        return {
            name: sorted(value) if name in ("SS", "NS") else _ordered(value)
            for name, value in attribute.items()
        }
    if isinstance(attribute, list):
        return [_ordered(each) for each in attribute]
    return attribute.hex() if isinstance(attribute, bytes) else attribute


def _check_key_condition(params: dict[str, Any], **_event: Any) -> None:
    """DynamoDB refuses an empty text in a condition of keys; the embedded engine takes it."""
    compared = re.findall(r":\w+", params["KeyConditionExpression"])
    assert {"S": ""} not in [params["ExpressionAttributeValues"][each] for each in compared]


def start(engine: Engine, clock: MovableClock, key_file: Path, key_cache_seconds: float) -> Service:
    """A new instance of the API function, as Lambda would start one more."""
    dynamodb = vars(composition)["create_client"]("dynamodb")  # which tests of faults replace
    dynamodb.meta.events.register("provide-client-params.dynamodb.Query", _check_key_condition)
    container = Container(settings(engine, key_file, key_cache_seconds), clock, dynamodb)
    files, turn = FileServer(container.folder_storage), turns(parallel=engine.parallel)
    return Service(engine, clock, key_file, HandlerTransport(App(container), turn, files))


def settings(engine: Engine, key_file: Path, key_cache_seconds: float) -> ApiSettings:
    """Return the settings of an API function on the engine."""
    return ApiSettings(
        memory_table=engine.memory,
        log_table=engine.log,
        root_key=ROOT_KEY,
        encryption_key_file=str(key_file),
        archive_folder=str(key_file.parent / "archive"),
        key_cache_seconds=key_cache_seconds,
    )


def names(entries: Sequence[dict[str, Any]]) -> list[str]:
    """The keys of entries, in their order."""
    return [entry["key"] for entry in entries]
