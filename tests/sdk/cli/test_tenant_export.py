"""`agent-memory export DIR`: cut off, beside deletions, and with options that don't fit."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_memory import Client

from tests.sdk.cli.conftest import Tenant
from tests.sdk.fault_proxy import Exchange, proxy_to


def test_an_export_goes_on_where_it_was_cut_off(
    tenant: Tenant, another: Tenant, tmp_path: Path
) -> None:
    tenant.create(key="a")
    folder = tmp_path / "moved"
    assert tenant.cli()("export", folder).code == 0
    (folder / "manifest.json").unlink()  # as if it had been ended before
    refused = another.cli()("import", folder)
    assert (refused.code, "run the same `agent-memory export` again" in refused.err) == (2, True)
    tenant.create(key="b")
    (folder / "facts.jsonl").unlink()
    assert tenant.cli()("export", folder).code == 0
    entries = (folder / "entries-admin.jsonl").read_text().splitlines()
    assert [json.loads(line)["key"] for line in entries] == ["a"]


def test_what_is_deleted_meanwhile_is_left_out(tenant: Tenant, tmp_path: Path) -> None:
    folder = tmp_path / "moved"
    with Client(tenant.server.address, tenant.api_key) as admin:
        admin.conversations.put("session", "user", [])
        run = admin.runs.start("billing").id
        admin.memory.put("near", "a", {}, vector=[1.0] * 64)
        deletions: dict[str, Callable[[], object]] = {
            "/api/v1/conversations/session": lambda: admin.conversations.delete("session"),
            f"/api/v1/runs/{run}": lambda: admin.runs.delete(run),
            "/api/v1/memory/": lambda: admin.memory.delete("near", "a"),
        }

        def delete_first(exchange: Exchange) -> None:
            for path, delete in deletions.items():
                if exchange.request.path.startswith(path):
                    delete()
            exchange.send(exchange.forward())

        with proxy_to(tenant.server.address) as proxy:
            proxy.follow(itertools.repeat(delete_first))
            ended = tenant.cli().at(proxy.address)("export", folder)
    assert ended.code == 0, ended.err
    for name in ("conversations", "runs", "entries-admin"):
        assert (folder / f"{name}.jsonl").read_text() == "", name


@pytest.mark.parametrize("arguments", [["-o", "file"], ["--namespace", "ns"]])
def test_an_export_into_a_folder_takes_no_filters(
    tenant: Tenant, tmp_path: Path, arguments: list[str]
) -> None:
    refused = tenant.cli()("export", tmp_path / "moved", *arguments)
    assert (refused.code, "has everything" in refused.err) == (2, True)
