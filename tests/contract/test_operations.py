"""Test what operators do with a tenant's data, and with dead letters."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest
from botocore.response import StreamingBody

from functions.container import Container
from functions.deletions.model import SETTLING_TIME, Subject
from operations.deletion import run_deletion
from operations.tenant_data import Storage, export_tenant, open_private
from tests.contract import run_calls
from tests.contract.bodies import create, create_task, semantic, working
from tests.contract.conversation_calls import put
from tests.contract.expect import ok
from tests.contract.fact_calls import learn
from tests.contract.openwop_calls import start
from tests.contract.service import Service, Tenant

pytestmark = pytest.mark.in_process


class Bucket:
    """As much of S3 as the commands use, in a dict."""

    def __init__(self, **objects: bytes) -> None:
        self.objects = objects

    def get_paginator(self, _operation: str) -> "Bucket":
        """Its own pages."""
        return self

    def paginate(self, *, Bucket: str, Prefix: str) -> Iterator[dict[str, Any]]:  # noqa: N803
        """One page."""
        assert Bucket == "archive"
        yield {"Contents": [{"Key": name} for name in self.objects if name.startswith(Prefix)]}

    def get_object(self, *, Key: str, **_: str) -> dict[str, Any]:  # noqa: N803
        body = self.objects[Key]
        return {"Body": StreamingBody(io.BytesIO(body), len(body))}

    def delete_objects(self, *, Delete: dict[str, Any], **_: str) -> None:  # noqa: N803
        for each in Delete["Objects"]:
            del self.objects[each["Key"]]


def filled(tenant: Tenant) -> httpx.Client:
    """An agent of a tenant that has something in every room."""
    agent, boss = tenant.agent("alice"), tenant.coordinator("boss")
    create_task(boss, id="task_1", assigned_agent="alice")
    create(agent, working("task_1"))
    create(boss, semantic())
    ok(put(agent, "s1", "hello", "world"), 201)
    ok(agent.put("/api/v1/agents/alice/state/user_1/k", json={"value": 1}))
    start(agent, secrets=[{"label": "k", "value": "sk-12345678"}]).put("remembered")
    run_calls.append(agent, run_calls.start(agent), "said")
    ok(agent.put("/api/v1/procedures/sdr/mail/w", json={"spec": {"steps": ["write"]}}), 201)
    ok(agent.put("/api/v1/instances/sdr-1/working/k", json={"value": 1}))
    learn(agent, "acme", "prefers", "email")
    return agent


@pytest.fixture
def storage(service: Service) -> Storage:
    """The service's tables, and a bucket with archives of two tenants."""
    objects = {f"conversations/{name}/a/b/000000.jsonl": b"{}" for name in ("doomed", "doomed-2")}
    tables = service.engine.memory, service.engine.log
    return Storage(boto3.client("dynamodb"), tables, Bucket(**objects), "archive")


def of(service: Service, tenant: str) -> list[str]:
    """Return the items that the tables hold of a tenant."""
    return [each for each in service.state() if f'"{tenant}#' in each or f'"S": "{tenant}"' in each]


def test_a_command_deletes_a_tenant_to_the_end_and_reports_it(service: Service) -> None:
    filled(service.tenant("doomed"))
    container, waits = Container(service.settings(), service.clock), list[float]()

    def wait(seconds: float) -> None:
        waits.append(seconds)
        service.clock.advance(seconds=SETTLING_TIME // 2000 + 1)

    planned = run_deletion(container, Subject("doomed", "tenant"), is_preview=True, wait=wait)
    assert (planned["status"], planned["counts"]["entry"]) == ("done", 1)
    assert waits == []
    report = run_deletion(container, Subject("doomed", "tenant"), wait=wait)
    assert (report["status"], report["counts"]["principal"]) == ("done", 3)
    assert waits
    assert [each for each in of(service, "doomed") if "~deletions" not in each] == []


def test_an_export_holds_every_item_and_object(service: Service, storage: Storage) -> None:
    filled(service.tenant("doomed"))
    filled(service.tenant("doomed-2"))
    out = io.StringIO()
    counts = export_tenant(storage, "doomed", out)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert sum(counts.values()) == len(lines)
    items = [line["item"] for line in lines if "item" in line]
    assert len(items) == len(of(service, "doomed"))
    assert [line["object"] for line in lines if "object" in line] == [
        "conversations/doomed/a/b/000000.jsonl"
    ]
    assert "doomed-2#" not in out.getvalue()


def test_an_export_is_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "acme.jsonl"
    with open_private(file) as out:
        out.write("x")
    assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        open_private(file)
